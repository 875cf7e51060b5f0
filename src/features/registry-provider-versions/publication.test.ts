import { expect, test } from 'vitest'
import { expectStatus, onEachDialect, violations } from '../../../test/harness.ts'
import {
  addKey,
  auditedOfVersions,
  createPlatform,
  createProvider,
  createVersion,
  makeArchive,
  makeKey,
  put,
  sha256,
  versionBody,
} from '../../../test/registry.ts'

onEachDialect('the publication of a provider version', (server) => {
  /** A draft that lacks its signature and its archive, which can be sent when they are wanted. */
  const almost = async () => {
    const organization = await server.organization()
    const { owner } = organization
    const path = await createProvider(organization, 'demo')
    const key = await addKey(organization, await makeKey())
    const { links } = await createVersion(owner, path, '1.0.0', key)
    const archive = await makeArchive('demo', '1.0.0')
    const platform = { os: 'linux', arch: 'amd64', filename: 'demo.zip', shasum: sha256(archive) }
    const { links: upload } = await createPlatform(owner, path, '1.0.0', platform)
    const shasums = Buffer.from(`${sha256(archive)}  demo.zip\n`)
    expectStatus(await put(links['shasums-upload'], shasums), 200)
    const signature = await key.sign(shasums)
    return {
      organization,
      owner,
      member: `${path}/versions/1.0.0`,
      show: async () => (await owner.get(`${path}/versions/1.0.0`)).body.data.attributes,
      sign: () => put(links['shasums-sig-upload'], signature),
      fill: () => put(upload['provider-binary-upload'], archive),
    }
  }

  for (const first of ['sign', 'fill'] as const) {
    test(`begins with the upload that completes it: first ${first}`, async () => {
      const draft = await almost()
      expectStatus(await draft[first](), 200)
      expect(await draft.show()).toMatchObject({ status: 'draft', 'published-at': null })
      expectStatus(await draft[first === 'sign' ? 'fill' : 'sign'](), 200)
      expect(await draft.show()).toMatchObject({
        status: 'published',
        'published-at': expect.stringMatching(/Z$/),
      })
      expect(await auditedOfVersions(server, draft.organization)).toEqual(['create', 'publish'])
    })
  }

  test('race: files that arrive together publish it, once', async () => {
    const draft = await almost()
    const answers = await Promise.all([draft.sign(), draft.fill(), draft.sign(), draft.fill()])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect((await draft.show()).status).toBe('published')
    expect(await auditedOfVersions(server, draft.organization)).toEqual(['create', 'publish'])
  })

  test('has to come before a version is deprecated or revoked', async () => {
    const { member, owner } = await almost()
    for (const attributes of [
      { deprecation: { 'deprecated-status': 'Deprecated' } },
      { revocation: { status: 'Revoked' } },
      { status: 'revoked' },
    ]) {
      const answer = await owner.patch(member, versionBody(attributes))
      expect(answer.status).toBe(409)
      expect(violations(answer)[0]?.detail).toBe(
        'Version 1.0.0 is a draft, which nobody can install. Delete it if it is not wanted.',
      )
    }
    const nothing = {
      deprecation: { 'deprecated-status': 'Undeprecated' },
      revocation: { status: 'Unrevoked' },
    }
    expect((await owner.patch(member, versionBody(nothing))).status).toBe(200)
  })
})
