import { expect, test } from 'vitest'
import { onEachDatabase, type TestDatabase } from '../../../test/databases.ts'
import type { Ctx } from '../../context.ts'
import { connect } from '../../db/connect.ts'
import { insertRows } from '../../db/rows.ts'
import { inTransaction, readingHandle } from '../../db/transaction.ts'
import { type LogRecord, NO_RECORD, verifyLog } from '../../lib/registry-log.ts'
import { Vault } from '../../lib/vault.ts'
import { append, type LogEntry } from './service.ts'
import * as store from './store.ts'

const vault = new Vault([Buffer.alloc(32, 7)])

const release = (version: string): LogEntry => ({
  action: 'publish',
  subject: {
    kind: 'module-version',
    namespace: 'acme',
    name: 'network',
    system: 'aws',
    version,
    digests: { 'network.tar.gz': 'ab'.repeat(32) },
  },
})

onEachDatabase('the transparency log', (database) => {
  /** What a slice appends with: on the handles of the test's database, or of others on the same one. */
  const ctx = ({ db, connection }: Pick<TestDatabase, 'db' | 'connection'> = database) =>
    ({
      db,
      connection,
      vault,
      now: () => new Date().toISOString(),
      subject: { kind: 'system', id: 'test' },
    }) as unknown as Ctx

  const organization = async (id: string) => {
    const now = new Date().toISOString()
    const flags = [
      'costEstimationEnabled',
      'assessmentsEnforced',
      'allowForceDeleteWorkspaces',
      'speculativePlanManagementEnabled',
      'aggregatedCommitStatusEnabled',
      'sendPassingStatuses',
      'providerVersionReuseEnabled',
    ]
    const row = {
      ...Object.fromEntries(flags.map((flag) => [flag, false])),
      ...{ id, name: id, email: 'a@example.com', createdAt: now, updatedAt: now },
      ...{ collaboratorAuthPolicy: 'password', defaultExecutionMode: 'remote' },
    }
    await inTransaction(ctx(), ({ db }) => insertRows(db, 'organizations', [row]))
    return id
  }

  const recordsOf = async (id: string): Promise<LogRecord[]> => {
    const rows = await store.listBetween(database.db, id, 1, 1000)
    return rows.map(({ content, hash, signature }) => ({ ...JSON.parse(content), hash, signature }))
  }

  const listKeys = async () =>
    (await store.listKeys(database.db)).map(({ id, publicKey }) => ({ id, 'public-key': publicKey }))

  test('has neither gaps nor forks when many append at once, some of them in vain', async () => {
    const [one, other] = [await organization('org-race'), await organization('org-other')]
    // The embedded database has one process that writes.
    const connection =
      database.dialect === 'postgres' ? await connect(database.location, () => {}) : database.connection
    const elsewhere = { connection, db: readingHandle(connection) }
    const attempts = Array.from({ length: 80 }, (_, n) =>
      inTransaction(ctx(n % 2 ? elsewhere : database), async (tx) => {
        await append(tx, n % 4 < 2 ? one : other, release(`1.0.${n}`))
        if (n % 8 > 5) throw new Error('changed my mind')
      }),
    )
    const settled = await Promise.allSettled(attempts)
    if (connection !== database.connection) await connection.close()
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(60)
    const keys = await listKeys()
    expect(keys).toHaveLength(1)
    for (const [id, count] of [
      [one, 40],
      [other, 20],
    ] as const) {
      const records = await recordsOf(id)
      expect(records.map(({ sequence }) => sequence)).toEqual(Array.from({ length: count }, (_, n) => n + 1))
      const { sequence, hash } = records.at(-1) as LogRecord
      expect(await verifyLog(records, keys)).toEqual({ ok: true, head: { sequence, hash } })
      expect(await store.findHead(database.db, id)).toEqual({ sequence, hash })
    }
  })

  test('begins with a record that refers to none, and whose key everybody can check', async () => {
    const id = await organization('org-first')
    await inTransaction(ctx(), (tx) => append(tx, id, release('1.0.0')))
    const [record] = await recordsOf(id)
    expect(record).toEqual({
      organization: { id, name: id },
      sequence: 1,
      time: expect.stringMatching(/^\d{4}-/),
      ...release('1.0.0'),
      actor: { type: 'system', id: 'test', name: null },
      previous: NO_RECORD,
      key: expect.stringMatching(/^[0-9a-f]{32}$/),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      signature: expect.stringMatching(/^[0-9a-f]{128}$/),
    })
    const head = { sequence: 1, hash: record?.hash }
    expect(await verifyLog([record], await listKeys())).toEqual({ ok: true, head })
    expect(await store.findHead(database.db, id)).toEqual(head)
  })

  test('knows nothing of what did not happen', async () => {
    const id = await organization('org-aborted')
    const failing = inTransaction(ctx(), async (tx) => {
      await append(tx, id, release('1.0.0'))
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect(await recordsOf(id)).toEqual([])
    expect(await store.findHead(database.db, id)).toBeUndefined()
    await inTransaction(ctx(), (tx) => append(tx, id, release('1.0.1')))
    expect((await recordsOf(id)).map(({ sequence }) => sequence)).toEqual([1])
  })

  test('keeps its key sealed, and the same for every organization', async () => {
    await inTransaction(ctx(), (tx) => append(tx, 'org-aborted', release('1.0.2')))
    const rows = await database.db.selectFrom('registryLogKeys').selectAll().execute()
    expect(rows.map(({ serial, privateKey }) => [serial, privateKey.slice(0, 7)])).toEqual([[1, 'sealed:']])
  })
})
