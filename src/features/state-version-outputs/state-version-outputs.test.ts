import { expect, test } from 'vitest'
import { findAtRest } from '../../../test/at-rest.ts'
import { expectStatus, onEachDialect } from '../../../test/harness.ts'
import { newWorkspace } from '../../../test/resources.ts'
import { saveState } from '../../../test/states.ts'

const OUTPUTS = {
  a_string: { value: 'text', type: 'string' },
  b_secret: { value: { user: 'u' }, type: ['object', { user: 'string' }], sensitive: true },
  c_number: { value: 4.5, type: 'number' },
  d_bool: { value: false, type: 'bool' },
  e_tuple: { value: [1, 'a'], type: ['tuple', ['number', 'string']] },
  f_map: { value: {}, type: ['map', 'string'] },
  g_null: { value: null, type: 'dynamic' },
}

onEachDialect('outputs of states', (server) => {
  test('are told with their types; sensitive ones only when they are asked for', async () => {
    const { owner, path } = await server.organization()
    const workspace = await newWorkspace(owner, path)
    const version = await saveState(owner, workspace.id, { outputs: OUTPUTS })
    const listed = expectStatus(await owner.get(`/api/v2/state-versions/${version.id}/outputs`), 200).body
    expect(listed.data[0]).toEqual({
      id: expect.stringMatching(/^wsout-/),
      type: 'state-version-outputs',
      attributes: {
        name: 'a_string',
        sensitive: false,
        type: 'string',
        value: 'text',
        'detailed-type': 'string',
      },
      links: { self: `/api/v2/state-version-outputs/${listed.data[0].id}` },
    })
    const parts = (name: 'type' | 'value' | 'detailed-type') =>
      listed.data.map(({ attributes }: { attributes: Record<string, unknown> }) => attributes[name])
    expect(parts('type')).toEqual(['string', 'object', 'number', 'boolean', 'array', 'object', 'null'])
    expect(parts('value')).toEqual(['text', null, 4.5, false, [1, 'a'], {}, null])
    expect(parts('detailed-type')).toEqual(Object.values(OUTPUTS).map(({ type }) => type))
    const revealed = await owner.get(`/api/v2/state-version-outputs/${listed.data[1].id}`)
    expect(revealed.body.data.attributes).toMatchObject({ sensitive: true, value: { user: 'u' } })
    expect(listed.meta.pagination).toMatchObject({ 'total-count': 7 })
    const beyond = await owner.get(`/api/v2/state-versions/${version.id}/outputs?page[number]=2&page[size]=5`)
    expect(beyond.body.data).toHaveLength(2)
  })

  test('of the current state are all on one page', async () => {
    const { owner, path } = await server.organization()
    const workspace = await newWorkspace(owner, path)
    const at = `/api/v2/workspaces/${workspace.id}/current-state-version-outputs`
    expect(await owner.get(at)).toMatchObject({ status: 200, body: { data: [] } })
    const many = Object.fromEntries(
      Array.from({ length: 130 }, (_, n) => [`o${n}`, { value: n, type: 'number' }]),
    )
    await saveState(owner, workspace.id, { serial: 1, outputs: many })
    expect((await owner.get(at)).body.data).toHaveLength(130)
    await saveState(owner, workspace.id, { serial: 2, outputs: OUTPUTS })
    const { data } = (await owner.get(at)).body
    expect(data).toHaveLength(7)
    expect(data[1].attributes).toMatchObject({ name: 'b_secret', value: null })
  })

  test('come along with their workspace', async () => {
    const { owner, path } = await server.organization()
    const workspace = await newWorkspace(owner, path)
    const empty = await owner.get(`/api/v2/workspaces/${workspace.id}?include=outputs,current_state_version`)
    expect(empty.body).toMatchObject({ data: { attributes: { 'resource-count': 0 } }, included: [] })
    const version = await saveState(owner, workspace.id, { outputs: OUTPUTS })
    const shown = expectStatus(
      await owner.get(
        `${path}/workspaces/${workspace.attributes.name}?include=outputs,current_state_version`,
      ),
      200,
    ).body
    expect(shown.data.relationships).toMatchObject({
      'current-state-version': { data: { id: version.id, type: 'state-versions' } },
      outputs: {
        data: version.relationships.outputs.data.map(({ id }: { id: string }) => ({
          id,
          type: 'workspace-outputs',
        })),
      },
    })
    const included = Map.groupBy(shown.included as { type: string; attributes: object }[], ({ type }) => type)
    expect(included.get('state-versions')).toHaveLength(1)
    expect(included.get('workspace-outputs')?.map(({ attributes }) => attributes)).toEqual(
      expect.arrayContaining([
        {
          name: 'c_number',
          sensitive: false,
          'output-type': 'number',
          value: 4.5,
          'detailed-type': 'number',
        },
        expect.objectContaining({ name: 'b_secret', sensitive: true, value: null }),
      ]),
    )
  })

  test('are sealed where they lie', async () => {
    const { owner, path } = await server.organization()
    const workspace = await newWorkspace(owner, path)
    const secret = 'correct-horse-battery'
    await saveState(owner, workspace.id, {
      outputs: { s: { value: secret, type: 'string', sensitive: true } },
    })
    expect(await findAtRest(server, secret)).toEqual([])
    expect(await findAtRest(server, workspace.attributes.name)).toContain('workspaces.name')
  })
})
