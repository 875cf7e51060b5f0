import { expect, test } from 'vitest'
import { type Client, expectStatus, onEachDialect } from '../../../test/harness.ts'
import { bindings, document, newWorkspace, tags } from '../../../test/resources.ts'

onEachDialect('workspace locks', (server) => {
  const act = (client: Client, id: string, action: string, body?: object) =>
    client.post(`/api/v2/workspaces/${id}/actions/${action}`, body)

  test('are taken with a reason and given back', async () => {
    const { owner, path } = await server.organization()
    const { id } = await newWorkspace(owner, path)
    const locked = await act(owner, id, 'lock', {
      data: { type: '', attributes: { reason: 'Locked by Terraform' } },
    })
    expect(locked.status).toBe(200)
    expect(locked.body.data).toMatchObject({
      id,
      type: 'workspaces',
      attributes: { locked: true, 'locked-reason': 'Locked by Terraform' },
      relationships: { 'locked-by': { data: { id: owner.id, type: 'users' } } },
    })
    const again = await act(owner, id, 'lock')
    expect(again.status).toBe(409)
    expect(again.body.errors[0]).toMatchObject({
      status: '409',
      title: 'conflict',
      detail: expect.stringContaining('already locked'),
    })
    const unlocked = await act(owner, id, 'unlock')
    expect(unlocked.status).toBe(200)
    expect(unlocked.body.data).toMatchObject({
      attributes: { locked: false, 'locked-reason': null },
      relationships: { 'locked-by': { data: null } },
    })
    for (const action of ['unlock', 'force-unlock']) {
      const answer = await act(owner, id, action)
      expect(answer.status).toBe(409)
      expect(answer.body.errors[0].detail).toContain('already unlocked')
    }
    const bare = await act(owner, id, 'lock', { reason: 'Maintenance' })
    expect(bare.body.data.attributes['locked-reason']).toBe('Maintenance')
  })

  test('are given back by their holder only, or by force', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const { id } = await newWorkspace(owner, path)
    const member = await server.member(organization, ['manage-workspaces'])
    expectStatus(await act(member, id, 'lock'), 200)
    const refused = await act(owner, id, 'unlock')
    expect(refused.status).toBe(409)
    expect(refused.body.errors[0].detail).toContain(`is locked by User ${member.username}`)
    const forced = await act(owner, id, 'force-unlock')
    expect(forced).toMatchObject({ status: 200, body: { data: { attributes: { locked: false } } } })

    const team = await server.teamToken(organization, ['manage-workspaces'])
    const byTeam = expectStatus(await act(team, id, 'lock'), 200).body.data
    expect(byTeam.relationships['locked-by'].data.type).toBe('teams')
    expect((await act(owner, id, 'unlock')).body.errors[0].detail).toContain('is locked by Team team-')
    expect((await act(team, id, 'unlock')).status).toBe(200)
  })

  test('of somebody who is gone are broken by force', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const { id } = await newWorkspace(owner, path)
    const member = await server.member(organization, ['manage-workspaces'])
    expectStatus(await act(member, id, 'lock'), 200)
    expectStatus(await server.admin.delete(`/api/v2/admin/users/${member.id}`), 204)
    const refused = await act(owner, id, 'unlock')
    expect([refused.status, refused.body.errors[0].detail]).toEqual([
      409,
      expect.stringContaining('no longer exists'),
    ])
    expect((await act(owner, id, 'force-unlock')).status).toBe(200)
  })

  test('race: of several at once exactly one is taken, and exactly one given back', async () => {
    const { owner, path } = await server.organization()
    const { id } = await newWorkspace(owner, path)
    for (const action of ['lock', 'unlock']) {
      const answers = await Promise.all(Array.from({ length: 8 }, () => act(owner, id, action)))
      expect(answers.map((answer) => answer.status).sort()).toEqual([200, ...Array(7).fill(409)])
    }
  })

  test('and every other change are written down', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const token = await server.organizationToken(organization)
    const { id } = await newWorkspace(owner, path, { name: 'app' })
    for (const action of ['lock', 'unlock']) expectStatus(await act(owner, id, action), 200)
    expectStatus(await act(owner, id, 'unlock'), 409)
    for (const action of ['lock', 'force-unlock']) expectStatus(await act(owner, id, action), 200)
    const address = `/api/v2/workspaces/${id}`
    expectStatus(await owner.patch(`${address}/tag-bindings`, bindings({ env: 'dev' })), 200)
    expectStatus(await owner.post(`${address}/relationships/tags`, tags('net')), 204)
    expectStatus(await owner.patch(address, document('workspaces', { 'auto-apply': true })), 200)
    expectStatus(await act(owner, id, 'safe-delete'), 204)
    const trail = expectStatus(await token.get('/api/v2/organization/audit-trail'), 200).body.data
    const ofWorkspace = trail
      .map(({ resource }: { resource: { id: string; action: string } }) => resource)
      .filter((resource: { id: string }) => resource.id === id)
    expect(ofWorkspace.map(({ action }: { action: string }) => action).sort()).toEqual(
      ['create', 'lock', 'unlock', 'lock', 'force-unlock', 'update', 'update', 'update', 'destroy'].sort(),
    )
    expect(ofWorkspace.find(({ action }: { action: string }) => action === 'destroy')).toEqual({
      id,
      type: 'workspace',
      action: 'destroy',
      meta: { name: 'app' },
    })
  })

  test('need a right, and a user or a team to hold them', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const { id } = await newWorkspace(owner, path)
    const statuses = async (client: Client) => [
      (await act(client, id, 'lock', { data: 'malformed' })).status,
      (await act(client, id, 'unlock')).status,
      (await act(client, id, 'force-unlock')).status,
    ]
    expect(await statuses(await server.user())).toEqual([404, 404, 404])
    expect(await statuses(await server.member(organization))).toEqual([404, 404, 404])
    expect(await statuses(await server.member(organization, ['read-workspaces']))).toEqual([404, 404, 404])
    expect(await statuses(await server.organizationToken(organization))).toEqual([404, 404, 409])
    expect(await statuses(owner)).toEqual([422, 409, 409])
    expect((await act(owner, 'ws-none', 'lock')).status).toBe(404)
  })
})
