import { expect, test } from 'vitest'
import { onEachDialect, pointers } from '../../../test/harness.ts'
import { document, newVariable, newVarset, newVarsetVariable, newWorkspace } from '../../../test/resources.ts'

const body = (attributes: object) => document('vars', attributes)

onEachDialect('older addresses of variables', (server) => {
  const setUp = async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const workspace = await newWorkspace(owner, path)
    return { organization, owner, path, workspace, list: `/api/v2/workspaces/${workspace.id}/vars` }
  }

  test('have an older address, which names the workspace in the body or the query', async () => {
    const { organization, owner, workspace, list } = await setUp()
    const relationships = { workspace: { data: { type: 'workspaces', id: workspace.id } } }
    const attributes = { key: 'k', value: 'v', category: 'env' }
    const created = await owner.post('/api/v2/vars', document('vars', attributes, relationships))
    expect(created.status).toBe(201)
    const { id } = created.body.data
    expect((await owner.get(list)).body.data).toEqual([created.body.data])

    const changed = await owner.patch(`/api/v2/vars/${id}`, body({ value: 'w' }))
    expect(changed.body.data.attributes).toMatchObject({ key: 'k', value: 'w' })
    const { name } = workspace.attributes
    const ofOrganization = `filter[organization][name]=${organization.name}`
    const ofWorkspace = `filter[workspace][name]=${name}`
    const filtered = await owner.get(`/api/v2/vars?${ofOrganization}&${ofWorkspace}`)
    expect(filtered.body).toEqual({ data: [changed.body.data] })
    for (const [only, missing] of [
      [ofOrganization, 'filter[workspace][name]'],
      [ofWorkspace, 'filter[organization][name]'],
    ]) {
      const answer = await owner.get(`/api/v2/vars?${only}`)
      expect([answer.status, answer.body.errors[0].source.parameter]).toEqual([400, missing])
    }
    const stranger = await server.user()
    expect((await stranger.get(`/api/v2/vars?${ofOrganization}&${ofWorkspace}`)).status).toBe(404)
    expect((await stranger.get('/api/v2/vars')).body).toEqual({ data: [] })
    expect((await stranger.post('/api/v2/vars', document('vars', attributes, relationships))).status).toBe(
      404,
    )
    const blank = await owner.post('/api/v2/vars', body(attributes))
    expect(pointers(blank)).toEqual(['/data/relationships/workspace'])

    expect((await owner.delete(`/api/v2/vars/${id}`)).status).toBe(204)
    expect((await owner.get(list)).body.data).toEqual([])
  })

  test('are listed everywhere that the caller may see them, and nowhere else', async () => {
    const { organization, owner, path, workspace } = await setUp()
    const own = await newVariable(owner, workspace.id)
    const other = await newVariable(owner, (await newWorkspace(owner, path)).id)
    const set = await newVarset(owner, path)
    await newVarsetVariable(owner, set.id)
    const elsewhere = await setUp()
    await newVariable(elsewhere.owner, elsewhere.workspace.id)
    expect((await owner.get('/api/v2/vars')).body.data).toEqual([own, other])
    const reader = await server.member(organization, ['read-workspaces'])
    expect((await reader.get('/api/v2/vars')).body.data).toEqual([own, other])
    expect((await (await server.member(organization)).get('/api/v2/vars')).body.data).toEqual([])
  })
})
