import { readdirSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { expect, test } from 'vitest'
import { expectStatus, onEachDialect } from '../../../test/harness.ts'
import { newWorkspace } from '../../../test/resources.ts'
import { announceState, lock, postState, put, rawState, stateResource } from '../../../test/states.ts'

const SMALL = rawState()
const LARGE = rawState({
  resources: [
    stateResource(
      'many',
      Array.from({ length: 100 }, (_, n) => n),
    ),
  ],
})

onEachDialect(
  'large states',
  (server) => {
    const prepare = async () => {
      const { owner, path } = await server.organization()
      const { id } = await newWorkspace(owner, path)
      await lock(owner, id)
      const announced = async (raw: string) => {
        const { data } = expectStatus(await announceState(owner, id, raw), 201).body
        const status = async () =>
          (await owner.get(`/api/v2/state-versions/${data.id}`)).body.data.attributes.status
        return {
          url: data.attributes['hosted-state-upload-url'],
          json: data.attributes['hosted-json-state-upload-url'],
          status,
        }
      }
      return { owner, id, announced }
    }
    const staged = () =>
      readdirSync(join(server.dataDir, 'blobs', '.staging'), { recursive: true, withFileTypes: true }).filter(
        (entry) => entry.isFile(),
      )
    const chunked = (bytes: Buffer) =>
      Readable.toWeb(Readable.from([bytes.subarray(0, 900), bytes.subarray(900)])) as ReadableStream

    test('are refused as a part of the request and as an upload, announced or not', async () => {
      const { owner, id, announced } = await prepare()
      const inline = await postState(owner, id, LARGE)
      expect(inline).toMatchObject({ status: 413 })
      expect(inline.body.errors[0].detail).toContain('PLINTH_MAX_STATE_BYTES')
      const { url, status } = await announced(LARGE)
      const refused = await put(url, LARGE)
      expect([refused.status, await refused.text()]).toEqual([
        413,
        expect.stringContaining('PLINTH_MAX_STATE_BYTES'),
      ])
      const stream = await fetch(url, { method: 'PUT', body: chunked(Buffer.from(LARGE)), duplex: 'half' })
      expect(stream.status).toBe(413)
      expect(await status()).toBe('pending')
      await expect.poll(staged).toEqual([])
    })

    test('may be larger in the form for programs', async () => {
      const { announced } = await prepare()
      const { json } = await announced(SMALL)
      expect((await put(json, Buffer.alloc(7000))).status).toBe(200)
      const { json: next } = await (await prepare()).announced(SMALL)
      expect((await put(next, Buffer.alloc(9000))).status).toBe(413)
    })

    test('whose upload ends early leave nothing, and may come again', async () => {
      const { announced } = await prepare()
      const { url, status } = await announced(SMALL)
      await new Promise<void>((resolve) => {
        const early = request(url, { method: 'PUT', headers: { 'content-length': SMALL.length } })
        early.on('error', () => resolve())
        early.write(SMALL.slice(0, 20), () => setTimeout(() => early.destroy(new Error('gone')), 50))
      })
      await expect.poll(staged).toEqual([])
      expect(await status()).toBe('pending')
      expect((await put(url, SMALL)).status).toBe(200)
      expect(await status()).toBe('finalized')
    })

    test('beyond every limit of a request are refused with the limit', async () => {
      const { owner, id } = await prepare()
      const body = JSON.stringify({
        data: { type: 'state-versions', attributes: { state: 'a'.repeat(33 << 20) } },
      })
      const refused = await owner.send('POST', `/api/v2/workspaces/${id}/state-versions`, body)
      expect(refused).toMatchObject({ status: 413 })
      expect(refused.body.errors[0].detail).toContain(String(32 << 20))
    })

    test('race: of simultaneous uploads of one state one counts, and all are answered', async () => {
      const { announced, owner, id } = await prepare()
      const { url, json, status } = await announced(SMALL)
      const answers = await Promise.all([
        put(url, SMALL),
        put(json, '{}'),
        put(url, SMALL),
        put(json, '{}'),
        put(url, SMALL),
      ])
      expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200])
      expect(await status()).toBe('finalized')
      const current = await owner.get(`/api/v2/workspaces/${id}/current-state-version`)
      expect(current.body.data.attributes.serial).toBe(1)
    })
  },
  { PLINTH_MAX_STATE_BYTES: '2000' },
)
