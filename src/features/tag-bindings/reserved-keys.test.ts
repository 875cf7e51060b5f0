import { expect, test } from 'vitest'
import { type Answer, type Client, expectStatus, onEachDialect, violations } from '../../../test/harness.ts'
import { bindings, document, inProject, newProject, newWorkspace } from '../../../test/resources.ts'

const onRelationship = (values: Record<string, string>) => ({ 'tag-bindings': bindings(values) })

onEachDialect('reserved tag keys that disable overrides', (server) => {
  const reserve = async (owner: Client, path: string, key: string, disableOverrides = true) => {
    const attributes = { key, 'disable-overrides': disableOverrides }
    const answer = await owner.post(`${path}/reserved-tag-keys`, document('reserved-tag-keys', attributes))
    return expectStatus(answer, 201).body.data
  }
  const keysOf = async (owner: Client, id: string): Promise<string[]> =>
    (await owner.get(`/api/v2/workspaces/${id}/tag-bindings`)).body.data.map(
      (item: { attributes: { key: string } }) => item.attributes.key,
    )
  const refusal = (answer: Answer, pointer: string) =>
    expect([answer.status, violations(answer)]).toEqual([
      422,
      [{ pointer, detail: 'Key env is reserved, and its value in the project cannot be overridden' }],
    ])
  /** Every way to write bindings of a workspace, and where it puts `/<index>/attributes/key`. */
  const writes = (owner: Client, path: string, workspace: { id: string; attributes: { name: string } }) => {
    const address = `/api/v2/workspaces/${workspace.id}`
    const byName = `${path}/workspaces/${workspace.attributes.name}`
    const inUpdate = '/data/relationships/tag-bindings/data'
    const update = (where: string) => (values: Record<string, string>) =>
      owner.patch(where, document('workspaces', {}, onRelationship(values)))
    return [
      {
        pointer: '/data',
        replaces: false,
        write: (values: Record<string, string>) => owner.patch(`${address}/tag-bindings`, bindings(values)),
      },
      {
        pointer: '/data',
        replaces: false,
        write: (values: Record<string, string>) =>
          owner.post(`${address}/relationships/tag-bindings`, bindings(values)),
      },
      {
        pointer: '/data',
        replaces: true,
        write: (values: Record<string, string>) =>
          owner.patch(`${address}/relationships/tag-bindings`, bindings(values)),
      },
      { pointer: inUpdate, replaces: true, write: update(address) },
      { pointer: inUpdate, replaces: true, write: update(byName) },
    ]
  }

  test('refuse on every write path a key that the project binds', async () => {
    const { owner, path } = await server.organization()
    await reserve(owner, path, 'env')
    const project = await newProject(owner, path, onRelationship({ env: 'dev' }))
    const workspace = await newWorkspace(owner, path, {}, inProject(project.id))
    for (const { write, pointer } of writes(owner, path, workspace)) {
      refusal(await write({ own: 'x', env: 'prod' }), `${pointer}/1/attributes/key`)
      refusal(await write({ env: 'dev' }), `${pointer}/0/attributes/key`)
      refusal(await write({ env: '' }), `${pointer}/0/attributes/key`)
      expect(await keysOf(owner, workspace.id)).toEqual([])
    }
    const relationships = { ...inProject(project.id), ...onRelationship({ own: 'x', env: 'prod' }) }
    const created = await owner.post(
      `${path}/workspaces`,
      document('workspaces', { name: 'new' }, relationships),
    )
    refusal(created, '/data/relationships/tag-bindings/data/1/attributes/key')
    expect((await owner.get(`${path}/workspaces/new`)).status).toBe(404)
  })

  test('refuse nothing else', async () => {
    const { owner, path } = await server.organization()
    await reserve(owner, path, 'env')
    await reserve(owner, path, 'open', false)
    const project = await newProject(owner, path, onRelationship({ open: 'a', free: 'b', Env: 'c' }))
    const workspace = await newWorkspace(owner, path, {}, inProject(project.id))
    for (const { write } of writes(owner, path, workspace)) {
      expect((await write({ env: 'prod', open: 'x', free: 'y', Env: 'z' })).status).toBeLessThan(300)
    }
    const ofProject = await owner.patch(
      `/api/v2/projects/${project.id}/tag-bindings`,
      bindings({ env: 'dev' }),
    )
    expect(ofProject.status).toBe(200)

    const elsewhere = await server.organization()
    const theirs = await newProject(elsewhere.owner, elsewhere.path, onRelationship({ env: 'dev' }))
    const free = await newWorkspace(
      elsewhere.owner,
      elsewhere.path,
      {},
      {
        ...inProject(theirs.id),
        ...onRelationship({ env: 'prod' }),
      },
    )
    expect(await keysOf(elsewhere.owner, free.id)).toEqual(['env'])
  })

  test('leave an override from before in effect, but nothing else changes until it is removed', async () => {
    const { owner, path } = await server.organization()
    const project = await newProject(owner, path, onRelationship({ env: 'dev' }))
    const relationships = { ...inProject(project.id), ...onRelationship({ own: 'x', env: 'prod' }) }
    const workspace = await newWorkspace(owner, path, {}, relationships)
    const { id: keyId } = await reserve(owner, path, 'env')
    const address = `/api/v2/workspaces/${workspace.id}`
    const effective = async () =>
      (await owner.get(`${address}/effective-tag-bindings`)).body.data.map(
        ({ attributes }: { attributes: { key: string; value: string } }) =>
          `${attributes.key}=${attributes.value}`,
      )
    expect(await effective()).toEqual(['own=x', 'env=prod'])

    for (const { write, pointer, replaces } of writes(owner, path, workspace)) {
      const withOverride = replaces ? { other: 'y', env: 'prod' } : { other: 'y' }
      refusal(await write(withOverride), replaces ? `${pointer}/1/attributes/key` : pointer)
    }
    expect(await effective()).toEqual(['own=x', 'env=prod'])
    const renamed = await owner.patch(address, document('workspaces', { description: 'still free' }))
    expect(renamed.status).toBe(200)

    expectStatus(await owner.delete(`/api/v2/reserved-tag-keys/${keyId}`), 204)
    expect((await owner.patch(`${address}/tag-bindings`, bindings({ env: 'test' }))).status).toBe(200)
  })

  test('let a workspace change again once the override is gone', async () => {
    const { owner, path } = await server.organization()
    const project = await newProject(owner, path, onRelationship({ env: 'dev' }))
    await reserve(owner, path, 'env')
    for (const index of [0, 1, 2]) {
      const free = await newWorkspace(owner, path, {}, onRelationship({ env: 'prod' }))
      const address = `/api/v2/workspaces/${free.id}`
      expectStatus(await owner.patch(address, document('workspaces', {}, inProject(project.id))), 200)
      const removal = writes(owner, path, free).filter((each) => each.replaces)[index]
      expect((await removal?.write({ own: 'x' }))?.status).toBeLessThan(300)
      for (const { write } of writes(owner, path, free)) {
        expect((await write({ own: 'y' })).status).toBeLessThan(300)
      }
      refusal(await owner.patch(`${address}/tag-bindings`, bindings({ env: 'x' })), '/data/0/attributes/key')
    }
  })

  test('allow a move, or a binding of the project, that makes an override of what was none', async () => {
    const { owner, path } = await server.organization()
    await reserve(owner, path, 'env')
    const [bound, unbound] = [
      await newProject(owner, path, onRelationship({ env: 'dev' })),
      await newProject(owner, path),
    ]
    const moving = await newWorkspace(owner, path, {}, onRelationship({ env: 'prod' }))
    const moved = await owner.patch(
      `/api/v2/workspaces/${moving.id}`,
      document('workspaces', {}, inProject(bound.id)),
    )
    expect(moved.status).toBe(200)
    const staying = await newWorkspace(
      owner,
      path,
      {},
      {
        ...inProject(unbound.id),
        ...onRelationship({ env: 'prod' }),
      },
    )
    expect(
      (await owner.patch(`/api/v2/projects/${unbound.id}/tag-bindings`, bindings({ env: 'dev' }))).status,
    ).toBe(200)
    for (const { id } of [moving, staying]) {
      expect(await keysOf(owner, id)).toEqual(['env'])
      refusal(await owner.patch(`/api/v2/workspaces/${id}/tag-bindings`, bindings({ own: 'x' })), '/data')
    }
  })

  test('judge a move together with the bindings it brings by the new project', async () => {
    const { owner, path } = await server.organization()
    await reserve(owner, path, 'env')
    const bound = await newProject(owner, path, onRelationship({ env: 'dev' }))
    const { id } = await newWorkspace(owner, path)
    const into = (projectId: string) => ({ ...inProject(projectId), ...onRelationship({ env: 'prod' }) })
    const answer = await owner.patch(`/api/v2/workspaces/${id}`, document('workspaces', {}, into(bound.id)))
    refusal(answer, '/data/relationships/tag-bindings/data/0/attributes/key')
    expect((await owner.get(`/api/v2/workspaces/${id}`)).body.data.relationships.project.data.id).not.toBe(
      bound.id,
    )
    const elsewhere = await newProject(owner, path)
    await owner.patch(`/api/v2/workspaces/${id}`, document('workspaces', {}, inProject(bound.id)))
    const out = await owner.patch(`/api/v2/workspaces/${id}`, document('workspaces', {}, into(elsewhere.id)))
    expect(out.status).toBe(200)
  })
})
