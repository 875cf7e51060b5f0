import { expect, test } from 'vitest'
import { expectStatus, onEachDialect, type TestServer, violations } from '../../../test/harness.ts'
import { document, newWorkspace } from '../../../test/resources.ts'
import {
  announcement,
  announceState,
  base64,
  lock,
  md5,
  postState,
  put,
  rawState,
  saveState,
  stateResource,
  unlock,
} from '../../../test/states.ts'

const OUTPUTS = {
  address: { value: '10.0.0.1', type: 'string' },
  password: { value: 'hunter2', type: 'string', sensitive: true },
  zones: { value: ['a', 'b'], type: ['list', 'string'] },
}

async function prepare(server: TestServer) {
  const organization = await server.organization()
  const { owner } = organization
  const workspace = await newWorkspace(owner, organization.path)
  return { ...organization, workspace, at: `/api/v2/workspaces/${workspace.id}` }
}

onEachDialect('state versions', (server) => {
  test('are saved with the request, and tell what is in them', async () => {
    const { owner, workspace, at } = await prepare(server)
    await lock(owner, workspace.id)
    const raw = rawState({
      serial: 3,
      outputs: OUTPUTS,
      resources: [stateResource('one'), stateResource('many', [0, 1], { module: 'module.net["a"]' })],
    })
    const answer = await postState(owner, workspace.id, raw, { 'json-state': base64('{"values":{}}') })
    expect(answer).toMatchObject({ status: 201 })
    expect(answer.headers.get('x-terraform-snapshot-interval')).toBe('30')
    const { data } = answer.body
    expect(data).toEqual({
      id: expect.stringMatching(/^sv-/),
      type: 'state-versions',
      attributes: {
        'created-at': expect.stringMatching(/Z$/),
        serial: 3,
        size: Buffer.byteLength(raw),
        status: 'finalized',
        intermediate: false,
        'state-version': 4,
        'terraform-version': '1.9.8',
        'resources-processed': true,
        modules: { root: { 'terraform-data': 1 }, 'module.net["a"]': { 'terraform-data': 2 } },
        providers: { 'provider["terraform.io/builtin/terraform"]': { 'terraform-data': 3 } },
        resources: [
          { name: 'one', type: 'terraform_data', count: 1, module: 'root', provider: expect.any(String) },
          {
            name: 'many',
            type: 'terraform_data',
            count: 2,
            module: 'module.net["a"]',
            provider: expect.any(String),
          },
        ],
        'hosted-state-download-url': expect.stringContaining('/storage/state-versions/'),
        'hosted-json-state-download-url': expect.stringContaining('/storage/json-state-versions/'),
        'hosted-state-upload-url': expect.any(String),
        'hosted-json-state-upload-url': expect.any(String),
        'vcs-commit-sha': null,
        'vcs-commit-url': null,
        'billable-rum-count': 3,
      },
      relationships: {
        workspace: { data: { id: workspace.id, type: 'workspaces' } },
        run: { data: null },
        'created-by': { data: { id: owner.id, type: 'users' } },
        outputs: { data: [expect.anything(), expect.anything(), expect.anything()] },
        'rollback-state-version': { data: null },
      },
      links: { self: `/api/v2/state-versions/${data.id}` },
    })
    expect(await (await fetch(data.attributes['hosted-state-download-url'])).text()).toBe(raw)
    expect(await (await fetch(data.attributes['hosted-json-state-download-url'])).text()).toBe(
      '{"values":{}}',
    )

    const shown = expectStatus(
      await owner.get(`/api/v2/state-versions/${data.id}?include=outputs,created_by`),
      200,
    ).body
    expect(shown.data.attributes).toMatchObject({ 'hosted-state-upload-url': null, status: 'finalized' })
    expect(shown.included.map(({ attributes }: { attributes: object }) => attributes)).toEqual(
      expect.arrayContaining([
        { name: 'address', sensitive: false, type: 'string', value: '10.0.0.1', 'detailed-type': 'string' },
        { name: 'password', sensitive: true, type: 'string', value: null, 'detailed-type': 'string' },
      ]),
    )
    const current = await owner.get(`${at}/current-state-version`)
    expect(current.body.data.id).toBe(data.id)
    expect(current.headers.get('x-terraform-snapshot-interval')).toBe('30')
  })

  test('are saved by uploads', async () => {
    const { owner, workspace, at } = await prepare(server)
    await lock(owner, workspace.id)
    const raw = rawState({ outputs: OUTPUTS })
    const announced = { big: { sensitive: true, type: ['tuple', ['number']], value: [1] } }
    const created = await announceState(owner, workspace.id, raw, {
      'json-state-outputs': base64(JSON.stringify(announced)),
    })
    const { id, attributes } = expectStatus(created, 201).body.data
    expect(attributes).toMatchObject({
      status: 'pending',
      size: 0,
      'hosted-state-download-url': null,
      resources: null,
    })
    const none = await owner.get(`${at}/current-state-version`)
    expect([none.status, none.headers.get('x-terraform-snapshot-interval')]).toEqual([404, '30'])

    const json = put(attributes['hosted-json-state-upload-url'], '{}')
    const uploads = await Promise.all([put(attributes['hosted-state-upload-url'], raw), json])
    expect(uploads.map(({ status }) => status)).toEqual([200, 200])
    const shown = expectStatus(await owner.get(`/api/v2/state-versions/${id}`), 200).body.data
    expect(shown.attributes).toMatchObject({
      status: 'finalized',
      size: Buffer.byteLength(raw),
      'hosted-json-state-download-url': expect.any(String),
    })
    const outputs = (await owner.get(`/api/v2/state-versions/${id}/outputs`)).body.data
    expect(outputs).toMatchObject([
      { attributes: { name: 'big', type: 'array', 'detailed-type': ['tuple', ['number']] } },
    ])
    expect(await (await fetch(shown.attributes['hosted-state-download-url'])).text()).toBe(raw)

    // The same bytes again are the same upload; others are not.
    expect((await put(attributes['hosted-state-upload-url'], raw)).status).toBe(200)
    expect((await put(attributes['hosted-state-upload-url'], rawState({ serial: 9 }))).status).toBe(412)
    expect((await put(attributes['hosted-json-state-upload-url'], '{"other":1}')).status).toBe(409)
    expect((await unlock(owner, workspace.id)).status).toBe(200)
  })

  test('are refused for what they are not', async () => {
    const { owner, workspace, at } = await prepare(server)
    await lock(owner, workspace.id)
    const post = (attributes: object, relationships?: object) =>
      owner.post(`${at}/state-versions`, document('state-versions', attributes, relationships))
    expect(violations(await post({ md5: 'x' })).map(({ pointer }) => pointer)).toEqual([
      '/data/attributes/md5',
      '/data/attributes/serial',
    ])
    const raw = rawState()
    expect(await postState(owner, workspace.id, raw, { md5: md5('x') })).toMatchObject({ status: 412 })
    const notJson = { serial: 1, md5: md5('x'), state: base64('x') }
    expect(await post(notJson)).toMatchObject({ status: 422 })
    expect(violations(await post({ ...notJson, state: '%%' }))).toEqual([
      { pointer: '/data/attributes/state', detail: 'State must be base64' },
    ])
    const outputs = { ...announcement(raw), 'json-state-outputs': base64('[]') }
    expect(violations(await post(outputs))).toMatchObject([
      { pointer: '/data/attributes/json-state-outputs' },
    ])
    const run = { run: { data: { type: 'runs', id: 'run-CZcmD7eagjhyX0vN' } } }
    expect(violations(await post(announcement(raw), run))).toMatchObject([
      { pointer: '/data/relationships/run/data/id' },
    ])
    expect(await owner.get(`${at}/current-state-version`)).toMatchObject({ status: 404 })
  })

  test('are listed by workspace, newest first, by pages and status', async () => {
    const { owner, workspace, name } = await prepare(server)
    await lock(owner, workspace.id)
    for (const serial of [1, 2, 3]) await postState(owner, workspace.id, rawState({ serial }))
    await announceState(owner, workspace.id, rawState({ serial: 4 }))
    const list = (query: string) =>
      owner.get(
        `/api/v2/state-versions?filter[organization][name]=${name}&filter[workspace][name]=${workspace.attributes.name}${query}`,
      )
    const serials = async (query: string) =>
      (await list(query)).body.data.map(
        ({ attributes }: { attributes: { serial: number } }) => attributes.serial,
      )
    expect(await serials('')).toEqual([4, 3, 2, 1])
    expect(await serials('&filter[status]=finalized')).toEqual([3, 2, 1])
    expect(await serials('&filter[status]=pending,discarded')).toEqual([4])
    expect(await serials('&page[size]=3&page[number]=2')).toEqual([1])
    expect(await serials('&page[size]=3&page[number]=9')).toEqual([])
    expect(await list('&filter[status]=lost')).toMatchObject({ status: 400 })
    expect(await owner.get('/api/v2/state-versions')).toMatchObject({ status: 400 })
    expect((await list('')).body.data[1].attributes).toMatchObject({ intermediate: false })
    expect((await list('')).body.data[2].attributes).toMatchObject({ intermediate: true })
  })

  test('go with their workspace, which is not removed safely while it manages something', async () => {
    const { owner, workspace, at, path } = await prepare(server)
    const { id } = await saveState(owner, workspace.id, { outputs: OUTPUTS, resources: [stateResource('a')] })
    const refused = await owner.post(`${at}/actions/safe-delete`)
    expect(refused).toMatchObject({ status: 409 })
    expect(refused.body.errors[0].detail).toContain('still managing resources')
    await saveState(owner, workspace.id, { serial: 2 })
    expect(await owner.post(`${at}/actions/safe-delete`)).toMatchObject({ status: 204 })
    expect(await owner.get(`/api/v2/state-versions/${id}`)).toMatchObject({ status: 404 })

    const other = await newWorkspace(owner, path)
    await saveState(owner, other.id, { resources: [stateResource('a')] })
    expect(await owner.delete(path)).toMatchObject({ status: 204 })
  })

  test('are nobody else’s', async () => {
    const organization = await server.organization()
    const { owner, path, name } = organization
    const workspace = await newWorkspace(owner, path)
    const { id } = await saveState(owner, workspace.id, { outputs: OUTPUTS })
    const output = (await owner.get(`/api/v2/state-versions/${id}/outputs`)).body.data[0].id
    const paths = [
      `/api/v2/state-versions/${id}`,
      `/api/v2/state-versions/${id}/outputs`,
      `/api/v2/state-version-outputs/${output}`,
      `/api/v2/workspaces/${workspace.id}/current-state-version`,
      `/api/v2/workspaces/${workspace.id}/current-state-version-outputs`,
      `/api/v2/workspaces/${workspace.id}/resources`,
      `/api/v2/state-versions?filter[organization][name]=${name}&filter[workspace][name]=${workspace.attributes.name}`,
    ]
    for (const client of [await server.user(), await server.member(organization)]) {
      for (const each of paths) expect(await client.get(each)).toMatchObject({ status: 404 })
      expect(await postState(client, workspace.id, rawState({ serial: 2 }))).toMatchObject({ status: 404 })
    }
    for (const each of paths) expect(await server.nobody.get(each)).toMatchObject({ status: 401 })
    const reader = await server.member(organization, ['read-workspaces'])
    for (const each of paths) expect(await reader.get(each)).toMatchObject({ status: 200 })
    expect(await postState(reader, workspace.id, rawState({ serial: 2 }))).toMatchObject({ status: 404 })
  })
})
