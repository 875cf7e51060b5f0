import { expect, test } from 'vitest'
import {
  type Answer,
  expectStatus,
  onEachDialect,
  pointers,
  unique,
  violations,
} from '../../../test/harness.ts'

const ALL = '/api/v2/organizations'
const body = (attributes: object) => ({ data: { type: 'organizations', attributes } })
const ids = (answer: Answer) => answer.body.data.map(({ id }: { id: string }) => id)
const newName = () => `org-${unique()}`

onEachDialect('organizations', (server) => {
  test('are created, shown, changed and deleted', async () => {
    const user = await server.user()
    const name = newName()
    const answer = await user.post(ALL, body({ name, email: 'ops@example.com', 'session-timeout': 60 }))
    const created = expectStatus(answer, 201).body.data
    const path = `${ALL}/${name}`
    expect(created).toEqual({
      id: name,
      type: 'organizations',
      attributes: {
        'external-id': expect.stringMatching(/^org-[1-9A-HJ-NP-Za-km-z]{16}$/),
        name,
        email: 'ops@example.com',
        'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        'collaborator-auth-policy': 'password',
        'session-timeout': 60,
        'session-remember': null,
        'cost-estimation-enabled': false,
        'assessments-enforced': false,
        'allow-force-delete-workspaces': false,
        'speculative-plan-management-enabled': true,
        'aggregated-commit-status-enabled': true,
        'send-passing-statuses-for-untriggered-speculative-plans': false,
        'default-execution-mode': 'remote',
        'provider-version-reuse-enabled': false,
        'fair-run-queuing-enabled': true,
        'saml-enabled': false,
        'two-factor-conformant': false,
        'owners-team-saml-role-id': null,
        'plan-expired': false,
        'plan-expires-at': null,
        'plan-is-trial': false,
        'plan-is-enterprise': true,
        'plan-identifier': 'self_hosted',
        permissions: expect.objectContaining({ 'can-update': true, 'can-destroy': true }),
      },
      relationships: {
        'default-project': { data: expect.toSatisfy((data) => data === null || data.type === 'projects') },
        'default-agent-pool': { data: null },
        'authentication-token': { links: { related: `${path}/authentication-token` } },
        'entitlement-set': {
          data: { id: created.attributes['external-id'], type: 'entitlement-sets' },
          links: { related: `${path}/entitlement-set` },
        },
      },
      links: { self: path },
    })
    expect(Object.values(created.attributes.permissions).every((value) => value === true)).toBe(true)
    expect((await user.get(path)).body.data).toEqual(created)
    expect((await user.get(path.toUpperCase().replace('/API/V2/ORGANIZATIONS', ALL))).status).toBe(200)

    const renamed = newName()
    const changes = {
      name: renamed,
      email: 'new@example.com',
      'collaborator-auth-policy': 'two_factor_mandatory',
      'session-timeout': null,
      'session-remember': 90,
      'cost-estimation-enabled': true,
      'assessments-enforced': true,
      'allow-force-delete-workspaces': true,
      'speculative-plan-management-enabled': false,
      'aggregated-commit-status-enabled': false,
      'send-passing-statuses-for-untriggered-speculative-plans': true,
      'default-execution-mode': 'local',
    }
    const changed = await user.patch(path, body({ ...changes, 'created-at': null }))
    expect(changed.status).toBe(200)
    expect(changed.body.data.attributes).toEqual({ ...created.attributes, ...changes })
    expect((await user.get(path)).status).toBe(404)
    const one = await user.patch(`${ALL}/${renamed}`, body({ 'cost-estimation-enabled': false }))
    expect(one.body.data.attributes).toEqual({
      ...changed.body.data.attributes,
      'cost-estimation-enabled': false,
    })

    expect(await user.delete(`${ALL}/${renamed}`)).toMatchObject({ status: 204, text: '' })
    expect((await user.delete(`${ALL}/${renamed}`)).status).toBe(404)
    expect((await user.get(ALL)).body.data).toEqual([])
  })

  test('are entitled to what is built', async () => {
    const organization = await server.organization()
    const { owner, path, name } = organization
    const shown = (await owner.get(path)).body.data
    const set = (await owner.get(`${path}/entitlement-set`)).body.data
    expect(set).toMatchObject({
      id: shown.attributes['external-id'],
      type: 'entitlement-sets',
      attributes: { teams: true, 'private-module-registry': true, 'state-storage': true, 'user-limit': null },
      relationships: { organization: { data: { id: name, type: 'organizations' } } },
    })
    expect((await (await server.member(organization)).get(`${path}/entitlement-set`)).status).toBe(200)
    expect((await (await server.user()).get(`${path}/entitlement-set`)).status).toBe(404)
  })

  test('are listed for their members, in pages and searched', async () => {
    const user = await server.user()
    const prefix = unique()
    const names = ['a_one', 'b-two', 'c-three'].map((name) => `${prefix}-${name}`)
    for (const name of names) {
      expectStatus(await user.post(ALL, body({ name, email: 'ops@example.com' })), 201)
    }
    await server.organization(`${prefix}-other`)
    expect(ids(await user.get(ALL))).toEqual(names)
    const second = await user.get(`${ALL}?page[size]=2&page[number]=2`)
    expect(ids(second)).toEqual([names[2]])
    expect(second.body.meta.pagination).toMatchObject({
      'total-count': 3,
      'total-pages': 2,
      'next-page': null,
    })
    expect((await user.get(`${ALL}?page[number]=5`)).body.data).toEqual([])
    expect(ids(await user.get(`${ALL}?q=B-TWO`))).toEqual([names[1]])
    expect(ids(await user.get(`${ALL}?q=_`))).toEqual([names[0]])
    expect(ids(await user.get(`${ALL}?q=other`))).toEqual([])
    const next = (await user.get(`${ALL}?q=${prefix}&page[size]=2`)).body.links.next
    expect(ids(await user.get(next))).toEqual([names[2]])
    expect(ids(await server.admin.get(`${ALL}?q=${prefix}`))).toEqual([])
  })

  test('show tokens of teams and organizations their own only', async () => {
    const organization = await server.organization()
    const team = await server.teamToken(organization)
    const token = await server.organizationToken(organization)
    const ofOwners = await organization.owner.get(`${organization.path}/teams?filter[names]=owners`)
    const made = await organization.owner.post(`/api/v2/teams/${ids(ofOwners)[0]}/authentication-token`)
    const owners = server.as(made.body.data.attributes.token)
    for (const client of [team, token, owners]) {
      expect(ids(await client.get(ALL))).toEqual([organization.name])
      expect((await client.get(organization.path)).status).toBe(200)
      expect((await client.post(ALL, body({ name: newName(), email: 'ops@example.com' }))).status).toBe(404)
    }
    const change = body({ email: 'new@example.com' })
    expect((await team.patch(organization.path, change)).status).toBe(404)
    expect((await token.patch(organization.path, change)).status).toBe(200)
    expect((await owners.patch(organization.path, change)).status).toBe(200)
    expect((await team.delete(organization.path)).status).toBe(404)
    expect((await token.delete(organization.path)).status).toBe(404)
    expect((await owners.delete(organization.path)).status).toBe(204)
  })

  test('do not exist for strangers, and cannot be changed by members', async () => {
    const organization = await server.organization()
    const { path } = organization
    const member = await server.member(organization)
    const elsewhere = await server.organization()
    for (const client of [
      await server.user(),
      elsewhere.owner,
      await server.teamToken(elsewhere),
      await server.organizationToken(elsewhere),
      server.admin,
    ]) {
      expect((await client.get(path)).status).toBe(404)
      expect((await client.patch(path, {})).status).toBe(404)
      expect((await client.delete(path)).status).toBe(404)
    }
    const shown = (await member.get(path)).body.data.attributes
    const granted = Object.keys(shown.permissions).filter((name) => shown.permissions[name])
    expect(granted).toEqual(['can-access-via-teams', 'can-traverse'])
    expect((await member.patch(path, {})).status).toBe(404)
    expect((await member.delete(path)).status).toBe(404)
    expect((await server.nobody.get(path)).status).toBe(401)
    expect((await server.nobody.post(ALL, {})).status).toBe(401)
  })

  test('show what each grant permits', async () => {
    const organization = await server.organization()
    const shown: Record<string, string[]> = {
      'manage-providers': ['can-create-provider', 'can-manage-providers'],
      'manage-modules': ['can-create-module', 'can-manage-modules'],
      'manage-teams': ['can-create-team'],
      'manage-membership': ['can-manage-users'],
    }
    for (const [grant, expected] of Object.entries(shown)) {
      const client = await server.member(organization, [grant])
      const { permissions } = (await client.get(organization.path)).body.data.attributes
      const granted = Object.keys(permissions).filter((name) => permissions[name])
      expect([grant, granted.sort()]).toEqual([
        grant,
        [...expected, 'can-access-via-teams', 'can-traverse'].sort(),
      ])
    }
  })

  test('are refused with every violation and its pointer', async () => {
    const { owner, path, name } = await server.organization()
    const user = await server.user()
    expect(violations(await user.post(ALL, { data: {} }))).toEqual([
      { pointer: '/data/attributes/email', detail: "Email can't be blank" },
      { pointer: '/data/attributes/name', detail: "Name can't be blank" },
      { pointer: '/data/type', detail: "Type can't be blank" },
    ])
    for (const bad of ['ab', 'x'.repeat(41), 'two words', 'dot.ted', 'slash/ed', '', 7, null]) {
      const answer = await user.post(ALL, body({ name: bad, email: 'ops@example.com' }))
      expect([bad, answer.status, pointers(answer)]).toEqual([bad, 422, ['/data/attributes/name']])
    }
    const wrong = await owner.patch(
      path,
      body({
        name: null,
        email: 'none',
        'session-timeout': 0,
        'session-remember': 1.5,
        'collaborator-auth-policy': 'none',
        'default-execution-mode': 'cloud',
        'cost-estimation-enabled': 'yes',
      }),
    )
    expect(wrong.status).toBe(422)
    expect(pointers(wrong)).toEqual([
      '/data/attributes/collaborator-auth-policy',
      '/data/attributes/cost-estimation-enabled',
      '/data/attributes/default-execution-mode',
      '/data/attributes/email',
      '/data/attributes/name',
      '/data/attributes/session-remember',
      '/data/attributes/session-timeout',
    ])
    const other = await server.organization()
    for (const answer of [
      await user.post(ALL, body({ name: name.toUpperCase(), email: 'ops@example.com' })),
      await other.owner.patch(other.path, body({ name: name.toUpperCase() })),
    ]) {
      expect(answer.status).toBe(422)
      expect(violations(answer)).toEqual([
        { pointer: '/data/attributes/name', detail: 'Name has already been taken' },
      ])
    }
    const upper = await owner.patch(path, body({ name: name.toUpperCase() }))
    expect(upper.body.data.id).toBe(name.toUpperCase())
  })

  test('race: of creates of one name exactly one wins, and is owned by its creator', async () => {
    const name = newName()
    const people = await Promise.all(Array.from({ length: 6 }, () => server.user()))
    const answers = await Promise.all(
      people.map((user) => user.post(ALL, body({ name, email: 'ops@example.com' }))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(5).fill(422)])
    const seen = await Promise.all(people.map((user) => user.get(`${ALL}/${name}`)))
    expect(seen.map(({ status }) => status)).toEqual(
      answers.map(({ status }) => (status === 201 ? 200 : 404)),
    )
  })
})
