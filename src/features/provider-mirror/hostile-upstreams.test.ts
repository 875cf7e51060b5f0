import type { ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import {
  expectStatus,
  onEachDialect,
  type TestOrganization,
  type TestServer,
  unique,
} from '../../../test/harness.ts'
import { asSecondServer } from '../../../test/jobs.ts'
import { makeKey, type SigningKey, sha256 } from '../../../test/registry.ts'
import { document } from '../../../test/resources.ts'
import { answerJson, UpstreamRegistry } from '../../../test/upstream.ts'
import { inTransaction } from '../../db/transaction.ts'
import { addSeconds } from '../../lib/time.ts'
import { getArchive } from './archives.ts'
import * as store from './store.ts'

const HOST = 'hostile.example.test'

/** At a private address, which nobody named. */
const PRIVATE = 'localhost:1'

const registry = new UpstreamRegistry()
await registry.start()
const key = await makeKey()

const settingsOf = ({ path }: TestOrganization) => `${path}/provider-mirror`

async function mirrored(server: TestServer) {
  const organization = await server.organization()
  const body = document('provider-mirrors', { 'allowed-providers': [`${HOST}/acme/*`, `${PRIVATE}/acme/*`] })
  expectStatus(await organization.owner.patch(settingsOf(organization), body), 200)
  return organization
}

const at = ({ name }: TestOrganization, provider: string, document: string) =>
  `/mirror/${name}/${HOST}/acme/${provider}/${document}`

/** Asks for a version; what failed, or the addresses of its archives. */
async function ask({ owner, ...organization }: TestOrganization, provider: string, version = '1.0.0') {
  const { status, body } = await owner.get(at({ owner, ...organization }, provider, `${version}.json`))
  const detail: string | undefined = body.errors?.[0].detail
  return { status, detail, archives: body.archives as Record<string, { url: string; hashes: string[] }> }
}

async function nothingKept({ owner, ...organization }: TestOrganization) {
  const { data } = (await owner.get(`${settingsOf({ owner, ...organization })}/providers`)).body
  return data.map(({ attributes }: { attributes: Record<string, unknown> }) => [
    attributes['kept-packages'],
    attributes['key-fingerprints'],
  ])
}

const lastError = async (organization: TestOrganization) =>
  (await organization.owner.get(`${settingsOf(organization)}/providers`)).body.data[0].attributes[
    'last-error'
  ]

/** Has the registry answer by itself where a path begins so. */
function instead(start: string, send: (response: ServerResponse) => void): void {
  registry.instead = (path, response) => {
    if (!path.startsWith(start)) return false
    send(response)
    return true
  }
}

/** As if the upstream was asked a day ago. */
async function forget(server: TestServer, organization: TestOrganization): Promise<void> {
  const [{ id }] = (await organization.owner.get(`${settingsOf(organization)}/providers`)).body.data
  await asSecondServer(server, (ctx) =>
    inTransaction(ctx, async (tx) => {
      const before = addSeconds(tx.now(), -24 * 3600)
      await store.updateProvider(tx.db, id, { listedAt: before, askedAt: before })
    }),
  )
}

const fingerprintOf = ({ pair }: SigningKey) => pair.publicKey.getFingerprint().toUpperCase()

onEachDialect(
  'the mirror of a hostile upstream',
  (server) => {
    afterEach(() => {
      registry.instead = () => false
    })

    const spoiled: [what: string, spoil: (name: string) => Promise<void>, detail: RegExp][] = [
      [
        'other bytes than were signed',
        async (name) => {
          const release = await registry.release(name, '1.0.0', key)
          release.shasums = Buffer.from(
            release.shasums.toString().replace(/^./, (c) => (c === '0' ? '1' : '0')),
          )
        },
        /the signature of its SHA256SUMS does not hold/,
      ],
      [
        'a signature by a key that is not offered',
        async (name) => {
          const release = await registry.release(name, '1.0.0', key)
          release.keys = [(await makeKey()).armor]
        },
        /the signature of its SHA256SUMS does not hold/,
      ],
      [
        'no key',
        async (name) => {
          ;(await registry.release(name, '1.0.0', key)).keys = []
        },
        /the upstream names no key/,
      ],
      [
        'no signature',
        async (name) => {
          ;(await registry.release(name, '1.0.0', key)).signature = Buffer.from('none')
        },
        /cannot be used: it is not a detached OpenPGP signature/,
      ],
      [
        'a digest that was not signed',
        async (name) => {
          const release = await registry.release(name, '1.0.0', key)
          release.archives.set('linux_amd64', Buffer.from('another'))
        },
        new RegExp(`its signed SHA256SUMS lists .*, and the registry says ${sha256('another')}`),
      ],
      [
        'a list that is too long',
        async (name) => {
          ;(await registry.release(name, '1.0.0', key)).shasums = Buffer.alloc(2 ** 20 + 1, 'a')
        },
        /SHA256SUMS is larger than 1048576 bytes/,
      ],
    ]
    test.each(spoiled)('keeps nothing of %s', async (_, spoil, detail) => {
      const organization = await mirrored(server)
      const name = `p${unique()}`
      await spoil(name)
      expect(await ask(organization, name)).toMatchObject({
        status: 502,
        detail: expect.stringMatching(detail),
      })
      expect(await nothingKept(organization)).toEqual([[0, []]])
      expect(await lastError(organization)).toMatch(detail)
    })

    test('keeps nothing of an archive that is not the signed one, too large, broken off, or harmful', async () => {
      const organization = await mirrored(server)
      const name = `p${unique()}`
      const harmful = Buffer.from('no zip')
      const release = await registry.release(name, '1.0.0', key)
      release.archives.set('darwin_arm64', harmful)
      release.shasums = Buffer.from(
        release.shasums.toString().replace(/^.{64}(?= .*darwin)/m, sha256(harmful)),
      )
      release.signature = await key.sign(release.shasums)
      const { archives } = await ask(organization, name)
      const get = async (platform: string) => {
        const answer = await fetch(archives[platform]?.url as string)
        const { errors } = (await answer.json()) as { errors: { detail: string }[] }
        return [answer.status, errors[0]?.detail]
      }
      const sending = (send: (response: ServerResponse) => void) => instead(`${name}/1.0.0/archive/`, send)
      sending((response) => void response.end('other bytes'))
      expect(await get('linux_amd64')).toEqual([
        502,
        expect.stringContaining(
          `sends bytes with SHA-256 ${sha256('other bytes')}, but the list that was signed`,
        ),
      ])
      sending((response) => void response.writeHead(200, { 'content-length': 100_001 }).write('a'))
      expect(await get('linux_amd64')).toEqual([502, expect.stringContaining('larger than 100000 bytes')])
      sending((response) => void response.end(Buffer.alloc(100_001)))
      expect(await get('linux_amd64')).toEqual([502, expect.stringContaining('larger than 100000 bytes')])
      sending((response) => {
        response.writeHead(200, { 'content-length': 1000 }).write('half', () => response.destroy())
      })
      expect(await get('linux_amd64')).toEqual([503, expect.stringContaining('ended early')])
      sending((response) => void response.writeHead(302, { location: 'http://10.0.0.1/a.zip' }).end())
      expect(await get('linux_amd64')).toEqual([
        502,
        expect.stringContaining('http://10.0.0.1/a.zip is not https'),
      ])
      sending((response) => void response.writeHead(302, { location: 'https://10.0.0.1/a.zip' }).end())
      expect(await get('linux_amd64')).toEqual([
        502,
        expect.stringContaining('10.0.0.1 is at a private address'),
      ])
      registry.instead = () => false
      expect(await get('darwin_arm64')).toEqual([502, expect.stringContaining('it is not a zip archive')])
      expect(await nothingKept(organization)).toEqual([[0, [fingerprintOf(key)]]])
      const answer = await fetch(archives['linux_amd64']?.url as string)
      expect(sha256(Buffer.from(await answer.arrayBuffer()))).toBe(
        sha256(release.archives.get('linux_amd64') as Buffer),
      )
    })

    test('goes on serving what it has when the upstream changes a version', async () => {
      const organization = await mirrored(server)
      const name = `p${unique()}`
      const { archives: before } = await registry.release(name, '1.0.0', key)
      const { archives } = await ask(organization, name)
      expect((await fetch(archives['linux_amd64']?.url as string)).status).toBe(200)
      await registry.release(name, '1.0.0', key, { content: 'changed' })
      const again = await ask(organization, name)
      expect(again.archives['linux_amd64']?.hashes[0]).toBe(
        `zh:${sha256(before.get('linux_amd64') as Buffer)}`,
      )
      expect((await fetch(again.archives['linux_amd64']?.url as string)).status).toBe(200)
      expect((await fetch(again.archives['darwin_arm64']?.url as string)).status).toBe(502)
      expect(await lastError(organization)).toMatch(
        /^1\.0\.0 darwin_arm64: the upstream says .* Either its author has replaced the release, or somebody has tampered/,
      )
      expect(server.logLines.join('')).toContain('or somebody has tampered with it')
    })

    test('takes versions of a known key only, until somebody trusts another', async () => {
      const organization = await mirrored(server)
      const { owner } = organization
      const name = `p${unique()}`
      const other = await makeKey('ecdsa')
      await registry.release(name, '1.0.0', key)
      await registry.release(name, '1.1.0', other)
      const both = await registry.release(name, '1.2.0', other)
      both.keys = [key.armor, other.armor]
      both.signature = Buffer.concat([both.signature, await key.sign(both.shasums)])
      expect((await ask(organization, name)).status).toBe(200)
      expect(await ask(organization, name, '1.1.0')).toMatchObject({
        status: 502,
        detail: expect.stringContaining(
          `it is signed by key ${fingerprintOf(other)}, which nobody here trusts, and earlier versions by ` +
            `${fingerprintOf(key)}`,
        ),
      })
      // Whoever had the old key vouches for the new one.
      expect((await ask(organization, name, '1.2.0')).status).toBe(200)
      expect((await ask(organization, name, '1.1.0')).status).toBe(502)
      const trust = document('provider-mirrors', { 'trusted-keys': [fingerprintOf(other)] })
      expectStatus(await owner.patch(settingsOf(organization), trust), 200)
      expect((await ask(organization, name, '1.1.0')).status).toBe(200)
    })

    test('serves what it has while the upstream is away, and does not wait for it each time', async () => {
      const organization = await mirrored(server)
      const { owner } = organization
      const name = `p${unique()}`
      await registry.release(name, '1.0.0', key)
      await registry.release(name, '2.0.0', key)
      const { archives } = await ask(organization, name)
      expect((await fetch(archives['linux_amd64']?.url as string)).status).toBe(200)
      await forget(server, organization)
      instead(name, () => {})
      const { length } = registry.asked
      const listed = await owner.get(at(organization, name, 'index.json'))
      expect(Object.keys(listed.body.versions)).toEqual(['1.0.0', '2.0.0'])
      expect((await owner.get(at(organization, name, 'index.json'))).status).toBe(200)
      expect(
        (await fetch((await ask(organization, name)).archives['linux_amd64']?.url as string)).status,
      ).toBe(200)
      expect(registry.asked.slice(length)).toEqual([`${name}/versions`])
      expect(await lastError(organization)).toMatch(/does not answer within 1 seconds/)
      instead(name, (response) => void response.writeHead(500).end())
      expect(await ask(organization, name, '2.0.0')).toMatchObject({
        status: 503,
        detail: expect.stringMatching(
          /^The upstream of .* is away: .*\/download\/linux\/amd64 answers 500\.$/,
        ),
      })
    })

    test('asks once for what many want, and no more when all have left', async () => {
      const organization = await mirrored(server)
      const name = `p${unique()}`
      await registry.release(name, '1.0.0', key)
      const asked = (path: string) => registry.asked.filter((each) => each === `${name}/${path}`).length
      const many = await Promise.all(Array.from({ length: 5 }, () => ask(organization, name)))
      expect(many.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
      expect([asked('versions'), asked('1.0.0/SHA256SUMS')]).toEqual([1, 1])
      const url = many[0]?.archives['linux_amd64']?.url as string
      const answers = await Promise.all(Array.from({ length: 5 }, () => fetch(url)))
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
      expect(asked('1.0.0/archive/linux/amd64')).toBe(1)

      const { promise: closed, resolve } = Promise.withResolvers<void>()
      const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
      instead(`${name}/1.0.0/archive/`, (response) => {
        response.writeHead(200, { 'content-length': 1000 }).write('a')
        response.once('close', resolve)
        begin()
      })
      const leave = new AbortController()
      const abandoned = fetch(many[0]?.archives['darwin_arm64']?.url as string, { signal: leave.signal })
      await begun
      leave.abort()
      await expect(abandoned).rejects.toThrow()
      await closed
      registry.instead = () => false
      expect((await fetch(many[0]?.archives['darwin_arm64']?.url as string)).status).toBe(200)
    })

    test('race: two servers that fetch the same keep it once', async () => {
      const organization = await mirrored(server)
      const name = `p${unique()}`
      const { archives: bytes } = await registry.release(name, '1.0.0', key)
      const url = (await ask(organization, name)).archives['linux_amd64']?.url as string
      const [, id = ''] = /mirrored-archive\/([^/]+)/.exec(url) ?? []
      const waiting: ServerResponse[] = []
      instead(`${name}/1.0.0/archive/`, (response) => {
        waiting.push(response)
        if (waiting.length === 2) for (const each of waiting) each.end(bytes.get('linux_amd64'))
      })
      const [first, second] = await Promise.all([
        fetch(url),
        asSecondServer(server, (ctx) => getArchive(ctx, id, new AbortController().signal)),
      ])
      expect([first.status, second.size]).toEqual([200, bytes.get('linux_amd64')?.length])
      const kept = await asSecondServer(server, ({ db }) =>
        db.selectFrom('blobs').select('key').where('sha256', '=', second.sha256).execute(),
      )
      expect(kept).toEqual([{ key: second.key }])
    })

    test('never asks a private address that nobody named', async () => {
      const organization = await mirrored(server)
      const { owner, name } = organization
      const { status, body } = await owner.get(`/mirror/${name}/${PRIVATE}/acme/demo/index.json`)
      expect([status, body.errors[0].detail]).toEqual([
        502,
        expect.stringContaining('localhost:1 is at a private address'),
      ])
    })

    test('drops versions that would break clients, and reads forms that differ', async () => {
      const organization = await mirrored(server)
      const name = `p${unique()}`
      await registry.release(name, '1.0.0', key)
      instead(`${name}/versions`, (response) =>
        answerJson(response, { versions: [{ version: 'v1' }, null, { version: '1.0.0' }], warnings: 'none' }),
      )
      const { body } = await organization.owner.get(at(organization, name, 'index.json'))
      expect(body).toEqual({ versions: { '1.0.0': {} } })
      registry.instead = () => false
      const { archives } = await ask(organization, name)
      expect(Object.keys(archives).sort()).toEqual(['darwin_arm64', 'linux_amd64'])
    })
  },
  {
    PLINTH_MIRROR_UPSTREAMS: `${HOST}=${registry.url}`,
    PLINTH_MIRROR_TIMEOUT: '1',
    PLINTH_MAX_UPLOAD_BYTES: '100000',
  },
)
