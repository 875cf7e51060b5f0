import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { expectStatus, onEachDialect, type TestServer } from '../../../test/harness.ts'
import { asSecondServer, runLater } from '../../../test/jobs.ts'
import { newWorkspace } from '../../../test/resources.ts'
import { newRun, uploadConfiguration } from '../../../test/runs.ts'
import type { Ctx } from '../../context.ts'
import { inTransaction } from '../../db/transaction.ts'
import { moveLogs } from './jobs.ts'
import * as logs from './service.ts'

/** Bytes of a log. */
const LIMIT = 1_000_000

/** What a worker and the server write into a log, by another process than the one that is read from. */
function writer(server: TestServer, id: string) {
  const write = (work: (tx: Ctx) => Promise<void>) =>
    asSecondServer(server, (ctx) => inTransaction(ctx, work))
  return {
    id,
    append: (text: string, start?: number) => write((tx) => logs.append(tx, id, text, start)),
    resume: () => write((tx) => logs.resume(tx, id)),
    end: (text?: string) => write((tx) => logs.end(tx, id, text)),
  }
}

onEachDialect(
  'logs',
  (server) => {
    const newLog = async () => {
      const organization = await server.organization()
      const { owner, path } = organization
      const workspace = await newWorkspace(owner, path)
      await uploadConfiguration(owner, workspace.id)
      const { id } = (await newRun(owner, workspace.id)).relationships.plan.data
      const plan = expectStatus(await owner.get(`/api/v2/plans/${id}`), 200).body.data
      const url: string = plan.attributes['log-read-url']
      const read = async (query = '') => {
        const answer = await fetch(`${url}${query}`)
        return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
      }
      return { ...writer(server, id), url, read, organization }
    }

    /** Reads as the CLI does, `limit` bytes at a time, until nothing more comes. */
    const readInPieces = async (read: (query: string) => Promise<{ bytes: Buffer }>, limit: number) => {
      const pieces: Buffer[] = []
      for (let offset = 0; ; ) {
        const { bytes } = await read(`?limit=${limit}&offset=${offset}`)
        if (bytes.length === 0) return { whole: Buffer.concat(pieces), pieces }
        pieces.push(bytes)
        offset += bytes.length
      }
    }

    test('begin with STX, end with ETX, and have what was written between', async () => {
      const log = await newLog()
      const { answer, bytes } = await log.read('?limit=65536&offset=0')
      expect(answer.status).toBe(200)
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'text/plain; charset=utf-8',
        'content-length': '1',
        'cache-control': 'no-store',
      })
      expect(bytes).toEqual(Buffer.from('\x02'))
      await log.append('Terraform v1.14.1\n', 0)
      await log.append('on linux_amd64\n', 18)
      expect((await log.read()).bytes.toString()).toBe('\x02Terraform v1.14.1\non linux_amd64\n')
      await log.end('The end.\n')
      const whole = '\x02Terraform v1.14.1\non linux_amd64\nThe end.\n\x03'
      await log.end()
      await log.append('too late')
      expect((await log.read()).bytes.toString()).toBe(whole)
      expect((await log.read('?limit=9&offset=1')).bytes.toString()).toBe('Terraform')
      expect((await log.read(`?limit=5&offset=${whole.length - 1}`)).bytes.toString()).toBe('\x03')
    })

    test('answer 200 to every range, with nothing beyond the end', async () => {
      const log = await newLog()
      await log.append('line\n')
      for (const query of ['?limit=65536&offset=6', '?limit=9&offset=999999999', '?offset=6', '?limit=0']) {
        const { answer, bytes } = await log.read(query)
        expect([query, answer.status, bytes.length]).toEqual([query, 200, 0])
      }
      for (const query of ['?limit=x&offset=-1', '?limit=&offset=', '?limit=1e99', '?page[size]=x']) {
        const { answer, bytes } = await log.read(query)
        expect([query, answer.status, bytes.toString()]).toEqual([query, 200, '\x02line\n'])
      }
      const head = await fetch(log.url, { method: 'HEAD' })
      expect([head.status, head.headers.get('content-length')]).toEqual([200, '6'])
    })

    test('keep once what a worker says twice', async () => {
      const log = await newLog()
      await log.append('The server begins.\n')
      await log.append('one\n', 0)
      await log.append('one\n', 0)
      await log.append('one\ntwo\n', 0)
      await log.append('zwölf\n', 8)
      await log.append('zwölf\n', 8)
      await log.append('lf\nthree\n', 12)
      const text = '\x02The server begins.\none\ntwo\nzwölf\nthree\n'
      expect((await log.read()).bytes.toString()).toBe(text)
      await expect(log.append('a gap', 22)).rejects.toThrow('have not come yet')
      await log.resume()
      await log.append('another worker\n', 0)
      await log.append('another worker\n', 0)
      expect((await log.read()).bytes.toString()).toBe(`${text}another worker\n`)
    })

    test('keep once what is said several times at the same moment', async () => {
      const log = await newLog()
      await Promise.all(Array.from({ length: 6 }, () => log.append('once\n', 0)))
      await Promise.all(Array.from({ length: 6 }, () => log.end()))
      expect((await log.read()).bytes.toString()).toBe('\x02once\n\x03')
    })

    test('come byte by byte, whatever is cut', async () => {
      const log = await newLog()
      const text = 'Größe: 5 µm, 価格 ¥, 🚀 ✓\n'.repeat(5000)
      await log.append(text, 0)
      await log.end()
      const expected = Buffer.from(`\x02${text}\x03`)
      for (const limit of [65_536, 65_535, 1021]) {
        const { whole } = await readInPieces(log.read, limit)
        expect(whole.equals(expected)).toBe(true)
      }
      await runLater(server, moveLogs, 0)
      for (const limit of [65_536, 65_535, 1021]) {
        const { whole } = await readInPieces(log.read, limit)
        expect(whole.equals(expected)).toBe(true)
      }
    })

    test('take every character that a program can print', async () => {
      const log = await newLog()
      await log.append('a\0b\x03c\x02d\x1b[1m\ud800!', 0)
      expect((await log.read()).bytes.toString()).toBe('\x02a b\x03c\x02d\x1b[1m\ufffd!')
      await log.append('more', 15)
      expect((await log.read('?offset=16')).bytes.toString()).toBe('more')
    })

    test('are read while they are written: a line is seen in less than a second', async () => {
      const log = await newLog()
      let offset = 1
      for (let line = 0; line < 3; line += 1) {
        await log.append(`line ${line}\n`)
        const appended = performance.now()
        let seen = ''
        while (seen === '' && performance.now() - appended < 5000) {
          seen = (await log.read(`?limit=65536&offset=${offset}`)).bytes.toString()
          if (seen === '') await sleep(20)
        }
        expect(performance.now() - appended).toBeLessThan(1000)
        expect(seen).toBe(`line ${line}\n`)
        offset += seen.length
      }
    })

    test('leave the database when they have ended, sealed, and are read on the same', async () => {
      const [ended, living] = [await newLog(), await newLog()]
      const text = `a line that nobody may find on the disk ${randomBytes(100_000).toString('hex')}\n`
      await ended.append(text, 0)
      await ended.end()
      await living.append('still going\n')
      await runLater(server, moveLogs, 0)
      await asSecondServer(server, async ({ db, blobs }) => {
        const rows = await db
          .selectFrom('logs')
          .selectAll()
          .where('id', 'in', [ended.id, living.id])
          .execute()
        expect(new Map(rows.map(({ id, blobKey }) => [id, blobKey]))).toEqual(
          new Map([
            [ended.id, `logs/${ended.id}`],
            [living.id, null],
          ]),
        )
        const chunks = await db
          .selectFrom('logChunks')
          .select('logId')
          .where('logId', '=', ended.id)
          .execute()
        expect(chunks).toEqual([])
        const stored = Buffer.concat(await (await blobs.read(`logs/${ended.id}`)).toArray())
        expect(stored.includes('a line that nobody')).toBe(false)
      })
      const { whole, pieces } = await readInPieces(ended.read, 65_536)
      expect(whole.toString() === `\x02${text}\x03`).toBe(true)
      expect(pieces[0]?.length).toBe(65_536)
      const beyond = await ended.read(`?limit=65536&offset=${whole.length}`)
      expect([beyond.answer.status, beyond.bytes.length]).toEqual([200, 0])
      await ended.append('too late')
      await ended.end()
      expect((await ended.read(`?offset=${whole.length - 2}`)).bytes.toString()).toBe('\n\x03')
      expect((await living.read()).bytes.toString()).toBe('\x02still going\n')
      await runLater(server, moveLogs, 0)
    })

    test('end at the limit for them, with a line that says so, and their run goes on', async () => {
      const log = await newLog()
      const text = 'ü'.repeat(LIMIT / 2)
      const before = text.slice(0, -10)
      await log.append(before, 0)
      await log.append(`x${text}`, Buffer.byteLength(before))
      await log.append('more\n', Buffer.byteLength(before) + 1 + LIMIT)
      await log.end('the last words\n')
      const { bytes } = await log.read()
      const notice = '\n[The log is longer than PLINTH_MAX_LOG_BYTES allows; what follows is not kept.]\n'
      expect(bytes.toString()).toBe(`\x02${before}x${'ü'.repeat(9)}${notice}the last words\n\x03`)
    })

    test('may be moved while they are read', async () => {
      const log = await newLog()
      const text = 'a line that is read a little later\n'.repeat(5000)
      await log.append(text, 0)
      await log.end()
      await asSecondServer(server, async (ctx) => {
        const { bytes } = await logs.read(ctx, log.id, 0, Number.MAX_SAFE_INTEGER)
        await moveLogs.run(ctx, {}, new AbortController().signal)
        expect(Buffer.concat(await bytes.toArray()).toString()).toBe(`\x02${text}\x03`)
      })
    })

    test('are refused to everybody without the link', async () => {
      const log = await newLog()
      const other = await newLog()
      const [, kind, id, expires, signature] = new URL(log.url).pathname.split('/').slice(1)
      expect(kind).toBe('logs')
      for (const path of [
        `/storage/logs/${id}/${expires}/x${signature?.slice(1)}`,
        `/storage/logs/${id}/${Number(expires) + 1}/${signature}`,
        `/storage/logs/${other.id}/${expires}/${signature}`,
        `/storage/logs/${id}/1/${signature}`,
      ]) {
        expect((await fetch(server.url + path)).status).toBe(404)
      }
      expect((await fetch(log.url, { method: 'PUT', body: 'x' })).status).toBe(404)
      expect(server.logLines.join('')).not.toContain(signature)
    })

    test('can be read from for as long as a phase may take, and then no more', async () => {
      const { url } = await newLog()
      const [, , , , expires] = new URL(url).pathname.split('/')
      const hours = (Number(expires) - Date.now() / 1000) / 3600
      expect(Math.round(hours)).toBe(48)
    })

    test('survive a restart, in the database and out of it', async () => {
      const [ended, living] = [await newLog(), await newLog()]
      await ended.append('one\n')
      await ended.end()
      await living.append('two\n')
      await runLater(server, moveLogs, 0)
      await server.restart()
      const at = (url: string) => url.replace(/^.*?(?=\/storage)/, server.url)
      expect(await (await fetch(at(ended.url))).text()).toBe('\x02one\n\x03')
      expect(await (await fetch(at(living.url))).text()).toBe('\x02two\n')
    })

    test('go with their workspace', async () => {
      const log = await newLog()
      await log.end()
      await runLater(server, moveLogs, 0)
      const { path, owner } = log.organization
      const [workspace] = (await owner.get(`${path}/workspaces`)).body.data
      expect((await owner.delete(`/api/v2/workspaces/${workspace.id}`)).status).toBe(204)
      expect((await log.read()).answer.status).toBe(404)
    })
  },
  { PLINTH_RUN_WORKERS: '0', PLINTH_MAX_LOG_BYTES: String(LIMIT) },
)
