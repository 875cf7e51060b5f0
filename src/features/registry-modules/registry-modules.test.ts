import { expect, test } from 'vitest'
import { expectStatus, onEachDialect, pointers, violations } from '../../../test/harness.ts'
import { createModule, createModuleVersion, publishModule } from '../../../test/modules.ts'
import { document } from '../../../test/resources.ts'

const body = (attributes: object) => document('registry-modules', attributes)

onEachDialect('modules', (server) => {
  test('are registered, shown, changed and deleted', async () => {
    const { name: organization, path, owner } = await server.organization()
    const created = await owner.post(`${path}/registry-modules`, body({ name: 'my_Vpc', provider: 'aws' }))
    expect(created.status).toBe(201)
    const member = `${path}/registry-modules/private/${organization}/my_Vpc/aws`
    expect(created.body.data).toEqual({
      id: expect.stringMatching(/^mod-/),
      type: 'registry-modules',
      attributes: {
        name: 'my_Vpc',
        namespace: organization,
        provider: 'aws',
        'registry-name': 'private',
        status: 'pending',
        'version-statuses': [],
        'no-code': false,
        'created-at': expect.any(String),
        'updated-at': expect.any(String),
        permissions: { 'can-delete': true, 'can-resync': false, 'can-retry': false },
      },
      relationships: {
        organization: { data: { id: organization, type: 'organizations' } },
        versions: { links: { related: `${member}/versions` } },
      },
      links: { self: member },
    })
    const { id } = created.body.data
    for (const address of [
      member,
      member.replace('my_Vpc', 'MY_VPC'),
      `/api/v2/registry-modules/${id}`,
      `/api/v2/registry-modules/show/${organization}/my_Vpc/aws`,
    ]) {
      expect((await owner.get(address)).body).toEqual(created.body)
    }
    await publishModule(owner, member, '1.9.0')
    await publishModule(owner, member, '1.10.0')
    await createModuleVersion(owner, member, '2.0.0-beta.1')
    const changed = await owner.patch(member, body({ 'no-code': true }))
    expect(changed.body.data).toMatchObject({
      id,
      attributes: {
        status: 'setup_complete',
        'no-code': true,
        'version-statuses': [
          { version: '2.0.0-beta.1', status: 'pending' },
          { version: '1.10.0', status: 'ok' },
          { version: '1.9.0', status: 'ok' },
        ],
      },
    })
    expect((await owner.patch(member, body({}))).body).toEqual(changed.body)
    expect((await owner.delete(member)).status).toBe(204)
    expect((await owner.get(member)).status).toBe(404)
    const trail = (
      await (
        await server.organizationToken({ name: organization, path, owner })
      ).get('/api/v2/organization/audit-trail')
    ).body.data
    const events = trail.map(
      ({ resource }: { resource: { type: string; action: string } }) => `${resource.type} ${resource.action}`,
    )
    expect(events).toEqual(
      expect.arrayContaining([
        'registry_module create',
        'registry_module update',
        'registry_module destroy',
        'registry_module_version create',
        'registry_module_version publish',
        'registry_module_version destroy',
      ]),
    )
  })

  test('come in pages, filtered and searched', async () => {
    const { name, path, owner } = await server.organization()
    const collection = `${path}/registry-modules`
    for (const [module, provider] of [
      ['vpc', 'aws'],
      ['vpc', 'google'],
      ['dns', 'aws'],
    ]) {
      expectStatus(await owner.post(collection, body({ name: module, provider })), 201)
    }
    const listed = async (query: string) => {
      const { data } = expectStatus(await owner.get(`${collection}?${query}`), 200).body
      return data.map(
        ({ attributes }: { attributes: { name: string; provider: string } }) =>
          `${attributes.name}/${attributes.provider}`,
      )
    }
    expect(await listed('')).toEqual(['dns/aws', 'vpc/aws', 'vpc/google'])
    expect(await listed('q=VP')).toEqual(['vpc/aws', 'vpc/google'])
    expect(await listed('q=goog')).toEqual(['vpc/google'])
    expect(await listed(`q=${name.slice(2)}`)).toHaveLength(3)
    expect(await listed('filter[provider]=aws')).toEqual(['dns/aws', 'vpc/aws'])
    expect(await listed('filter[registry_name]=public')).toEqual([])
    expect(await listed('filter[registry_name]=private&filter[organization_name]=none')).toEqual([])
    const second = await owner.get(`${collection}?page[size]=2&page[number]=2`)
    expect(second.body.data).toHaveLength(1)
    expect(second.body.meta.pagination).toMatchObject({ 'current-page': 2, 'total-count': 3 })
    expect((await owner.get(`${collection}?page[size]=2&page[number]=3`)).body.data).toEqual([])
  })

  test('are refused with every violation', async () => {
    const { path, owner } = await server.organization()
    const collection = `${path}/registry-modules`
    const refused = async (attributes: object) => {
      const answer = await owner.post(collection, body(attributes))
      expect(answer.status).toBe(422)
      return pointers(answer)
    }
    expect(await refused({})).toEqual(['/data/attributes/name', '/data/attributes/provider'])
    expect(await refused({ name: '_a', provider: 'AWS', 'registry-name': 'mine', 'no-code': 'x' })).toEqual([
      '/data/attributes/name',
      '/data/attributes/no-code',
      '/data/attributes/provider',
      '/data/attributes/registry-name',
    ])
    for (const name of ['a-', 'a b', 'a.b', 'a'.repeat(65)]) {
      expect(await refused({ name, provider: 'aws' })).toEqual(['/data/attributes/name'])
    }
    for (const provider of ['my_sys', 'a-b', 'a'.repeat(65)]) {
      expect(await refused({ name: 'vpc', provider })).toEqual(['/data/attributes/provider'])
    }
    expect(await refused({ name: 'vpc', provider: 'aws', namespace: 'other' })).toEqual([
      '/data/attributes/namespace',
    ])
    expectStatus(await owner.post(collection, body({ name: 'vpc', provider: 'aws' })), 201)
    const taken = await owner.post(collection, body({ name: 'VPC', provider: 'aws' }))
    expect(violations(taken)).toEqual([
      { pointer: '/data/attributes/name', detail: 'Name has already been taken for this provider' },
    ])
    const odd = await server.organization(`odd_${Date.now()}_`)
    expect(
      violations(
        await odd.owner.post(`${odd.path}/registry-modules`, body({ name: 'vpc', provider: 'aws' })),
      ),
    ).toEqual([
      { pointer: '/data/attributes/namespace', detail: expect.stringContaining('terraform accepts') },
    ])
    expect((await owner.post(collection, 'no json')).status).toBe(400)
    expect((await owner.send('POST', collection, '{}', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await server.nobody.post(collection, 'no json')).status).toBe(401)
    const stranger = await server.user()
    expect((await stranger.post(collection, 'no json')).status).toBe(404)
  })

  test('race: of many at once one is made', async () => {
    const { path, owner } = await server.organization()
    const answers = await Promise.all(
      ['vpc', 'VPC', 'Vpc'].map((name) =>
        owner.post(`${path}/registry-modules`, body({ name, provider: 'aws' })),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422])
  })

  test('go for one system, or for all of them, also by the older addresses', async () => {
    const organization = await server.organization()
    const { name, path, owner } = organization
    const named = `${path}/registry-modules/private/${name}`
    const make = async () => {
      for (const provider of ['aws', 'google', 'null']) {
        expectStatus(await owner.post(`${path}/registry-modules`, body({ name: 'vpc', provider })), 201)
      }
    }
    const left = async () =>
      (await owner.get(`${path}/registry-modules`)).body.data.map(
        ({ attributes }: { attributes: { provider: string } }) => attributes.provider,
      )
    const older = `/api/v2/registry-modules/actions/delete/${name}/vpc`
    await make()
    expectStatus(await owner.delete(`${named}/vpc/google`), 204)
    expect(await left()).toEqual(['aws', 'null'])
    expectStatus(await owner.post(`${older}/null`), 204)
    expect(await left()).toEqual(['aws'])
    expectStatus(await owner.delete(`${named}/vpc`), 204)
    expect(await left()).toEqual([])
    expectStatus(await owner.delete(`${named}/vpc`), 404)
    await make()
    expectStatus(await owner.post(older), 204)
    expect(await left()).toEqual([])
    expectStatus(await owner.post(older), 404)
  })

  test('are managed by those who may', async () => {
    const organization = await server.organization()
    const path = await createModule(organization)
    const member = await server.member(organization)
    const manager = await server.member(organization, ['manage-modules'])
    const { permissions } = (await member.get(path)).body.data.attributes
    expect(permissions['can-delete']).toBe(false)
    expect((await member.delete(path)).status).toBe(404)
    expect((await member.patch(path, body({ 'no-code': true }))).status).toBe(404)
    const stranger = await server.user()
    for (const address of [path, `${path}/versions`, `${organization.path}/registry-modules`]) {
      expect((await stranger.get(address)).status).toBe(404)
    }
    expect((await manager.patch(path, body({ 'no-code': true }))).status).toBe(200)
    expect((await manager.delete(path)).status).toBe(204)
    for (const address of [`private/none/vpc/aws`, `other/${organization.name}/vpc/aws`]) {
      expect((await manager.get(`${organization.path}/registry-modules/${address}`)).status).toBe(404)
    }
  })

  test('of the public registry are not served', async () => {
    const { path, owner } = await server.organization()
    const attributes = { name: 'vpc', provider: 'aws', namespace: 'tfm', 'registry-name': 'public' }
    expect((await owner.post(`${path}/registry-modules`, body(attributes))).status).toBe(403)
    const member = `${path}/registry-modules/public/tfm/vpc/aws`
    expect((await owner.get(member)).status).toBe(403)
    expect(
      (await owner.post(`${member}/versions`, document('registry-module-versions', { version: '1.0.0' })))
        .status,
    ).toBe(403)
    expect((await (await server.user()).get(member)).status).toBe(404)
  })
})

onEachDialect(
  'public modules',
  (server) => {
    test('are kept as pointers where that is switched on', async () => {
      const { path, owner } = await server.organization()
      const attributes = { name: 'vpc', provider: 'aws', namespace: 'tfm', 'registry-name': 'public' }
      const { namespace: _none, ...without } = attributes
      expect(pointers(await owner.post(`${path}/registry-modules`, body(without)))).toEqual([
        '/data/attributes/namespace',
      ])
      const created = await owner.post(`${path}/registry-modules`, body(attributes))
      expect(created.status).toBe(201)
      expect(created.body.data.attributes).toMatchObject({ ...attributes, status: 'setup_complete' })
      const member = `${path}/registry-modules/public/tfm/vpc/aws`
      expect((await owner.get(member)).body).toEqual(created.body)
      expect(
        (await owner.post(`${member}/versions`, document('registry-module-versions', { version: '1.0.0' })))
          .status,
      ).toBe(403)
      expect((await owner.delete(`${path}/registry-modules/public/tfm/vpc`)).status).toBe(204)
      expect((await owner.get(member)).status).toBe(404)
    })
  },
  { PLINTH_PUBLIC_PROVIDER_CURATION: 'on' },
)
