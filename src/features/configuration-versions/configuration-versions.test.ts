import { expect, test } from 'vitest'
import { expectStatus, onEachDialect, pointers, type TestOrganization } from '../../../test/harness.ts'
import { asSecondServer } from '../../../test/jobs.ts'
import { put, sha256 } from '../../../test/registry.ts'
import { document, newWorkspace } from '../../../test/resources.ts'
import { uploadConfiguration } from '../../../test/runs.ts'
import { makeSlug, newConfigurationVersion } from '../../../test/slugs.ts'
import * as service from './service.ts'

const body = (attributes: object) => document('configuration-versions', attributes)

onEachDialect('configuration versions', (server) => {
  const inWorkspace = async (organization?: TestOrganization) => {
    const { owner, path, name } = organization ?? (await server.organization())
    const { id } = await newWorkspace(owner, path)
    return { owner, path, name, workspaceId: id, list: `/api/v2/workspaces/${id}/configuration-versions` }
  }

  test('are made, and tell where their archive goes only then', async () => {
    const { owner, list } = await inWorkspace()
    const created = expectStatus(await owner.post(list, body({})), 201).body.data
    expect(created).toEqual({
      id: expect.stringMatching(/^cv-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: 'configuration-versions',
      attributes: {
        'auto-queue-runs': true,
        error: null,
        'error-message': null,
        source: 'tfe-api',
        speculative: false,
        provisional: false,
        status: 'pending',
        'status-timestamps': {},
        'upload-url': expect.stringMatching(`^${server.url}/storage/configuration-versions/${created.id}/`),
      },
      relationships: {
        'created-by': { data: { id: owner.id, type: 'users' } },
        'ingress-attributes': { data: null },
      },
      links: { self: `/api/v2/configuration-versions/${created.id}` },
    })
    const { 'upload-url': _, ...attributes } = created.attributes
    const shown = await owner.get(created.links.self)
    expect(shown.body.data).toEqual({ ...created, attributes })
    expect((await owner.get(list)).body.data).toEqual([{ ...created, attributes }])
    expect((await owner.get(`${created.links.self}/download`)).status).toBe(404)
  })

  test('are what the CLI asks for', async () => {
    const { owner, list } = await inWorkspace()
    const wanted = { 'auto-queue-runs': false, speculative: true, provisional: true }
    const created = await owner.send('POST', list, body(wanted), { 'x-terraform-integration': 'cloud' })
    expect(created.body.data.attributes).toMatchObject({ ...wanted, source: 'terraform+cloud' })
    const nulls = await owner.post(list, body({ 'auto-queue-runs': null, speculative: null }))
    expect(nulls.body.data.attributes).toMatchObject({ 'auto-queue-runs': true, speculative: false })
  })

  test('take an archive once, and give it to whoever may read runs', async () => {
    const { owner, path, name, workspaceId } = await inWorkspace()
    const { id, links, attributes } = await newConfigurationVersion(owner, workspaceId)
    const slug = await makeSlug({
      'main.tf': 'resource "terraform_data" "a" {}\n',
      'modules/x/main.tf': '',
    })
    expect(await put(attributes['upload-url'], slug)).toMatchObject({ status: 200, text: '' })
    const uploaded = (await owner.get(links.self)).body.data
    expect(uploaded.attributes).toMatchObject({
      status: 'uploaded',
      'status-timestamps': { 'uploaded-at': expect.stringMatching(/^\d{4}-.*Z$/) },
    })
    expect(uploaded.links.download).toBe(`${links.self}/download`)

    const reader = await server.member({ path, owner, name }, ['read-workspaces'])
    const redirect = await reader.get(uploaded.links.download)
    expect(redirect.status).toBe(302)
    const download = await fetch(redirect.headers.get('location') as string)
    expect(download.headers.get('content-type')).toBe('application/gzip')
    expect(Buffer.from(await download.arrayBuffer()).equals(slug)).toBe(true)

    expect((await put(attributes['upload-url'], slug)).status).toBe(200)
    const other = await put(attributes['upload-url'], await makeSlug({ 'other.tf': '' }))
    expect(other).toMatchObject({ status: 409, body: { errors: [{ title: 'conflict' }] } })
    expect((await put(attributes['upload-url'], 'no archive at all')).status).toBe(409)
    expect((await owner.get(links.self)).body.data.attributes.status).toBe('uploaded')
    await asSecondServer(server, async (ctx) => {
      const stored = await (await ctx.blobs.read(`configuration-versions/${id}`)).toArray()
      expect(Buffer.concat(stored).subarray(0, 6).toString()).toBe('PLSEAL')
      const opened = await service.open(ctx, id)
      expect(sha256(Buffer.concat((await opened?.toArray()) ?? []))).toBe(sha256(slug))
    })
  })

  test('race: of several archives at once exactly one wins', async () => {
    const { owner, workspaceId } = await inWorkspace()
    const { attributes, links } = await newConfigurationVersion(owner, workspaceId)
    const slugs = await Promise.all([1, 2, 3, 4, 5].map((n) => makeSlug({ 'main.tf': `# ${n}` })))
    const answers = await Promise.all(slugs.map((slug) => put(attributes['upload-url'], slug)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409])
    const winner = slugs[answers.findIndex(({ status }) => status === 200)] as Buffer
    const redirect = await owner.get(`${links.self}/download`)
    const download = await fetch(redirect.headers.get('location') as string)
    expect(Buffer.from(await download.arrayBuffer()).equals(winner)).toBe(true)
  })

  test('take an empty archive, as a destroy without a configuration sends it', async () => {
    const { owner, workspaceId } = await inWorkspace()
    const id = await uploadConfiguration(owner, workspaceId, {})
    const { status } = (await owner.get(`/api/v2/configuration-versions/${id}`)).body.data.attributes
    expect(status).toBe('uploaded')
  })

  test('come in pages, the newest first', async () => {
    const { owner, workspaceId, list } = await inWorkspace()
    const ids: string[] = []
    for (let made = 0; made < 3; made += 1)
      ids.unshift((await newConfigurationVersion(owner, workspaceId)).id)
    const idsOf = (answer: { body: { data: { id: string }[] } }) => answer.body.data.map(({ id }) => id)
    expect(idsOf(await owner.get(list))).toEqual(ids)
    const second = await owner.get(`${list}?page[number]=2&page[size]=2&include=ingress_attributes`)
    expect(idsOf(second)).toEqual([ids[2]])
    expect(second.body.meta.pagination).toMatchObject({
      'total-count': 3,
      'prev-page': 1,
      'next-page': null,
    })
    const beyond = await owner.get(`${list}?page[number]=999&page[size]=100`)
    expect(beyond.body).toMatchObject({
      data: [],
      meta: { pagination: { 'current-page': 999, 'total-count': 3 } },
    })
    expect((await owner.get(`${list}?include=nonsense`)).status).toBe(400)
    const withMaker = await owner.get(`/api/v2/configuration-versions/${ids[0]}?include=created_by,run`)
    expect(withMaker.body.included).toMatchObject([{ id: owner.id, type: 'users' }])
  })

  test('are checked in order, and refused with pointers', async () => {
    const { owner, list } = await inWorkspace()
    const none = '/api/v2/workspaces/ws-none/configuration-versions'
    expect((await server.nobody.post(none, {})).status).toBe(401)
    expect((await owner.post(none, {})).status).toBe(404)
    expect(
      (await (await server.user()).send('POST', list, 'x', { 'content-type': 'text/plain' })).status,
    ).toBe(404)
    expect((await owner.send('POST', list, '{}', { 'content-type': 'application/json' })).status).toBe(415)
    expect((await owner.send('POST', list, '{')).status).toBe(400)
    const wrong = await owner.post(list, {
      data: { type: 'runs', attributes: { 'auto-queue-runs': 'yes', speculative: 1, provisional: {} } },
    })
    expect([wrong.status, pointers(wrong)]).toEqual([
      422,
      [
        '/data/attributes/auto-queue-runs',
        '/data/attributes/provisional',
        '/data/attributes/speculative',
        '/data/type',
      ],
    ])
  })

  test('are made by people and teams who may queue runs, and by nobody else', async () => {
    const organization = await server.organization()
    const { owner, workspaceId, list } = await inWorkspace(organization)
    const id = await uploadConfiguration(owner, workspaceId)
    const member = `/api/v2/configuration-versions/${id}`
    const reader = await server.member(organization, ['read-workspaces'])
    expect((await reader.get(list)).status).toBe(200)
    expect((await reader.post(list, body({}))).status).toBe(404)
    expect((await reader.post(`${member}/actions/archive`)).status).toBe(404)
    expect((await (await server.organizationToken(organization)).post(list, body({}))).status).toBe(404)
    const team = await server.teamToken(organization, ['manage-workspaces'])
    const made = expectStatus(await team.post(list, body({})), 201).body.data
    const account = (await team.get('/api/v2/account/details')).body.data.id
    expect(made.relationships['created-by'].data).toEqual({ id: account, type: 'users' })
    for (const who of [await server.user(), await server.member(organization)]) {
      for (const path of [list, member, `${member}/download`]) expect((await who.get(path)).status).toBe(404)
      for (const action of ['archive', 'soft_delete_backing_data', 'restore_backing_data'])
        expect((await who.post(`${member}/actions/${action}`)).status).toBe(404)
    }
  })

  test('are archived, but not the current one, and not before their archive has come', async () => {
    const { owner, workspaceId } = await inWorkspace()
    const archive = (id: string) => owner.post(`/api/v2/configuration-versions/${id}/actions/archive`)
    const first = await uploadConfiguration(owner, workspaceId)
    const refused = await archive(first)
    expect(refused).toMatchObject({ status: 409 })
    expect(refused.body.errors[0].detail).toBe(
      'transition not allowed: configuration could not be archived because it is current',
    )
    // Neither of these is the current one.
    const others = [
      await uploadConfiguration(owner, workspaceId, undefined, { speculative: true }),
      await uploadConfiguration(owner, workspaceId, undefined, { provisional: true }),
    ]
    expect((await archive(first)).status).toBe(409)
    for (const id of others) expect(await archive(id)).toMatchObject({ status: 202, text: '' })
    const { id: pending } = await newConfigurationVersion(owner, workspaceId)
    expect((await archive(pending)).body.errors[0].detail).toContain('transition not allowed')
    expect((await archive(first)).status).toBe(409)

    await uploadConfiguration(owner, workspaceId)
    expect((await archive(first)).status).toBe(202)
    const shown = (await owner.get(`/api/v2/configuration-versions/${first}`)).body.data
    expect(shown.attributes).toMatchObject({
      status: 'archived',
      'status-timestamps': { 'uploaded-at': expect.any(String), 'archived-at': expect.any(String) },
    })
    expect(shown.links.download).toBeUndefined()
    expect((await owner.get(`/api/v2/configuration-versions/${first}/download`)).status).toBe(404)
    expect((await archive(first)).status).toBe(409)
    await asSecondServer(server, async ({ blobs }) => {
      await expect(blobs.read(`configuration-versions/${first}`)).rejects.toThrow()
    })
  })

  test('lose their archive in two steps, of which the first can be undone', async () => {
    const { owner, workspaceId } = await inWorkspace()
    const id = await uploadConfiguration(owner, workspaceId)
    const member = `/api/v2/configuration-versions/${id}`
    const act = (action: string) => owner.post(`${member}/actions/${action}_backing_data`)
    const found = async () => (await owner.get(`${member}/download`)).status
    expect((await act('soft_delete')).status).toBe(409)
    await uploadConfiguration(owner, workspaceId)
    expect((await act('permanently_delete')).status).toBe(409)

    const redirect = await owner.get(`${member}/download`)
    const deleted = await act('soft_delete')
    expect(deleted.body.data.attributes.status).toBe('backing_data_soft_deleted')
    expect([await found(), (await act('soft_delete')).status]).toEqual([404, 409])
    expect((await fetch(redirect.headers.get('location') as string)).status).toBe(404)
    expect((await act('restore')).body.data.attributes.status).toBe('uploaded')
    expect([await found(), (await act('restore')).status]).toEqual([302, 409])

    await act('soft_delete')
    const gone = await act('permanently_delete')
    expect(gone.body.data.attributes.status).toBe('backing_data_permanently_deleted')
    const refused = await act('restore')
    expect([refused.status, refused.body.errors[0].detail]).toEqual([
      409,
      'transition not allowed: the configuration version is backing_data_permanently_deleted',
    ])
    expect(await found()).toBe(404)
    const { id: pending } = await newConfigurationVersion(owner, workspaceId)
    const early = await owner.post(`/api/v2/configuration-versions/${pending}/actions/restore_backing_data`)
    expect(early.status).toBe(409)
  })

  test('go with their workspace', async () => {
    const { owner, workspaceId } = await inWorkspace()
    const { id, attributes } = await newConfigurationVersion(owner, workspaceId)
    const uploaded = await uploadConfiguration(owner, workspaceId)
    expect((await owner.delete(`/api/v2/workspaces/${workspaceId}`)).status).toBe(204)
    for (const gone of [id, uploaded])
      expect((await owner.get(`/api/v2/configuration-versions/${gone}`)).status).toBe(404)
    expect((await put(attributes['upload-url'], await makeSlug())).status).toBe(404)
  })
})
