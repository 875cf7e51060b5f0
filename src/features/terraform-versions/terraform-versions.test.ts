import { expect, test } from 'vitest'
import { expectStatus, onEachDialect, violations } from '../../../test/harness.ts'
import { asSecondServer } from '../../../test/jobs.ts'
import { document, newVersionOfEngine, newWorkspace } from '../../../test/resources.ts'
import { addFound, listSpecial } from './service.ts'

const LIST = '/api/v2/admin/terraform-versions'

const body = (attributes: object) => document('terraform-versions', attributes)

const archive = (arch: string, digit: string) => ({
  url: `https://releases.example.com/${arch}.zip`,
  sha: digit.repeat(64),
  os: 'linux',
  arch,
})

onEachDialect('terraform versions', (server) => {
  const add = async (attributes: object) =>
    expectStatus(await server.admin.post(LIST, body(attributes)), 201).body.data

  const versionsOf = (answer: { body: { data: { attributes: { version: string } }[] } }) =>
    answer.body.data.map(({ attributes }) => attributes.version)

  test('are added, shown, changed and removed', async () => {
    const [amd64, arm64] = [archive('amd64', 'a'), archive('arm64', 'b')]
    const created = await add({ version: '7.1.0', archs: [arm64, amd64] })
    expect(created).toEqual({
      id: expect.stringMatching(/^tool-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: 'terraform-versions',
      attributes: {
        version: '7.1.0',
        url: amd64.url,
        sha: amd64.sha,
        archs: [arm64, amd64],
        official: false,
        enabled: true,
        beta: false,
        deprecated: false,
        'deprecated-reason': null,
        usage: 0,
        'created-at': expect.stringMatching(/Z$/),
      },
    })
    const member = `${LIST}/${created.id}`
    expect((await server.admin.get(member)).body.data).toEqual(created)
    const changes = {
      version: '7.1.1',
      deprecated: true,
      'deprecated-reason': 'old',
      enabled: false,
      beta: true,
    }
    const changed = await server.admin.patch(member, body(changes))
    expect(changed.body.data.attributes).toEqual({ ...created.attributes, ...changes })
    const nothing = await server.admin.patch(member, body({ deprecated: null }))
    expect(nothing.body.data).toEqual(changed.body.data)
    const renewed = await server.admin.patch(member, body({ deprecated: false }))
    expect(renewed.body.data.attributes).toMatchObject({ deprecated: false, 'deprecated-reason': null })
    expect(await server.admin.delete(member)).toMatchObject({ status: 204, text: '' })
    expect((await server.admin.get(member)).status).toBe(404)
    expect((await server.admin.delete(member)).status).toBe(404)
  })

  test('take the archive for amd64 by itself, as clients said it before there were others', async () => {
    const { url, sha } = archive('amd64', 'c')
    const created = await add({ version: '7.2.0', url, sha })
    expect(created.attributes).toMatchObject({ url, sha, archs: [{ url, sha, os: 'linux', arch: 'amd64' }] })
    const other = archive('amd64', 'd')
    const member = `${LIST}/${created.id}`
    const both = await server.admin.patch(member, body({ archs: [other, archive('arm64', 'e')] }))
    expect(both.body.data.attributes).toMatchObject({ url: other.url, sha: other.sha })
    const one = await server.admin.patch(member, body({ sha: 'f'.repeat(64) }))
    expect(one.body.data.attributes.archs).toEqual([{ ...other, sha: 'f'.repeat(64) }])
    const none = await add({ version: '7.2.1' })
    expect(none.attributes).toMatchObject({ url: null, sha: null, archs: [] })
    const refused = await server.admin.post(LIST, body({ version: '7.2.2', url }))
    expect(violations(refused)).toEqual([{ pointer: '/data/attributes/sha', detail: "Sha can't be blank" }])
  })

  test('are listed from the highest down, in pages, and found by their text', async () => {
    for (const version of ['8.9.0', '8.10.0', '8.10.0-rc1', '8.2.30']) await add({ version })
    const found = await server.admin.get(`${LIST}?search[version]=8.`)
    expect(versionsOf(found).filter((version) => version.startsWith('8.'))).toEqual([
      '8.10.0',
      '8.10.0-rc1',
      '8.9.0',
      '8.2.30',
    ])
    expect(versionsOf(await server.admin.get(`${LIST}?filter[version]=8.10.0`))).toEqual(['8.10.0'])
    expect(versionsOf(await server.admin.get(`${LIST}?filter[version]=1000.1000.42`))).toEqual([])
    const second = await server.admin.get(`${LIST}?search[version]=8.10&page[number]=2&page[size]=1`)
    expect(versionsOf(second)).toEqual(['8.10.0-rc1'])
    const beyond = await server.admin.get(`${LIST}?page[number]=999&page[size]=100`)
    expect(beyond.body).toMatchObject({ data: [], meta: { pagination: { 'current-page': 999 } } })
  })

  test('are refused with pointers, in order', async () => {
    expect((await server.nobody.post(LIST, {})).status).toBe(401)
    const someone = await server.user()
    expect((await someone.send('POST', LIST, 'x', { 'content-type': 'text/plain' })).status).toBe(404)
    expect((await server.admin.send('POST', LIST, '{}', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await server.admin.send('POST', LIST, '{')).status).toBe(400)
    const { data } = newVersionOfEngine()
    const member = `${LIST}/${(await add(data.attributes)).id}`
    const wrong = {
      version: 'latest',
      url: 'ftp://x',
      sha: 'x',
      archs: [{ ...archive('386', 'x'), os: 'plan9' }],
    }
    expect(violations(await server.admin.post(LIST, body(wrong))).map(({ pointer }) => pointer)).toEqual([
      '/data/attributes/archs/0/arch',
      '/data/attributes/archs/0/os',
      '/data/attributes/archs/0/sha',
      '/data/attributes/sha',
      '/data/attributes/url',
    ])
    for (const version of ['latest', '1.2', 'v1.2.3', '1.02.3', '~> 1.0']) {
      const answers = [
        await server.admin.post(LIST, body({ version })),
        await server.admin.patch(member, body({ version })),
      ]
      for (const answer of answers)
        expect([version, answer.status, violations(answer)[0]?.pointer]).toEqual([
          version,
          422,
          '/data/attributes/version',
        ])
    }
    const again = await server.admin.post(LIST, body(data.attributes))
    expect(violations(again)).toEqual([
      { pointer: '/data/attributes/version', detail: 'Version has already been taken' },
    ])
    for (const who of [someone, (await server.organization()).owner]) {
      expect((await who.get(LIST)).status).toBe(404)
      expect((await who.get(member)).status).toBe(404)
      expect((await who.patch(member, body({ beta: true }))).status).toBe(404)
      expect((await who.delete(member)).status).toBe(404)
    }
  })

  test('tell who uses them, and stay while somebody does, or as long as they are official', async () => {
    const { data } = newVersionOfEngine()
    const { id } = await add(data.attributes)
    const { owner, path } = await server.organization()
    const { version } = data.attributes as { version: string }
    const workspace = await newWorkspace(owner, path, { 'terraform-version': version })
    expect((await server.admin.get(`${LIST}/${id}`)).body.data.attributes.usage).toBe(1)
    expect((await server.admin.delete(`${LIST}/${id}`)).status).toBe(422)
    await owner.delete(`/api/v2/workspaces/${workspace.id}`)
    await server.admin.patch(`${LIST}/${id}`, body({ official: true }))
    expect((await server.admin.delete(`${LIST}/${id}`)).status).toBe(422)
    await server.admin.patch(`${LIST}/${id}`, body({ official: false }))
    expect((await server.admin.delete(`${LIST}/${id}`)).status).toBe(204)
  })

  test('that are not as all others are told to workers; those that a server has found are added', async () => {
    const { url, sha } = archive('arm64', '1')
    await add({ version: '6.0.1', enabled: false })
    await add({ version: '6.0.0', beta: true, archs: [archive('arm64', '1')] })
    await add({ version: '6.0.3' })
    await asSecondServer(server, async (ctx) => {
      await addFound(ctx, ['6.0.1', '6.0.2'])
      await addFound(ctx, ['6.0.2'])
      await addFound(ctx, [])
      const special = (await listSpecial(ctx)).filter(({ version }) => version.startsWith('6.0'))
      expect(special).toEqual([
        { version: '6.0.1', enabled: false, beta: false, archives: [] },
        {
          version: '6.0.0',
          enabled: true,
          beta: true,
          archives: [{ platform: 'linux_arm64', url, sha }],
        },
      ])
    })
    const all = versionsOf(await server.admin.get(`${LIST}?search[version]=6.0`))
    expect(all.filter((version) => version.startsWith('6.0'))).toEqual(['6.0.3', '6.0.2', '6.0.1', '6.0.0'])
  })

  test('race: of several that are the same exactly one is added', async () => {
    const { data } = newVersionOfEngine()
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => server.admin.post(LIST, body(data.attributes))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(5).fill(422)])
  })
})
