import { readdir } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { onEachDialect, pointers, violations } from '../../../test/harness.ts'
import {
  addKey,
  createPlatform,
  createProvider,
  createVersion,
  makeArchive,
  makeKey,
  platformBody,
  put,
  sha256,
} from '../../../test/registry.ts'

const BINARY = await makeArchive('demo', '1.0.0')
const FILENAME = 'terraform-provider-demo_1.0.0_linux_amd64.zip'
const LINUX = { os: 'linux', arch: 'amd64', filename: FILENAME, shasum: sha256(BINARY) }

onEachDialect(
  'registry provider platforms',
  (server) => {
    const draft = async () => {
      const organization = await server.organization()
      const provider = await createProvider(organization, 'demo')
      const key = await addKey(organization, await makeKey())
      const version = await createVersion(organization.owner, provider, '1.0.0', key)
      const path = `${provider}/versions/1.0.0/platforms`
      return { organization, owner: organization.owner, provider, path, key, version }
    }

    const upload = async () => {
      const made = await draft()
      const platform = await createPlatform(made.owner, made.provider, '1.0.0', LINUX)
      const url = platform.links['provider-binary-upload'] as string
      const show = async () => (await made.owner.get(`${made.path}/linux/amd64`)).body.data
      return { ...made, platform, url, show }
    }

    test('are created, shown, listed and deleted', async () => {
      const { owner, path, provider, version } = await draft()
      const created = await owner.post(path, platformBody({ ...LINUX, shasum: LINUX.shasum.toUpperCase() }))
      expect(created.status).toBe(201)
      expect(created.body.data).toEqual({
        id: expect.stringMatching(/^provpltfrm-\w{16}$/),
        type: 'registry-provider-platforms',
        attributes: {
          ...LINUX,
          'provider-binary-uploaded': false,
          downloads: 0,
          permissions: { 'can-delete': true, 'can-upload-asset': true },
        },
        relationships: {
          'registry-provider-version': { data: { id: version.id, type: 'registry-provider-versions' } },
        },
        links: { 'provider-binary-upload': expect.stringContaining('/storage/provider-binary/provpltfrm-') },
      })
      const member = `${path}/linux/amd64`
      expect((await owner.get(member)).body.data.id).toBe(created.body.data.id)
      const { platforms } = (await owner.get(`${provider}/versions/1.0.0`)).body.data.relationships
      expect(platforms.data).toEqual([{ id: created.body.data.id, type: 'registry-provider-platforms' }])
      expect((await owner.delete(member)).status).toBe(204)
      expect((await owner.delete(member)).status).toBe(404)
      expect((await owner.get(member)).status).toBe(404)
    })

    test('come in pages', async () => {
      const { owner, path } = await draft()
      for (const arch of ['amd64', 'arm64', 'arm']) {
        const filename = FILENAME.replace('amd64', arch)
        expect((await owner.post(path, platformBody({ ...LINUX, arch, filename }))).status).toBe(201)
      }
      const second = await owner.get(`${path}?page[number]=2&page[size]=2`)
      expect(second.body.data).toMatchObject([{ attributes: { arch: 'arm' } }])
      expect(second.body.meta.pagination).toMatchObject({
        'total-pages': 2,
        'total-count': 3,
        'next-page': null,
      })
      expect((await owner.get(`${path}?page[number]=4`)).body.data).toEqual([])
    })

    test('are created with each type that clients send, and with no other', async () => {
      const { owner, path } = await draft()
      for (const [index, type] of ['', 'registry-provider-version-platforms'].entries()) {
        const attributes = { ...LINUX, arch: `arch${index}`, filename: `${index}.zip` }
        expect((await owner.post(path, platformBody(attributes, type))).status).toBe(201)
      }
      expect(pointers(await owner.post(path, platformBody(LINUX, 'platforms')))).toEqual(['/data/type'])
    })

    test('are refused with every violation and its pointer', async () => {
      const { owner, path } = await draft()
      const all = ['arch', 'filename', 'os', 'shasum'].map((name) => `/data/attributes/${name}`)
      expect(pointers(await owner.post(path, platformBody({})))).toEqual(all)
      const wrong = { os: 'Linux!', arch: 64, shasum: 'abc', filename: '../../etc/passwd' }
      expect(pointers(await owner.post(path, platformBody(wrong)))).toEqual(all)
      for (const filename of ['a/b.zip', 'a\\b.zip', '.hidden', 'a"b.zip', 'a\r\nb.zip', 'x'.repeat(256)]) {
        const answer = await owner.post(path, platformBody({ ...LINUX, filename }))
        expect([filename, pointers(answer)]).toEqual([filename, ['/data/attributes/filename']])
      }
      await owner.post(path, platformBody(LINUX))
      expect(violations(await owner.post(path, platformBody(LINUX)))).toEqual([
        { pointer: '/data/attributes/filename', detail: 'Filename has already been taken' },
        { pointer: '/data/attributes/os', detail: 'Platform linux_amd64 has already been taken' },
      ])
    })

    test('have to agree with SHA256SUMS, whichever comes second', async () => {
      const { owner, provider, path, version } = await draft()
      const shasums = (digest: string, name: string) => `${digest}  ${name}\n`
      const url = version.links['shasums-upload']
      await createPlatform(owner, provider, '1.0.0', LINUX)
      for (const [content, reason] of [
        [shasums(sha256('other'), FILENAME), /gives .* the digest/],
        [shasums(LINUX.shasum, 'other.zip'), /does not list/],
      ] as const) {
        const answer = await put(url, content)
        expect(answer.status).toBe(422)
        expect(answer.body.errors[0].detail).toMatch(reason)
      }
      const darwin = FILENAME.replace('linux', 'darwin')
      expect(
        (await put(url, shasums(LINUX.shasum, FILENAME) + shasums(sha256('darwin'), darwin))).status,
      ).toBe(200)
      const late = { ...LINUX, os: 'darwin', filename: darwin }
      expect(pointers(await owner.post(path, platformBody(late)))).toEqual(['/data/attributes/shasum'])
      const unlisted = { ...LINUX, os: 'windows', filename: 'unlisted.zip' }
      expect(pointers(await owner.post(path, platformBody(unlisted)))).toEqual(['/data/attributes/filename'])
      const agreeing = { ...late, shasum: sha256('darwin') }
      expect((await owner.post(path, platformBody(agreeing))).status).toBe(201)
    })

    test('do not exist for strangers', async () => {
      const { owner, path } = await draft()
      await owner.post(path, platformBody(LINUX))
      const stranger = await server.user()
      for (const answer of [
        await stranger.get(path),
        await stranger.post(path, {}),
        await stranger.get(`${path}/linux/amd64`),
        await stranger.delete(`${path}/linux/amd64`),
        await owner.post(path.replace('1.0.0', '9.9.9'), {}),
        await owner.get(path.replace('1.0.0', '9.9.9')),
        await owner.get(`${path}/linux/none`),
      ]) {
        expect(answer.status).toBe(404)
      }
      expect((await server.nobody.get(path)).status).toBe(401)
    })

    test('race: of simultaneous creates exactly one wins', async () => {
      const { owner, path } = await draft()
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => owner.post(path, platformBody(LINUX))),
      )
      expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(5).fill(422)])
    })

    test('take their binary, and hand it out whole and in parts', async () => {
      const { url, show } = await upload()
      expect(await put(url, BINARY)).toMatchObject({ status: 200, text: '' })
      const { attributes, links } = await show()
      expect(attributes['provider-binary-uploaded']).toBe(true)
      expect(Object.keys(links)).toEqual(['provider-binary-download'])
      const download = links['provider-binary-download'] as string
      expect(download.endsWith(`/${FILENAME}`)).toBe(true)
      const seconds = Number(download.split('/').at(-3)) - Date.now() / 1000
      expect(seconds).toBeGreaterThan(14 * 60)
      expect(seconds).toBeLessThanOrEqual(15 * 60)

      const whole = await fetch(download)
      expect(Buffer.from(await whole.arrayBuffer())).toEqual(BINARY)
      expect(Object.fromEntries(whole.headers)).toMatchObject({
        'content-type': 'application/zip',
        'content-length': String(BINARY.length),
        'content-disposition': `attachment; filename="${FILENAME}"`,
        etag: `"${LINUX.shasum}"`,
        'accept-ranges': 'bytes',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
      const head = await fetch(download, { method: 'HEAD' })
      expect([head.status, head.headers.get('content-length')]).toEqual([200, String(BINARY.length)])
      expect((await head.arrayBuffer()).byteLength).toBe(0)

      const part = async (range: string, headers = {}) => {
        const response = await fetch(download, { headers: { range, ...headers } })
        const bytes = Buffer.from(await response.arrayBuffer())
        return [response.status, response.headers.get('content-range'), bytes] as const
      }
      const size = BINARY.length
      expect(await part('bytes=4-8')).toEqual([206, `bytes 4-8/${size}`, BINARY.subarray(4, 9)])
      expect(await part('bytes=-7')).toEqual([
        206,
        `bytes ${size - 7}-${size - 1}/${size}`,
        BINARY.subarray(-7),
      ])
      expect(await part('bytes=0-0,4-4')).toEqual([200, null, BINARY])
      expect(await part('bytes=4-8', { 'if-range': '"other"' })).toEqual([200, null, BINARY])
      expect((await part(`bytes=${size}-`)).slice(0, 2)).toEqual([416, `bytes */${size}`])
      const unchanged = await fetch(download, { headers: { 'if-none-match': `"${LINUX.shasum}"` } })
      expect(unchanged.status).toBe(304)
    })

    test('refuse other bytes, and the link stays usable', async () => {
      const { url, show } = await upload()
      const answer = await put(url, 'other bytes')
      expect(answer.status).toBe(422)
      expect(answer.body.errors[0].detail).toContain(LINUX.shasum)
      expect(answer.body.errors[0].detail).toContain(sha256('other bytes'))
      expect((await show()).attributes['provider-binary-uploaded']).toBe(false)
      expect((await put(url, BINARY, { 'content-type': 'application/x-anything' })).status).toBe(200)
      expect((await put(url, BINARY)).status).toBe(200)
      expect((await put(url, 'other bytes')).status).toBe(409)
    })

    test('take a binary in chunks, and drop one that ends early', async () => {
      const { url, show } = await upload()
      const dropped = new Promise<void>((resolve) => {
        const early = request(url, { method: 'PUT', headers: { 'content-length': BINARY.length } })
        early.on('error', () => resolve())
        early.write(BINARY.subarray(0, 5), () => setTimeout(() => early.destroy(new Error('gone')), 50))
      })
      await dropped
      expect((await show()).attributes['provider-binary-uploaded']).toBe(false)
      const chunks = Readable.toWeb(Readable.from([BINARY.subarray(0, 5), BINARY.subarray(5)]))
      const response = await fetch(url, { method: 'PUT', body: chunks as ReadableStream, duplex: 'half' })
      expect(response.status).toBe(200)
      const staged = async () => {
        const entries = await readdir(join(server.dataDir, 'blobs', '.staging'), {
          recursive: true,
          withFileTypes: true,
        })
        return entries.filter((entry) => entry.isFile())
      }
      await expect.poll(staged).toEqual([])
    })

    test('refuse what is too large, announced or not', async () => {
      const { url, show } = await upload()
      const large = Buffer.alloc(3000)
      const announced = await put(url, large)
      expect(announced).toMatchObject({ status: 413, body: { errors: [{ status: '413' }] } })
      const stream = Readable.toWeb(Readable.from([large.subarray(0, 1500), large.subarray(1500)]))
      const chunked = await fetch(url, { method: 'PUT', body: stream as ReadableStream, duplex: 'half' })
      expect(chunked.status).toBe(413)
      expect((await show()).attributes['provider-binary-uploaded']).toBe(false)
      expect((await put(url, BINARY)).status).toBe(200)
    })

    test('race: of simultaneous uploads of different bytes only the right ones count', async () => {
      const { url, show } = await upload()
      const answers = await Promise.all([put(url, 'x'), put(url, BINARY), put(url, BINARY), put(url, 'y')])
      const statuses = answers.map((answer) => answer.status)
      expect([statuses[1], statuses[2]]).toEqual([200, 200])
      for (const status of [statuses[0], statuses[3]]) expect([409, 422]).toContain(status)
      expect((await fetch((await show()).links['provider-binary-download'])).status).toBe(200)
    })

    test('lose their links and their file when they are deleted', async () => {
      const { owner, path, url, platform, show } = await upload()
      await put(url, BINARY)
      const download = (await show()).links['provider-binary-download']
      const file = join(server.dataDir, 'blobs', 'providers', platform.id)
      expect(await readdir(file)).toHaveLength(1)
      expect((await owner.delete(`${path}/linux/amd64`)).status).toBe(204)
      expect((await fetch(download)).status).toBe(404)
      expect((await put(url, BINARY)).status).toBe(404)
      expect(await readdir(file)).toEqual([])
    })
  },
  { PLINTH_MAX_UPLOAD_BYTES: '2000' },
)
