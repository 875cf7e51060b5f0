import { expect, test } from 'vitest'
import { type Client, onEachDialect, violations } from '../../../test/harness.ts'
import { document, newWorkspace, tags, workspacePermissions } from '../../../test/resources.ts'

const body = (attributes: object, relationships?: object) => document('workspaces', attributes, relationships)

onEachDialect('workspaces', (server) => {
  test('are refused with every violation and its pointer', async () => {
    const { owner, path } = await server.organization()
    const list = `${path}/workspaces`
    const wrong = await owner.post(
      list,
      body(
        {
          name: 'no spaces',
          'execution-mode': 'cloud',
          'terraform-version': 'newest',
          'working-directory': 'a/../../b',
          'auto-apply': 'yes',
          'source-url': 'ftp://x',
          'trigger-prefixes': [1],
          'auto-destroy-activity-duration': '1w',
          'vcs-repo': { identifier: 'a/b' },
        },
        { tags: tags('a b'), project: { data: null } },
      ),
    )
    expect(wrong.status).toBe(422)
    expect(violations(wrong)).toEqual([
      {
        pointer: '/data/attributes/auto-apply',
        detail: 'Auto apply must be a boolean',
      },
      {
        pointer: '/data/attributes/auto-destroy-activity-duration',
        detail: expect.stringContaining('has an incorrect format'),
      },
      {
        pointer: '/data/attributes/execution-mode',
        detail: 'Execution mode must be remote or local or agent',
      },
      { pointer: '/data/attributes/name', detail: expect.stringContaining('Name is invalid') },
      { pointer: '/data/attributes/source-url', detail: expect.stringContaining('http or https') },
      { pointer: '/data/attributes/terraform-version', detail: expect.stringContaining('such as 1.9.8') },
      { pointer: '/data/attributes/trigger-prefixes/0', detail: 'Trigger prefixes must be a string' },
      { pointer: '/data/attributes/vcs-repo', detail: 'Vcs repo must be null' },
      {
        pointer: '/data/attributes/working-directory',
        detail: expect.stringContaining('inside the configuration'),
      },
      { pointer: '/data/relationships/project/data', detail: 'Data must be an object' },
      {
        pointer: '/data/relationships/tags/data/0/attributes/name',
        detail: expect.stringContaining('Name is invalid'),
      },
    ])
    const together = body({
      name: 'x',
      'trigger-prefixes': ['/a'],
      'trigger-patterns': ['/b'],
      'auto-destroy-at': 'tomorrow',
    })
    expect(violations(await owner.post(list, together))).toEqual([
      { pointer: '/data/attributes/auto-destroy-at', detail: expect.stringContaining('ISO 8601') },
      { pointer: '/data/attributes/trigger-patterns', detail: expect.stringContaining('together') },
    ])
    for (const moment of ['2030', '2030-01-02T03:04:05', '2030-13-02T03:04:05Z']) {
      const answer = await owner.post(list, body({ name: 'x', 'auto-destroy-at': moment }))
      expect(violations(answer).map(({ pointer }) => pointer)).toEqual(['/data/attributes/auto-destroy-at'])
    }
    expect((await owner.post(list, body({ name: 'x'.repeat(91) }))).status).toBe(422)
    expect((await owner.post(list, body({ name: 'x'.repeat(90) }))).status).toBe(201)
    expect(violations(await owner.post(list, body({})))).toEqual([
      { pointer: '/data/attributes/name', detail: "Name can't be blank" },
    ])
    await newWorkspace(owner, path, { name: 'taken' })
    const { id } = await newWorkspace(owner, path, { name: 'other' })
    const taken = [{ pointer: '/data/attributes/name', detail: 'Name has already been taken' }]
    expect(violations(await owner.post(list, body({ name: 'Taken' })))).toEqual(taken)
    expect(violations(await owner.patch(`/api/v2/workspaces/${id}`, body({ name: 'taken' })))).toEqual(taken)
    const elsewhere = await server.organization()
    await newWorkspace(elsewhere.owner, elsewhere.path, { name: 'taken' })
  })

  test('race: of several creates of one name exactly one wins', async () => {
    const { owner, path } = await server.organization()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => owner.post(`${path}/workspaces`, body({ name: 'race' }))),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(7).fill(422)])
  })

  test('open to those with the right only', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const { id } = await newWorkspace(owner, path, { name: 'secret' })
    const addresses = [`/api/v2/workspaces/${id}`, `${path}/workspaces/secret`]
    const reads = (client: Client) =>
      Promise.all([`${path}/workspaces`, ...addresses].map(async (each) => (await client.get(each)).status))
    const writes = (client: Client) =>
      Promise.all([
        client.post(`${path}/workspaces`, {}),
        ...addresses.map((each) => client.patch(each, {})),
        client.patch(`${path}/workspaces/none`, {}),
      ]).then((answers) => answers.map((answer) => answer.status))
    const [no, empty, readable] = [
      [404, 404, 404],
      [200, 404, 404],
      [200, 200, 200],
    ]
    const [closed, writable] = [
      [404, 404, 404, 404],
      [422, 422, 422, 404],
    ]
    const member = await server.member(organization)
    expect((await member.get(`${path}/workspaces`)).body.data).toEqual([])
    for (const [client, seen] of [
      [await server.user(), no],
      [member, empty],
    ] as const) {
      expect([await reads(client), await writes(client)]).toEqual([seen, closed])
      for (const address of addresses) {
        expect((await client.delete(address)).status).toBe(404)
        expect((await client.post(`${address}/actions/safe-delete`)).status).toBe(404)
      }
    }
    const reader = await server.member(organization, ['read-workspaces'])
    expect([await reads(reader), await writes(reader)]).toEqual([readable, closed])
    for (const address of addresses) {
      expect((await reader.delete(address)).status).toBe(404)
      expect((await reader.post(`${address}/actions/safe-delete`)).status).toBe(404)
    }
    const shown = (await reader.get(addresses[0] as string)).body.data.attributes.permissions
    expect(shown).toEqual({
      ...workspacePermissions(false),
      'can-manage-hyok': false,
      'can-read-assessment-results': true,
      'can-read-run': true,
      'can-read-settings': true,
      'can-read-state-outputs': true,
      'can-read-state-versions': true,
      'can-read-variable': true,
    })
    const team = await server.teamToken(organization, ['manage-workspaces'])
    expect([await reads(team), await writes(team)]).toEqual([readable, writable])
    const ofTeam = (await team.get(addresses[0] as string)).body.data.attributes.permissions
    expect(ofTeam).toEqual({
      ...workspacePermissions(true),
      'can-force-delete': false,
      'can-manage-hyok': false,
    })
    const token = await server.organizationToken(organization)
    expect([await reads(token), await writes(token)]).toEqual([readable, writable])
    expect((await server.nobody.get(addresses[0] as string)).status).toBe(401)
  })
})
