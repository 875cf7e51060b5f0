import { expect, test } from 'vitest'
import { type Client, expectStatus, onEachDialect } from '../../../test/harness.ts'
import {
  addKey,
  createPlatform,
  createProvider,
  createVersion,
  makeArchive,
  makeKey,
  publish,
  put,
  sha256,
  versionBody,
} from '../../../test/registry.ts'

interface File {
  id: string
  attributes: {
    kind: string
    filename: string
    uploaded: boolean
    problems: { code: string; mend: string }[]
  }
  links: Record<string, string>
}

onEachDialect('the release files of a provider version', (server) => {
  const filesOf = async (client: Client, path: string) =>
    expectStatus(await client.get(`${path}/versions/1.0.0/release-files`), 200).body

  /** The files by name, each with whether it is there and what is wrong with it. */
  const summarize = ({ data }: { data: File[] }) =>
    data.map(({ attributes: { filename, uploaded, problems } }) => [
      filename,
      uploaded,
      ...problems.map(({ code }) => code),
    ])

  test('say step by step what is missing, and lead to an installable version by their links', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const path = await createProvider(organization, 'demo')
    const key = await addKey(organization, await makeKey())
    const version = await createVersion(owner, path, '1.0.0', key)
    const sums = 'terraform-provider-demo_1.0.0_SHA256SUMS'
    const name = (arch: string) => `terraform-provider-demo_1.0.0_linux_${arch}.zip`
    const archive = await makeArchive('demo', '1.0.0')
    const manifest = `${sha256('{}')}  terraform-provider-demo_1.0.0_manifest.json\n`
    const list = Buffer.from(
      `${sha256(archive)}  ${name('amd64')}\n${sha256('other')}  ${name('arm64')}\n${sha256('odd')}  odd.zip\n${manifest}`,
    )

    const empty = await filesOf(owner, path)
    expect(empty.data[0]).toEqual({
      id: `${version.id}:${sums}`,
      type: 'registry-provider-release-files',
      attributes: {
        kind: 'shasums',
        filename: sums,
        os: null,
        arch: null,
        shasum: null,
        uploaded: false,
        problems: [
          {
            code: 'missing',
            detail: 'The list of digests is not uploaded.',
            mend: expect.stringContaining('sha256sum'),
          },
        ],
      },
      relationships: { 'registry-provider-platform': { data: null } },
      links: { 'file-upload': expect.stringMatching(/\/storage\/provider-shasums\//) },
    })
    expect(summarize(empty)).toEqual([
      [sums, false, 'missing'],
      [`${sums}.sig`, false, 'missing'],
    ])
    expect(empty.data[1].attributes.problems[0].mend).toContain(`--local-user ${key.keyId}`)
    const noPlatforms = {
      code: 'no-platforms',
      mend: expect.stringContaining(`POST to ${path}/versions/1.0.0/platforms`),
    }
    expect(empty.meta).toEqual({
      status: 'draft',
      installable: false,
      problems: [{ detail: 'The version has no platform.', ...noPlatforms }],
    })
    expectStatus(await put(empty.data[0].links['file-upload'], list), 200)
    expectStatus(await put(empty.data[1].links['file-upload'], await key.sign(list)), 200)

    const listed = await filesOf(owner, path)
    expect(summarize(listed)).toEqual([
      [sums, true],
      [`${sums}.sig`, true],
      [name('amd64'), false, 'platform-missing'],
      [name('arm64'), false, 'platform-missing'],
      ['odd.zip', false, 'platform-missing'],
    ])
    expect(listed.data[2]).toMatchObject({
      attributes: { kind: 'archive', os: 'linux', arch: 'amd64', shasum: sha256(archive) },
      links: {},
    })
    const { mend } = listed.data[2].attributes.problems[0]
    expect(mend).toContain(`os linux, arch amd64, filename ${name('amd64')} and shasum ${sha256(archive)}`)
    expect(listed.data[4].attributes).toMatchObject({ os: null, arch: null })

    const target = { os: 'linux', arch: 'amd64', filename: name('amd64'), shasum: sha256(archive) }
    const { id } = await createPlatform(owner, path, '1.0.0', target)
    const announced = await filesOf(owner, path)
    expect(summarize(announced)[2]).toEqual([name('amd64'), false, 'missing'])
    expect(announced.meta).toMatchObject({ installable: false, problems: [] })
    const platform = { data: { id, type: 'registry-provider-platforms' } }
    expect(announced.data[2].relationships).toEqual({ 'registry-provider-platform': platform })
    expectStatus(await put(announced.data[2].links['file-upload'], archive), 200)

    const done = await filesOf(owner, path)
    expect(summarize(done)[2]).toEqual([name('amd64'), true])
    expect(done.meta).toEqual({ status: 'published', installable: true, problems: [] })
    for (const { links } of done.data.slice(0, 3)) {
      expect((await fetch(links['file-download'])).status).toBe(200)
    }
  })

  test('say that the key has expired, and that the version is revoked', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const options = { date: new Date('2020-01-01'), keyExpirationTime: 60 }
    const key = await addKey(organization, await makeKey('eddsa', options))
    const { path } = await publish(organization, 'demo', '1.0.0', { key, platforms: ['linux_amd64'] })
    const expired = await filesOf(owner, path)
    expect(expired.data[1].attributes.problems).toEqual([
      {
        code: 'key-expired',
        detail: expect.stringContaining(`Key ${key.keyId} expired on 2020-01-01`),
        mend: expect.stringContaining('Register a key'),
      },
    ])
    expect(expired.meta.installable).toBe(true)
    expectStatus(await owner.patch(`${path}/versions/1.0.0`, versionBody({ status: 'revoked' })), 200)
    const revoked = await filesOf(owner, path)
    expect(revoked.data.map(({ links }: File) => links)).toEqual([{}, {}, {}])
    expect(revoked.meta).toMatchObject({
      status: 'revoked',
      installable: false,
      problems: [{ code: 'revoked', mend: expect.stringContaining('Unrevoked') }],
    })
  })

  test('are for members, with upload links for those who may publish', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const path = await createProvider(organization, 'demo')
    await createVersion(owner, path, '1.0.0', await addKey(organization, await makeKey()))
    const address = `${path}/versions/1.0.0/release-files`
    const member = await server.member(organization)
    expect((await filesOf(member, path)).data.map(({ links }: File) => links)).toEqual([{}, {}])
    const manager = await server.member(organization, ['manage-providers'])
    expect((await filesOf(manager, path)).data[0].links).toHaveProperty('file-upload')
    expect((await (await server.user()).get(address)).status).toBe(404)
    expect((await server.nobody.get(address)).status).toBe(401)
    expect((await owner.get(address.replace('1.0.0', '9.9.9'))).status).toBe(404)
    expect((await owner.get(address.replace('/private/', '/public/'))).status).toBe(403)
  })
})
