import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { onEachDatabase } from '../../test/databases.ts'
import type { Ctx, Services } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { Metrics } from '../lib/metrics.ts'
import { addSeconds } from '../lib/time.ts'
import { enqueue, type Job } from './job.ts'
import { Worker } from './worker.ts'

onEachDatabase('jobs', (database) => {
  let later = 0
  const log: { level: number; msg: string }[] = []

  /** What a worker uses of the services; its clock can be moved. */
  const services = () =>
    ({
      db: database.db,
      connection: database.connection,
      metrics: new Metrics(),
      now: () => addSeconds(new Date().toISOString(), later),
      log: pino({}, { write: (line: string) => log.push(JSON.parse(line)) }),
    }) as unknown as Services

  const add = (job: Job, payload: Record<string, string> = {}) =>
    inTransaction(services() as Ctx, (tx) => enqueue(tx, job, payload))

  const rows = (name: string) => database.db.selectFrom('jobs').selectAll().where('name', '=', name).execute()

  const job = (name: string, run: Job['run'], options: Partial<Job> = {}): Job => ({
    name,
    leaseSeconds: 60,
    run,
    ...options,
  })

  test('run once with their payload, as the system', async () => {
    const seen: unknown[] = []
    const work = job('once', async ({ subject }, payload) => {
      seen.push([subject, payload])
    })
    await add(work, { id: 'ws-1' })
    const worker = new Worker(services(), [work])
    expect(await worker.runNext()).toBe(true)
    expect(await worker.runNext()).toBe(false)
    expect(seen).toEqual([[{ kind: 'system', id: 'once' }, { id: 'ws-1' }]])
    expect(await rows('once')).toEqual([])
  })

  test('do not exist when the transaction that adds them fails', async () => {
    const work = job('undone', async () => {})
    const failing = inTransaction(services() as Ctx, async (tx) => {
      await enqueue(tx, work, {})
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await rows('undone')).toEqual([])
  })

  test('are never run by two workers', async () => {
    const runs: string[] = []
    const work = job('shared', async (_, { id }) => {
      runs.push(id as string)
      await sleep(1)
    })
    const ids = Array.from({ length: 40 }, (_, index) => String(index))
    for (const id of ids) await add(work, { id })
    const workers = Array.from({ length: 4 }, () => new Worker(services(), [work]))
    await Promise.all(
      workers.map(async (worker) => {
        while (await worker.runNext());
      }),
    )
    expect(runs.toSorted()).toEqual(ids.toSorted())
  })

  test('come back later and later when they fail, and in the end wait for a person', async () => {
    let runs = 0
    const work = job('failing', async () => {
      runs += 1
      throw new Error('no luck')
    })
    await add(work)
    const worker = new Worker(services(), [work])
    expect(await worker.runNext()).toBe(true)
    expect(await worker.runNext()).toBe(false)
    expect(await rows('failing')).toMatchObject([{ attempts: 1, lastError: 'no luck', state: 'waiting' }])
    for (later = 10; runs < 20; later += 7 * 3600) expect(await worker.runNext()).toBe(true)
    expect(await worker.runNext()).toBe(false)
    expect(await rows('failing')).toMatchObject([{ attempts: 20, state: 'failed' }])
    expect(log.filter(({ level }) => level >= 50)).toHaveLength(1)
    later = 0
  })

  test('of a dead worker are taken up when its lease ends, and its late word does not count', async () => {
    const started = Promise.withResolvers<void>()
    const revived = Promise.withResolvers<void>()
    const ends: string[] = []
    const slow = job('leased', async () => {
      started.resolve()
      await revived.promise
      ends.push('first')
      throw new Error('too late')
    })
    await add(slow)
    const first = new Worker(services(), [slow]).runNext()
    await started.promise
    const second = new Worker(services(), [job('leased', async () => void ends.push('second'))])
    expect(await second.runNext()).toBe(false)
    later = 61
    expect(await second.runNext()).toBe(true)
    revived.resolve()
    await first
    later = 0
    expect(ends).toEqual(['second', 'first'])
    expect(await rows('leased')).toEqual([])
  })

  test('that take long keep their lease, and are told when they lost it', async () => {
    const work = job(
      'long',
      async (_ctx, _payload, signal) => {
        await sleep(700, undefined, { signal })
        await database.connection.writes.deleteFrom('jobs').where('name', '=', 'long').execute()
        await sleep(5000, undefined, { signal })
      },
      { leaseSeconds: 0.6 },
    )
    await add(work)
    const running = new Worker(services(), [work]).runNext()
    await sleep(650)
    expect(await new Worker(services(), [work]).runNext()).toBe(false)
    const before = performance.now()
    await running
    expect(performance.now() - before).toBeLessThan(3000)
  })

  test('that repeat exist once, and start again after a while', async () => {
    let runs = 0
    const work = job('repeating', async () => void runs++, { everySeconds: 3600 })
    const workers = [new Worker(services(), [work]), new Worker(services(), [work])]
    for (const worker of workers) {
      await worker.start()
      await worker.stop()
    }
    expect(await rows('repeating')).toHaveLength(1)
    later = 3601
    expect(await Promise.all(workers.map((worker) => worker.runNext()))).toContain(true)
    expect([runs, await workers[0]?.runNext()]).toEqual([1, false])
    later = 7300
    expect([await workers[0]?.runNext(), runs]).toEqual([true, 2])
    later = 0
  })

  test('are interrupted by a stop, and taken up by the next worker', async () => {
    const started = Promise.withResolvers<void>()
    const work = job('interrupted', async (_ctx, _payload, signal) => {
      started.resolve()
      await sleep(60_000, undefined, { signal })
    })
    await add(work)
    const worker = new Worker(services(), [work])
    await worker.start()
    await started.promise
    await worker.stop()
    const next = new Worker(services(), [job('interrupted', async () => {})])
    expect(await next.runNext()).toBe(true)
  })
})
