import { expect, test } from 'vitest'
import { expectStatus, onEachDialect, pointers, type TestOrganization } from '../../../test/harness.ts'
import { GRANTS } from '../../auth/permissions.ts'

const body = (attributes: object) => ({ data: { type: 'teams', attributes } })
const users = (...names: string[]) => ({ data: names.map((id) => ({ type: 'users', id })) })

onEachDialect('the team', (server) => {
  const owners = async ({ path, owner }: TestOrganization): Promise<string> => {
    return (await owner.get(`${path}/teams?filter[names]=owners`)).body.data[0].id
  }

  test('of owners cannot be renamed, deleted, weakened or emptied', async () => {
    const organization = await server.organization()
    const { owner } = organization
    const url = `/api/v2/teams/${await owners(organization)}`
    const shown = (await owner.get(url)).body.data
    expect(shown.attributes).toMatchObject({
      name: 'owners',
      'users-count': 1,
      'organization-access': Object.fromEntries(GRANTS.map((grant) => [grant, true])),
      permissions: {
        'can-destroy': false,
        'can-update-name': false,
        'can-update-organization-access': false,
      },
    })
    const renamed = await owner.patch(
      url,
      body({ name: 'kings', 'organization-access': { 'manage-teams': false, 'manage-modules': true } }),
    )
    expect(renamed.status).toBe(422)
    expect(pointers(renamed)).toEqual([
      '/data/attributes/name',
      '/data/attributes/organization-access/manage-teams',
    ])
    const same = await owner.patch(url, body({ name: 'owners', visibility: 'organization' }))
    expect(same.body.data.attributes).toMatchObject({ name: 'owners', visibility: 'organization' })
    expect((await owner.delete(url)).status).toBe(409)

    const last = await owner.delete(`${url}/relationships/users`, users(owner.username))
    expect(last.status).toBe(409)
    const second = await server.member(organization)
    await owner.post(`${url}/relationships/users`, users(second.username))
    const everybody = users(owner.username, second.username)
    expect((await second.delete(`${url}/relationships/users`, everybody)).status).toBe(409)
    expect((await second.delete(`${url}/relationships/users`, users(owner.username))).status).toBe(204)
    expect((await owner.get(`${organization.path}/authentication-token`)).status).toBe(404)
    expect((await second.get(url)).body.data.attributes['users-count']).toBe(1)
  })

  test('of owners need somebody who can use them: an invitation is not enough', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const id = await owners(organization)
    expectStatus(
      await owner.post(`${path}/organization-memberships`, {
        data: {
          type: 'organization-memberships',
          attributes: { email: `not-yet-${owner.email}` },
          relationships: { teams: { data: [{ id, type: 'teams' }] } },
        },
      }),
      201,
    )
    const url = `/api/v2/teams/${id}/relationships/users`
    expect((await owner.delete(url, users(owner.username))).status).toBe(409)
  })

  test('race: of two owners who remove each other one stays', async () => {
    for (let round = 0; round < 5; round++) {
      const organization = await server.organization()
      const { owner } = organization
      const url = `/api/v2/teams/${await owners(organization)}/relationships/users`
      const second = await server.member(organization)
      expectStatus(await owner.post(url, users(second.username)), 204)
      const statuses = await Promise.all([
        owner.delete(url, users(second.username)),
        second.delete(url, users(owner.username)),
      ]).then((answers) => answers.map(({ status }) => status))
      expect(statuses).toContain(204)
      const left = [owner, second].map((client) => client.get(url.replace('/relationships/users', '')))
      const visible = (await Promise.all(left)).filter(({ status }) => status === 200)
      expect(visible.length).toBeGreaterThan(0)
    }
  })
})
