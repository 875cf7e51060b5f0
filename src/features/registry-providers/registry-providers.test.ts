import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Client, expectStatus, onEachDialect, pointers, violations } from '../../../test/harness.ts'
import { createProvider, publish, put } from '../../../test/registry.ts'

const body = (attributes: object) => ({ data: { type: 'registry-providers', attributes } })
const names = (answer: { body: { data: { attributes: { name: string } }[] } }) =>
  answer.body.data.map((item) => item.attributes.name)

onEachDialect('registry providers', (server) => {
  const create = (owner: Client, path: string, attributes: object) =>
    owner.post(`${path}/registry-providers`, body(attributes))

  test('are created, shown, listed and deleted', async () => {
    const { owner, path, name: namespace } = await server.organization()
    const created = await create(owner, path, { name: 'aws', namespace, 'registry-name': 'private' })
    expect(created.status).toBe(201)
    const self = `${path}/registry-providers/private/${namespace}/aws`
    expect(created.body.data).toEqual({
      id: expect.stringMatching(/^prov-\w{16}$/),
      type: 'registry-providers',
      attributes: {
        name: 'aws',
        namespace,
        'registry-name': 'private',
        'created-at': expect.stringMatching(/\.\d{3}Z$/),
        'updated-at': expect.stringMatching(/\.\d{3}Z$/),
        permissions: { 'can-delete': true },
      },
      relationships: {
        organization: { data: { id: namespace, type: 'organizations' } },
        versions: { links: { related: `${self}/versions` } },
      },
      links: { self },
    })
    for (const address of [
      self,
      self
        .toUpperCase()
        .replace('/API/V2/ORGANIZATIONS', '/api/v2/organizations')
        .replace('/REGISTRY-PROVIDERS/PRIVATE', '/registry-providers/private'),
      `/api/v2/registry-providers/${created.body.data.id}`,
    ]) {
      expect((await owner.get(address)).body).toEqual(created.body)
    }
    expect((await owner.get(`${path}/registry-providers`)).body.data).toEqual([created.body.data])
    expect((await owner.delete(self)).status).toBe(204)
    expect((await owner.delete(self)).status).toBe(404)
    expect((await owner.get(self)).status).toBe(404)
  })

  test('are listed by name in pages, with a filter and a search', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    for (const name of ['charlie', 'alpha', 'bravo']) await createProvider(organization, name)
    const list = `${path}/registry-providers`
    expect(names(await owner.get(list))).toEqual(['alpha', 'bravo', 'charlie'])
    const second = await owner.get(`${list}?page[number]=2&page[size]=2`)
    expect(names(second)).toEqual(['charlie'])
    expect(second.body.meta.pagination).toMatchObject({ 'total-count': 3, 'prev-page': 1, 'next-page': null })
    expect((await owner.get(`${list}?page[number]=7`)).body.data).toEqual([])
    expect(names(await owner.get(`${list}?q=RAV`))).toEqual(['bravo'])
    expect(names(await owner.get(`${list}?q=%25`))).toEqual([])
    expect(names(await owner.get(`${list}?filter[registry_name]=public`))).toEqual([])
    expect(
      names(await owner.get(`${list}?filter[registry_name]=private&filter[organization_name]=x`)),
    ).toHaveLength(3)
  })

  test('are refused with every violation and its pointer', async () => {
    const organization = await server.organization()
    const { owner, path, name: namespace } = organization
    expect(pointers(await create(owner, path, {}))).toEqual([
      '/data/attributes/name',
      '/data/attributes/namespace',
      '/data/attributes/registry-name',
    ])
    const wrong = await create(owner, path, { name: '../x', namespace: 7, 'registry-name': 'other' })
    expect(pointers(wrong)).toHaveLength(3)
    for (const name of ['my_provider', 'a--b', '-a', 'a-', 'terraform-provider-x', 'terraform-x']) {
      const answer = await create(owner, path, { name, namespace: 'elsewhere', 'registry-name': 'private' })
      expect([name, answer.status, pointers(answer)]).toEqual([
        name,
        422,
        ['/data/attributes/name', '/data/attributes/namespace'],
      ])
    }
    await createProvider(organization, 'taken')
    const duplicate = await create(owner, path, { name: 'TAKEN', namespace, 'registry-name': 'private' })
    expect(violations(duplicate)).toEqual([
      { pointer: '/data/attributes/name', detail: 'Name has already been taken' },
    ])
    const unaddressable = await server.organization(`under_${namespace.slice(4)}`)
    const refused = await create(unaddressable.owner, unaddressable.path, {
      name: 'fine',
      namespace: unaddressable.name,
      'registry-name': 'private',
    })
    expect(pointers(refused)).toEqual(['/data/attributes/namespace'])
  })

  test('take their versions and files with them', async () => {
    const organization = await server.organization()
    const { path } = await publish(organization, 'whole', '1.0.0')
    const { owner } = organization
    const { links } = (await owner.get(`${path}/versions/1.0.0`)).body.data
    expect((await fetch(links['shasums-download'])).status).toBe(200)
    expect((await owner.delete(path)).status).toBe(204)
    expect((await fetch(links['shasums-download'])).status).toBe(404)
    expect((await put(links['shasums-download'], 'x')).status).toBe(404)
  })

  test('leave no files behind when their organization is deleted', async () => {
    const organization = await server.organization()
    const { path } = await publish(organization, 'whole', '1.0.0')
    const { id } = (await organization.owner.get(`${path}/versions/1.0.0`)).body.data
    const files = join(server.dataDir, 'blobs', 'providers', id)
    expect(readdirSync(files)).toHaveLength(2)
    expectStatus(await organization.owner.delete(organization.path), 204)
    expect(readdirSync(files)).toEqual([])
  })

  test('of the public registry are not served while curation is off', async () => {
    const { owner, path } = await server.organization()
    const attributes = { name: 'aws', namespace: 'hashicorp', 'registry-name': 'public' }
    const address = `${path}/registry-providers/public/hashicorp/aws`
    const platform = `${address}/versions/1.0.0/platforms`
    for (const answer of [
      await create(owner, path, attributes),
      await owner.get(address),
      await owner.delete(address),
      await owner.get(`${address}/versions`),
      await owner.get(`${address}/versions/1.0.0`),
      await owner.post(`${address}/versions`, {}),
      await owner.delete(`${address}/versions/1.0.0`),
      await owner.get(platform),
      await owner.post(platform, {}),
      await owner.get(`${platform}/linux/amd64`),
      await owner.delete(`${platform}/linux/amd64`),
    ]) {
      expect(answer).toMatchObject({ status: 403, body: { errors: [{ status: '403', title: 'forbidden' }] } })
    }
    const stranger = await server.user()
    expect((await stranger.get(address)).status).toBe(404)
    expect((await owner.get(address.replace('/public/', '/other/'))).status).toBe(404)
  })

  test('do not exist for strangers', async () => {
    const organization = await server.organization()
    const address = await createProvider(organization, 'secret')
    const { id } = (await organization.owner.get(address)).body.data
    const stranger = await server.user()
    for (const answer of [
      await stranger.get(address),
      await stranger.get(`/api/v2/registry-providers/${id}`),
      await stranger.get(`${organization.path}/registry-providers`),
      await create(stranger, organization.path, {}),
      await stranger.delete(address),
    ]) {
      expect(answer.status).toBe(404)
    }
  })

  test('race: of simultaneous creates exactly one wins', async () => {
    const { owner, path, name: namespace } = await server.organization()
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        create(owner, path, { name: 'race', namespace, 'registry-name': 'private' }),
      ),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(5).fill(422)])
  })
})

onEachDialect(
  'public provider curation',
  (server) => {
    test('keeps pointers to public providers, which have no versions of their own', async () => {
      const { owner, path } = await server.organization()
      const attributes = { name: 'aws', namespace: 'hashicorp', 'registry-name': 'public' }
      const created = expectStatus(await create(owner, path, attributes), 201)
      const address = `${path}/registry-providers/public/hashicorp/aws`
      expect((await owner.get(address)).body).toEqual(created.body)
      expect(created.body.data.relationships).toEqual({
        organization: { data: { id: expect.any(String), type: 'organizations' } },
      })
      expect(names(await owner.get(`${path}/registry-providers?filter[registry_name]=public`))).toEqual([
        'aws',
      ])
      expect((await owner.get(`${address}/versions`)).body.data).toEqual([])
      expect((await owner.get(`${address}/versions/1.0.0`)).status).toBe(404)
      expect((await owner.delete(`${address}/versions/1.0.0`)).status).toBe(404)
      expect((await owner.post(`${address}/versions`, {})).status).toBe(403)
      expect(pointers(await create(owner, path, attributes))).toEqual(['/data/attributes/name'])
      expect((await owner.delete(address)).status).toBe(204)
    })

    const create = (owner: Client, path: string, attributes: object) =>
      owner.post(`${path}/registry-providers`, body(attributes))
  },
  { PLINTH_PUBLIC_PROVIDER_CURATION: 'on' },
)
