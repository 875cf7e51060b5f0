import { describe, expect, test } from 'vitest'
import { type Client, expectStatus, onEachDialect } from '../../../test/harness.ts'
import {
  document,
  inProject,
  newProject,
  newVariable,
  newVarset,
  newVarsetVariable,
  newWorkspace,
} from '../../../test/resources.ts'
import { type AppliedSet, merge } from './precedence.ts'

const to = (type: string, ...ids: string[]) => ({ [type]: { data: ids.map((id) => ({ id, type })) } })

interface Shown {
  id: string
  attributes: { key: string; value: string | null; category: string }
}

onEachDialect('precedence of variables', (server) => {
  const setUp = async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const project = await newProject(owner, path)
    const workspace = await newWorkspace(owner, path, {}, inProject(project.id))
    const parent = { parent: { data: { type: 'projects', id: project.id } } }
    return { owner, path, project, workspace, parent }
  }

  const valuesOf = async (owner: Client, workspaceId: string) => {
    const { data } = expectStatus(await owner.get(`/api/v2/workspaces/${workspaceId}/all-vars`), 200).body
    return Object.fromEntries(
      (data as Shown[]).map(({ attributes: { category, key, value } }) => [`${category} ${key}`, value]),
    )
  }

  test('is that of the public API, from the weakest to the strongest', async () => {
    const { owner, path, project, workspace, parent } = await setUp()
    const onProject = to('projects', project.id)
    const onWorkspace = to('workspaces', workspace.id)
    const weakestFirst: [string, object, object][] = [
      ['global', { global: true }, {}],
      ['organization, project', {}, onProject],
      ['organization, workspace', {}, onWorkspace],
      ['project, project', {}, { ...parent, ...onProject }],
      ['project, workspace', {}, { ...parent, ...onWorkspace }],
      ['own', {}, {}],
      ['priority, project, workspace', { priority: true }, { ...parent, ...onWorkspace }],
      ['priority, project, project', { priority: true }, { ...parent, ...onProject }],
      ['priority, organization, workspace', { priority: true }, onWorkspace],
      ['priority, organization, project', { priority: true }, onProject],
      ['priority, global', { global: true, priority: true }, {}],
    ]
    // Each is made after all that are stronger: what comes later does not win for that.
    const strongestFirst = [...weakestFirst].reverse()
    const made: { name: string; remove: string }[] = []
    for (const [name, attributes, relationships] of strongestFirst) {
      if (name === 'own') {
        const { links } = await newVariable(owner, workspace.id, { key: 'k', value: name })
        made.push({ name, remove: links.self })
        continue
      }
      // Only one global set may have the variable: the weak one gets it when the strong one is gone.
      if (name === 'global') continue
      const set = await newVarset(owner, path, { name, ...attributes }, relationships)
      await newVarsetVariable(owner, set.id, { key: 'k', value: name })
      made.push({ name, remove: set.links.self })
    }
    for (const [index, { name, remove }] of made.entries()) {
      expect(await valuesOf(owner, workspace.id)).toEqual({ 'terraform k': name })
      expectStatus(await owner.delete(remove), 204)
      if (index > 0) continue
      const set = await newVarset(owner, path, { name: 'global', global: true })
      await newVarsetVariable(owner, set.id, { key: 'k', value: 'global' })
    }
    expect(await valuesOf(owner, workspace.id)).toEqual({ 'terraform k': 'global' })
  })

  test('is by the names of sets where they have the same scope, in the order of code points', async () => {
    const { owner, path, workspace } = await setUp()
    const names = ['B', '\u{ff5e}', 'a', '\u{1f600}', 'Z', 'é', '10', '9']
    for (const name of names) {
      const set = await newVarset(owner, path, { name }, to('workspaces', workspace.id))
      await newVarsetVariable(owner, set.id, { key: 'k', value: name })
    }
    const inOrder: string[] = []
    for (const _ of names) {
      const [{ relationships, attributes }] = (await owner.get(`/api/v2/workspaces/${workspace.id}/all-vars`))
        .body.data
      inOrder.push(attributes.value)
      expectStatus(await owner.delete(relationships.varset.links.related), 204)
    }
    expect(inOrder).toEqual(['10', '9', 'B', 'Z', 'a', 'é', '\u{ff5e}', '\u{1f600}'])
  })

  test('is the stronger scope’s for a set with two', async () => {
    const { owner, path, project, workspace } = await setUp()
    const both = { ...to('projects', project.id), ...to('workspaces', workspace.id) }
    const set = await newVarset(owner, path, { name: 'z both' }, both)
    await newVarsetVariable(owner, set.id, { key: 'k', value: 'both' })
    const other = await newVarset(owner, path, { name: 'a project' }, to('projects', project.id))
    await newVarsetVariable(owner, other.id, { key: 'k', value: 'project' })
    expect(await valuesOf(owner, workspace.id)).toEqual({ 'terraform k': 'both' })

    expectStatus(await owner.patch(set.links.self, document('varsets', { priority: true })), 200)
    const third = await newVarset(
      owner,
      path,
      { name: 'a workspace', priority: true },
      to('workspaces', workspace.id),
    )
    await newVarsetVariable(owner, third.id, { key: 'k', value: 'priority workspace' })
    expect(await valuesOf(owner, workspace.id)).toEqual({ 'terraform k': 'both' })
  })

  test('is decided for each category and key, and shown by key', async () => {
    const { owner, path, workspace } = await setUp()
    const set = await newVarset(owner, path, {}, to('workspaces', workspace.id))
    const own = await newVariable(owner, workspace.id, { key: 'b', value: 'own' })
    await newVarsetVariable(owner, set.id, { key: 'b', value: 'overridden' })
    const environment = await newVarsetVariable(owner, set.id, { key: 'b', category: 'env' })
    const secret = await newVarsetVariable(owner, set.id, { key: 'a', sensitive: true, value: 'secret' })
    const { data } = (await owner.get(`/api/v2/workspaces/${workspace.id}/all-vars`)).body
    expect(data).toEqual([secret, own, environment])
    expect(data[0].attributes).toMatchObject({ value: null, sensitive: true })
  })

  test('is without sets that apply to others', async () => {
    const { owner, path, project, workspace, parent } = await setUp()
    const elsewhere = await newWorkspace(owner, path)
    for (const [key, relationships] of Object.entries({
      nothing: {},
      elsewhere: to('workspaces', elsewhere.id),
      unused: parent,
      moved: { ...parent, ...to('workspaces', workspace.id) },
      left: to('projects', project.id),
    })) {
      const set = await newVarset(owner, path, {}, relationships)
      await newVarsetVariable(owner, set.id, { key })
    }
    expect(Object.keys(await valuesOf(owner, workspace.id))).toEqual(['terraform left', 'terraform moved'])
    expect(Object.keys(await valuesOf(owner, elsewhere.id))).toEqual(['terraform elsewhere'])

    const other = await newProject(owner, path)
    const moved = document('workspaces', {}, inProject(other.id))
    expectStatus(await owner.patch(`/api/v2/workspaces/${workspace.id}`, moved), 200)
    expect(await valuesOf(owner, workspace.id)).toEqual({})
  })

  test('is shown to those who may see variables', async () => {
    const { owner, workspace } = await setUp()
    await newVariable(owner, workspace.id)
    const all = `/api/v2/workspaces/${workspace.id}/all-vars`
    expect((await server.nobody.get(all)).status).toBe(401)
    expect((await (await server.user()).get(all)).status).toBe(404)
    expect((await owner.get('/api/v2/workspaces/ws-none/all-vars')).status).toBe(404)
  })
})

describe('what a run is given on its way', () => {
  const set: AppliedSet = {
    name: 'set',
    global: false,
    priority: true,
    ownedByProject: true,
    onWorkspace: true,
    onProject: false,
  }
  const variable = { key: 'k', category: 'terraform' }

  test('is beaten by sets with priority, and beats everything else', () => {
    expect(merge([], [{ set, variables: [variable] }])).toEqual([{ variable, priority: true }])
    const plain = { ...set, priority: false }
    expect(merge([], [{ set: plain, variables: [variable] }])).toEqual([{ variable, priority: false }])
    expect(merge([variable], [])).toEqual([{ variable, priority: false }])
  })
})
