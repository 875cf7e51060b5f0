import type { ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { onEachDialect, unique } from '../../../test/harness.ts'
import {
  ask,
  at,
  fingerprintOf,
  instead,
  keptOf,
  key,
  lastError,
  MIRROR,
  mirrored,
  PRIVATE,
  registry,
} from '../../../test/mirrors.ts'
import { makeKey, sha256 } from '../../../test/registry.ts'
import { answerJson } from '../../../test/upstream.ts'

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
      expect(await keptOf(organization)).toEqual([[0, []]])
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
      expect(await keptOf(organization)).toEqual([[0, [fingerprintOf(key)]]])
      const answer = await fetch(archives['linux_amd64']?.url as string)
      expect(sha256(Buffer.from(await answer.arrayBuffer()))).toBe(
        sha256(release.archives.get('linux_amd64') as Buffer),
      )
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
    ...MIRROR,
    PLINTH_MAX_UPLOAD_BYTES: '100000',
  },
)
