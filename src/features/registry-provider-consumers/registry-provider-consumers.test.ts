import { expect, test } from 'vitest'
import { type Client, expectStatus, onEachDialect, type TestOrganization } from '../../../test/harness.ts'
import { asSecondServer } from '../../../test/jobs.ts'
import { type PublishedRelease, publish } from '../../../test/registry.ts'
import { document, newWorkspace } from '../../../test/resources.ts'
import { saveState, stateResource } from '../../../test/states.ts'
import type { Ctx } from '../../context.ts'
import * as service from './service.ts'

const METRICS = 'token-of-the-metrics'

/** The address of an archive, as it is given to a client. */
async function linkFor(client: Client, namespace: string, arch = 'amd64'): Promise<string> {
  const path = `/api/registry/v1/providers/${namespace}/demo/1.0.0/download/linux/${arch}`
  return expectStatus(await client.get(path), 200).body.download_url
}

const download = async (client: Client, { name }: TestOrganization, arch?: string) => {
  const answer = await fetch(await linkFor(client, name, arch))
  await answer.arrayBuffer()
  return answer.status
}

onEachDialect(
  'downloads of a provider',
  (server) => {
    const released = async () => {
      const organization = await server.organization()
      const platforms = ['linux_amd64', 'linux_arm64']
      const release = await publish(organization, 'demo', '1.0.0', { platforms })
      return { organization, owner: organization.owner, ...release, member: `${release.path}/versions/1.0.0` }
    }

    /** Counted of the version, and of its platforms. */
    const counted = async ({ owner, member }: { owner: Client; member: string }) => {
      const version = expectStatus(await owner.get(member), 200).body.data
      const platforms = (await owner.get(`${member}/platforms`)).body.data
      return [version, ...platforms].map(({ attributes }) => attributes.downloads)
    }

    test('are what begins at the first byte, and are counted within a second', async () => {
      const { organization, ...release } = await released()
      const { owner } = organization
      const url = await linkFor(owner, organization.name)
      expect(url).toMatch(
        new RegExp(`/[\\w-]{43}~${owner.id}/terraform-provider-demo_1.0.0_linux_amd64.zip$`),
      )
      const get = async (headers: Record<string, string> = {}, method = 'GET') => {
        const answer = await fetch(url, { method, headers })
        await answer.arrayBuffer()
        return answer
      }
      const whole = await get()
      const statuses = [
        await get({}, 'HEAD'),
        await get({ 'if-none-match': whole.headers.get('etag') as string }),
        await get({ range: 'bytes=0-9' }),
        await get({ range: 'bytes=10-' }),
        await get({ range: 'bytes=99999-' }),
      ].map(({ status }) => status)
      expect(statuses).toEqual([200, 304, 206, 206, 416])
      await expect
        .poll(() => counted({ owner, member: release.member }), { timeout: 5000 })
        .toEqual([2, 2, 0])
      expect((await fetch(url.replace(owner.id, 'user-somebodyElse'))).status).toBe(404)
      const metrics = await fetch(`${server.url}/metrics`, {
        headers: { authorization: `Bearer ${METRICS}` },
      })
      expect(await metrics.text()).toContain('plinth_registry_downloads_total{kind="provider"} 2')
    })

    test('are written down when the server stops, whatever was deleted meanwhile', async () => {
      const { organization, owner, member } = await released()
      expect(await download(owner, organization, 'arm64')).toBe(200)
      expect(await download(owner, organization)).toBe(200)
      expectStatus(await owner.delete(`${member}/platforms/linux/arm64`), 204)
      await server.restart()
      expect(await counted({ owner, member })).toEqual([1, 1])
    })

    test('of several servers add up, also when one of them could not write for a while', async () => {
      const { owner, member } = await released()
      const platformId = (await owner.get(member)).body.data.relationships.platforms.data[0].id
      const note = (ctx: Ctx) => {
        for (let each = 0; each < 50; each++) service.noteDownload(ctx, platformId, owner.id)
      }
      const broken = (ctx: Ctx): Ctx => {
        const { writes } = ctx.connection
        let attempts = 0
        const transaction = () => {
          if (attempts++ === 0) throw new Error('away')
          return writes.transaction()
        }
        return {
          ...ctx,
          connection: { ...ctx.connection, writes: Object.assign(Object.create(writes), { transaction }) },
        }
      }
      const work = (change: (ctx: Ctx) => Ctx) =>
        asSecondServer(server, async (plain) => {
          const ctx = change(plain)
          note(ctx)
          await service.writeDownloads(ctx)
          note(ctx)
          await service.writeDownloads(ctx)
        })
      await Promise.all([work((ctx) => ctx), work((ctx) => ctx), work(broken)])
      expect(await counted({ owner, member })).toEqual([300, 300, 0])
    })
  },
  { PLINTH_METRICS_TOKEN: METRICS },
)

onEachDialect('the consumers of a provider version', (server) => {
  const stateOf = (host: string, namespace: string) =>
    stateResource('it', ['a', 'b'], { provider: `provider["${host}/${namespace}/demo"]` })

  /** A version that a user, a team, the organization and a run downloaded, and that a workspace uses. */
  const consumed = async () => {
    const organization = await server.organization()
    const { owner, path, name } = organization
    const platforms = ['linux_amd64', 'linux_arm64']
    const release: PublishedRelease = await publish(organization, 'demo', '1.0.0', { platforms })
    const running = await newWorkspace(owner, path, { name: 'running' })
    const using = await newWorkspace(owner, path, { name: 'using' })
    await newWorkspace(owner, path, { name: 'idle' })
    await saveState(owner, using.id, {
      resources: [stateOf('plinth.example.com', name), stateResource('other')],
    })
    const team = await server.teamToken(organization)
    const whole = await server.organizationToken(organization)
    for (const client of [owner, owner, team, whole]) await download(client, organization)
    await download(owner, organization, 'arm64')
    await asSecondServer(server, async (ctx) => {
      const { id } = (await owner.get(`${release.path}/versions/1.0.0/platforms/linux/amd64`)).body.data
      for (const requestedBy of [running.id, undefined]) {
        const url = ctx.links.sign({ method: 'GET', kind: 'provider-binary', id, requestedBy }, ctx.now(), 60)
        expect((await fetch(server.url + new URL(url, server.url).pathname)).status).toBe(200)
      }
    })
    await server.restart()
    return {
      organization,
      owner,
      running,
      using,
      address: `${release.path}/versions/1.0.0/consumers`,
      release,
    }
  }

  test('are who downloaded it, and the workspaces whose state has the provider', async () => {
    const { organization, owner, running, using, address, release } = await consumed()
    const version = (await owner.get(`${release.path}/versions/1.0.0`)).body.data
    expect(version.attributes.downloads).toBe(7)
    expect(version.relationships.consumers).toEqual({ links: { related: address } })
    const { body } = expectStatus(await owner.get(address), 200)
    const moment = expect.stringMatching(/Z$/)
    expect(body.data).toHaveLength(6)
    expect(body.data).toContainEqual({
      id: owner.id,
      type: 'registry-provider-consumers',
      attributes: {
        kind: 'user',
        name: owner.username,
        downloads: 3,
        'last-downloaded-at': moment,
        resources: 0,
        platforms: [
          { os: 'linux', arch: 'amd64', downloads: 2, 'last-downloaded-at': moment },
          { os: 'linux', arch: 'arm64', downloads: 1, 'last-downloaded-at': moment },
        ],
      },
      relationships: { consumer: { data: { id: owner.id, type: 'users' } } },
    })
    const seen = body.data.map(
      ({ id, attributes, relationships }: { id: string; attributes: object; relationships: object }) => ({
        id,
        ...attributes,
        ...relationships,
      }),
    )
    const named = (name: string) => expect.objectContaining({ name })
    expect(seen).toContainEqual(
      expect.objectContaining({
        id: running.id,
        kind: 'workspace',
        name: 'running',
        downloads: 1,
        resources: 0,
        consumer: { data: { id: running.id, type: 'workspaces' } },
      }),
    )
    const unused = { downloads: 0, 'last-downloaded-at': null, platforms: [] }
    expect(seen.at(-1)).toEqual(
      expect.objectContaining({ id: using.id, kind: 'workspace', name: 'using', resources: 2, ...unused }),
    )
    expect(seen).toContainEqual(
      expect.objectContaining({
        kind: 'organization',
        name: organization.name,
        consumer: { data: { id: organization.name, type: 'organizations' } },
      }),
    )
    expect(seen).toContainEqual(
      expect.objectContaining({ id: 'unknown', kind: 'unknown', name: null, consumer: { data: null } }),
    )
    expect(seen).not.toContainEqual(named('idle'))
    expect(body.meta['hidden-workspaces']).toBe(0)

    const second = (await owner.get(`${address}?page[number]=2&page[size]=5`)).body
    expect(second.data).toEqual([body.data[5]])
    expect(second.meta.pagination).toMatchObject({ 'total-count': 6, 'prev-page': 1 })
    const beyond = (await owner.get(`${address}?page[number]=9`)).body
    expect(beyond).toMatchObject({ data: [], meta: { pagination: { 'total-count': 6 } } })
    expect((await owner.get(`${address}?page[size]=0`)).status).toBe(400)

    const manager = await server.member(organization, ['manage-providers'])
    const limited = expectStatus(await manager.get(address), 200).body
    expect(
      limited.data.map(({ attributes }: { attributes: { kind: string } }) => attributes.kind).sort(),
    ).toEqual(['organization', 'team', 'unknown', 'user'])
    expect(limited.meta).toMatchObject({ 'hidden-workspaces': 2, pagination: { 'total-count': 4 } })
  })

  test('are shown to those who manage the provider only', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const { path } = await publish(organization, 'demo', '1.0.0', { platforms: ['linux_amd64'] })
    const address = `${path}/versions/1.0.0/consumers`
    const { id } = (await owner.get(path)).body.data
    const limit = { 'registry-providers': { data: [{ id, type: 'registry-providers' }] } }
    const made = await owner.post(
      `/api/v2/users/${owner.id}/authentication-tokens`,
      document('authentication-tokens', { description: 'release' }, limit),
    )
    const pipeline = server.as(expectStatus(made, 201).body.data.attributes.token)
    const member = await server.member(organization)
    for (const client of [
      await server.user(),
      member,
      pipeline,
      await server.organizationToken(organization),
    ])
      expect((await client.get(address)).status).toBe(404)
    expect((await server.nobody.get(address)).status).toBe(401)
    expect((await owner.get(address.replace('1.0.0', '9.9.9'))).status).toBe(404)
    expect((await owner.get(address.replace('/private/', '/public/'))).status).toBe(403)
    const { relationships } = (await member.get(`${path}/versions/1.0.0`)).body.data
    expect(relationships).not.toHaveProperty('consumers')
  })

  test('are those of the runs of a workspace together', () => {
    const subject = {
      kind: 'run',
      id: 'run-1',
      workspaceId: 'ws-1',
      organizationId: 'org-1',
      tokenId: 'at-1',
    } as const
    expect(service.requesterOf({ subject })).toBe('ws-1')
  })
})
