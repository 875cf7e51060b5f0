import type { ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { expectStatus, onEachDialect, unique } from '../../../test/harness.ts'
import { asSecondServer } from '../../../test/jobs.ts'
import {
  ask,
  at,
  fingerprintOf,
  forget,
  instead,
  key,
  lastError,
  MIRROR,
  mirrored,
  registry,
  settingsOf,
} from '../../../test/mirrors.ts'
import { makeKey, sha256 } from '../../../test/registry.ts'
import { document } from '../../../test/resources.ts'
import { getArchive } from './archives.ts'

onEachDialect(
  'the mirror of an upstream that changes',
  (server) => {
    afterEach(() => {
      registry.instead = () => false
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

    test('goes on listing what it keeps when the upstream withdraws it', async () => {
      const organization = await mirrored(server)
      const name = `p${unique()}`
      for (const version of ['1.0.0', '1.1.0', '2.0.0']) await registry.release(name, version, key)
      const { archives } = await ask(organization, name)
      expect((await ask(organization, name, '1.1.0')).status).toBe(200)
      await fetch(archives['linux_amd64']?.url as string)
      for (const version of ['1.0.0', '1.1.0']) registry.withdraw(name, version)
      await forget(server, organization)
      const listed = async () =>
        Object.keys((await organization.owner.get(at(organization, name, 'index.json'))).body.versions).sort()
      expect(await listed()).toEqual(['1.0.0', '2.0.0'])
      registry.withdraw(name, '2.0.0')
      await forget(server, organization)
      expect(await listed()).toEqual(['1.0.0', '2.0.0'])
      expect(
        (await fetch((await ask(organization, name)).archives['linux_amd64']?.url as string)).status,
      ).toBe(200)
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
  },
  { ...MIRROR, PLINTH_MIRROR_TIMEOUT: '1' },
)
