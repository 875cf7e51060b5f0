import { expect, test } from 'vitest'
import { type Client, expectStatus, onEachDialect, type TestUser } from '../../../test/harness.ts'
import {
  addKey,
  createPlatform,
  createProvider,
  createVersion,
  makeArchive,
  makeKey,
  put,
  type SigningKey,
  sha256,
} from '../../../test/registry.ts'
import { document } from '../../../test/resources.ts'

onEachDialect('upload links', (server) => {
  /** A second token of a user. */
  const newToken = async (user: TestUser, attributes: object = {}) => {
    const url = `/api/v2/users/${user.id}/authentication-tokens`
    const created = expectStatus(await user.post(url, document('authentication-tokens', attributes)), 201)
    const { id, attributes: made } = created.body.data
    return { id, client: server.as(made.token) }
  }

  const provider = async () => {
    const organization = await server.organization()
    const path = await createProvider(organization, 'demo')
    const key = await addKey(organization, await makeKey())
    return { organization, owner: organization.owner, path, key }
  }

  /** Everything of a release that waits for its bytes, with the links that `client` gets. */
  const uploads = async (client: Client, path: string, key: SigningKey, version = '1.0.0') => {
    const archive = await makeArchive('demo', version)
    const shasums = Buffer.from(`${sha256(archive)}  demo.zip\n`)
    const { links } = await createVersion(client, path, version, key)
    const platform = { os: 'linux', arch: 'amd64', filename: 'demo.zip', shasum: sha256(archive) }
    const created = await createPlatform(client, path, version, platform)
    return [
      [links['shasums-upload'], shasums],
      [links['shasums-sig-upload'], await key.sign(shasums)],
      [created.links['provider-binary-upload'], archive],
    ] as [string, Buffer][]
  }

  const statuses = async (files: [string, Buffer][]) => {
    const found: number[] = []
    for (const [url, bytes] of files) found.push((await put(url, bytes)).status)
    return found
  }

  test('end with the token that they were made for, and with no other', async () => {
    const { owner, path, key } = await provider()
    const { id, client } = await newToken(owner)
    const files = await uploads(client, path, key)
    const [shasums, ...others] = files as [[string, Buffer], ...[string, Buffer][]]
    expect(await statuses([shasums])).toEqual([200])
    expectStatus(await owner.delete(`/api/v2/authentication-tokens/${id}`), 204)
    expect(await statuses(files)).toEqual([404, 404, 404])
    // The same asked for by a token that holds.
    const own = (await owner.get(`${path}/versions/1.0.0`)).body.data.links
    const binary = (await owner.get(`${path}/versions/1.0.0/platforms/linux/amd64`)).body.data.links
    expect(
      await statuses([
        [own['shasums-sig-upload'], (others[0] as [string, Buffer])[1]],
        [binary['provider-binary-upload'], (others[1] as [string, Buffer])[1]],
      ]),
    ).toEqual([200, 200])
  })

  test('end when their token expires', async () => {
    const { owner, path, key } = await provider()
    const { client } = await newToken(owner, { 'expired-at': new Date(Date.now() + 2000).toISOString() })
    const [shasums] = (await uploads(client, path, key)) as [[string, Buffer]]
    // Again and again: what was taken already is taken again.
    expect(await statuses([shasums])).toEqual([200])
    await expect.poll(() => statuses([shasums]), { timeout: 5000, interval: 200 }).toEqual([404])
  })

  test('of team tokens end when the token is replaced', async () => {
    const { organization, owner, path, key } = await provider()
    const team = await server.team(organization, ['manage-providers'])
    const single = `/api/v2/teams/${team}/authentication-token`
    const token = expectStatus(await owner.post(single), 201).body.data.attributes.token
    const files = await uploads(server.as(token), path, key)
    expectStatus(await owner.post(single), 201)
    expect(await statuses(files)).toEqual([404, 404, 404])
  })

  test('are worth what the token is worth now', async () => {
    const { organization, owner, path, key } = await provider()
    const member = await server.member(organization, ['manage-providers'])
    const files = await uploads(member, path, key)
    const access = (granted: boolean) =>
      document('teams', { 'organization-access': { 'manage-providers': granted } })
    expectStatus(await owner.patch(`/api/v2/teams/${member.teamId}`, access(false)), 200)
    expect(await statuses(files)).toEqual([404, 404, 404])
    expectStatus(await owner.patch(`/api/v2/teams/${member.teamId}`, access(true)), 200)
    expect(await statuses(files)).toEqual([200, 200, 200])
  })

  test('cannot be made to name another token, or none', async () => {
    const { organization, owner, path, key } = await provider()
    const { id, client } = await newToken(owner)
    const other = await newToken(owner)
    const files = await uploads(client, path, key)
    const naming = (replacement: string) =>
      files.map(([url, bytes]): [string, Buffer] => [url.replace(`.${id}`, replacement), bytes])
    expect(await statuses(naming(`.${other.id}`))).toEqual([404, 404, 404])
    expect(await statuses(naming(''))).toEqual([404, 404, 404])
    expect(await statuses(naming('.'))).toEqual([404, 404, 404])
    expect(organization.owner.token).not.toBe(client.token)
    for (const [url] of files) expect(url).not.toContain(client.token)
  })

  test('leave downloads alone: these outlive the token', async () => {
    const { owner, path, key } = await provider()
    const { id, client } = await newToken(owner)
    const files = await uploads(client, path, key)
    expect(await statuses(files)).toEqual([200, 200, 200])
    const { links } = (await client.get(`${path}/versions/1.0.0`)).body.data
    expectStatus(await owner.delete(`/api/v2/authentication-tokens/${id}`), 204)
    expect((await fetch(links['shasums-download'])).status).toBe(200)
  })
})
