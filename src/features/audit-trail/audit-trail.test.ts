import { expect, test } from 'vitest'
import { type Answer, expectStatus, onEachDialect, type TestOrganization } from '../../../test/harness.ts'
import { newWorkspace } from '../../../test/resources.ts'
import { uploadConfiguration } from '../../../test/runs.ts'

const URL = '/api/v2/organization/audit-trail'
const team = (name: string) => ({ data: { type: 'teams', attributes: { name } } })

interface Event {
  timestamp: string
  resource: { id: string; type: string; action: string; meta: Record<string, string> }
}

const events = (answer: Answer): Event[] => expectStatus(answer, 200).body.data
const told = ({ resource }: Event) => `${resource.action} ${resource.type} ${resource.id}`

onEachDialect('the audit trail', (server) => {
  const create = async ({ owner, path }: TestOrganization, name: string): Promise<string> => {
    return expectStatus(await owner.post(`${path}/teams`, team(name)), 201).body.data.id
  }

  test('says who changed what, newest first', async () => {
    const organization = await server.organization()
    const { owner, path, name } = organization
    const token = await server.organizationToken(organization)
    const id = await create(organization, 'platform')
    const { 'external-id': organizationId } = (await owner.get(path)).body.data.attributes
    const trail = await token.get(URL)
    expect(events(trail)[0]).toEqual({
      id: expect.stringMatching(/^ae-[1-9A-HJ-NP-Za-km-z]{16}$/),
      version: '0',
      type: 'Resource',
      timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      auth: { accessor_id: owner.id, type: 'user', organization_id: organizationId },
      request: { id: expect.stringMatching(/^req-/) },
      resource: { id, type: 'team', action: 'create', meta: { name: 'platform' } },
    })
    expect(events(trail).map(told)).toContain(`create organization ${name}`)
    expect(trail.text).not.toContain(token.token)

    const member = await server.member(organization)
    const users = { data: [{ type: 'users', id: member.username }] }
    await owner.post(`/api/v2/teams/${id}/relationships/users`, users)
    await owner.delete(`/api/v2/teams/${id}/relationships/users`, users)
    await token.patch(`/api/v2/teams/${id}`, team('renamed'))
    await owner.delete(`/api/v2/teams/${id}`)
    const recent = events(await token.get(URL)).slice(0, 5)
    expect(recent.map(told).sort()).toEqual(
      [
        `create organization_membership ${member.membershipId}`,
        `create team_membership ${member.membershipId}`,
        `destroy team_membership ${member.membershipId}`,
        `update team ${id}`,
        `destroy team ${id}`,
      ].sort(),
    )
    expect(recent.find(({ resource }) => resource.type === 'team_membership')?.resource.meta).toEqual({
      team: id,
    })
    expect(recent.find(({ resource }) => resource.action === 'update')).toMatchObject({
      auth: { type: 'organization', accessor_id: organizationId },
    })
    const timestamps = recent.map(({ timestamp }) => timestamp)
    expect(timestamps).toEqual([...timestamps].sort().reverse())
  })

  test('names nobody for what was done by a link alone', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const token = await server.organizationToken(organization)
    const workspace = await newWorkspace(owner, path)
    await uploadConfiguration(owner, workspace.id)
    expect(events(await token.get(URL))[0]).toMatchObject({
      auth: { type: 'link', accessor_id: null },
      resource: { type: 'configuration_version', action: 'uploaded' },
    })
  })

  test('tells nothing of a change that was refused, or that changed nothing', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const token = await server.organizationToken(organization)
    const member = await server.member(organization)
    const id = await create(organization, 'taken')
    const other = await create(organization, 'other')
    const users = `/api/v2/teams/${id}/relationships/users`
    const both = [member.username, 'nobody'].map((name) => ({ type: 'users', id: name }))
    await owner.post(users, { data: both.slice(0, 1) })
    const before = events(await token.get(URL)).length
    const [ownersTeam] = (await owner.get(`${path}/teams?filter[names]=owners`)).body.data
    for (const [answer, status] of [
      [await owner.post(`${path}/teams`, team('taken')), 422],
      [await owner.patch(`/api/v2/teams/${other}`, team('taken')), 422],
      [await owner.post(users, { data: both }), 422],
      [await member.delete(`/api/v2/teams/${id}`), 404],
      [await owner.post(users, { data: both.slice(0, 1) }), 204],
      [
        await owner.delete(`/api/v2/teams/${ownersTeam.id}/relationships/users`, {
          data: [{ type: 'users', id: owner.username }],
        }),
        409,
      ],
    ] as const) {
      expect(answer.status).toBe(status)
    }
    expect(events(await token.get(URL))).toHaveLength(before)
  })

  test('comes in pages', async () => {
    const organization = await server.organization()
    const token = await server.organizationToken(organization)
    const all = events(await token.get(`${URL}?page[size]=100`))
    const second = await token.get(`${URL}?page[size]=2&page[number]=2`)
    expect(events(second)).toEqual(all.slice(2, 4))
    expect(second.body.pagination).toEqual({
      current_page: 2,
      prev_page: 1,
      next_page: all.length > 4 ? 3 : null,
      total_pages: Math.ceil(all.length / 2),
      total_count: all.length,
    })
    expect(events(await token.get(`${URL}?page[number]=99`))).toEqual([])
    expect((await token.get(`${URL}?page[number]=0`)).status).toBe(400)
  })

  test('begins where it is asked to', async () => {
    const organization = await server.organization()
    const token = await server.organizationToken(organization)
    const id = await create(organization, 'late')
    const [newest] = events(await token.get(URL)) as [Event]
    const since = (moment: string) => token.get(`${URL}?since=${encodeURIComponent(moment)}`)
    expect(events(await since(newest.timestamp)).map(told)).toContain(`create team ${id}`)
    const offset = newest.timestamp.replace('Z', '+00:00')
    expect(events(await since(offset)).map(told)).toContain(`create team ${id}`)
    const later = new Date(Date.parse(newest.timestamp) + 1).toISOString()
    expect(events(await since(later))).toEqual([])
    const wrong = await since('yesterday')
    expect(wrong.status).toBe(400)
    expect(wrong.body.errors[0].source.parameter).toBe('since')
  })

  test('is for the token of the organization only, about itself', async () => {
    const organization = await server.organization()
    const elsewhere = await server.organization()
    const id = await create(organization, 'mine')
    const token = await server.organizationToken(elsewhere)
    expect((await token.get(URL)).text).not.toContain(id)
    for (const client of [
      organization.owner,
      await server.member(organization),
      await server.user(),
      await server.teamToken(organization),
      server.admin,
    ]) {
      expect((await client.get(URL)).status).toBe(404)
    }
    expect((await server.nobody.get(URL)).status).toBe(401)
  })
})
