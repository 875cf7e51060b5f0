import { readdir } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { expectStatus, onEachDialect, pointers, type TestOrganization } from '../../../test/harness.ts'
import {
  createModule,
  createModuleVersion,
  deprecation,
  MODULE,
  publishModule,
} from '../../../test/modules.ts'
import { put, sha256 } from '../../../test/registry.ts'
import { document } from '../../../test/resources.ts'
import { makeSlug } from '../../../test/slugs.ts'

const body = (attributes: object) => document('registry-module-versions', attributes)

/** What the transparency log says of modules, the newest last. */
async function logged({ owner, path }: TestOrganization) {
  const { data } = expectStatus(await owner.get(`${path}/registry-log`), 200).body
  const records = data.map(
    ({ attributes }: { attributes: { action: string; subject: object } }) => attributes,
  )
  return records
    .toReversed()
    .map(({ action, subject }: { action: string; subject: object }) => ({ action, subject }))
}

onEachDialect('versions of modules', (server) => {
  const newModule = async () => {
    const organization = await server.organization()
    return { organization, owner: organization.owner, path: await createModule(organization) }
  }

  test('are announced, uploaded, shown, listed and deleted', async () => {
    const { organization, owner, path } = await newModule()
    const commit = 'f'.repeat(40)
    const created = await owner.post(`${path}/versions`, body({ version: '1.0.0', 'commit-sha': commit }))
    expect(created.status).toBe(201)
    const module = (await owner.get(path)).body.data
    expect(created.body.data).toEqual({
      id: expect.stringMatching(/^modver-/),
      type: 'registry-module-versions',
      attributes: {
        version: '1.0.0',
        status: 'pending',
        source: 'tfe-api',
        'created-at': expect.any(String),
        'updated-at': expect.any(String),
        error: null,
        'commit-sha': commit,
        sha256: null,
        size: null,
        downloads: 0,
        warnings: [],
        deprecation: null,
        permissions: { 'can-delete': true, 'can-upload-asset': true },
      },
      relationships: { 'registry-module': { data: { id: module.id, type: 'registry-modules' } } },
      links: { self: `${path}/1.0.0`, upload: expect.stringContaining('/storage/module-archive/') },
    })
    const archive = await makeSlug({ ...MODULE, 'broken.tf': 'variable "x" {' })
    expect((await put(created.body.data.links.upload, archive)).status).toBe(200)
    const shown = await owner.get(`${path}/1.0.0`)
    const { upload: _gone, ...links } = shown.body.data.links
    expect(shown.body.data).toMatchObject({
      attributes: {
        status: 'ok',
        sha256: sha256(archive),
        size: archive.length,
        warnings: ['broken.tf: it cannot be read from line 1 on'],
      },
      links: { self: `${path}/1.0.0`, download: expect.stringMatching(/\/vpc-aws-1\.0\.0\.tar\.gz$/) },
    })
    expect(links).toEqual(shown.body.data.links)
    const wanted = await owner.get(`${path}/version?module_version=1.0.0`)
    expect(wanted.body.data.id).toBe(created.body.data.id)
    const response = await fetch(links.download)
    expect(Buffer.from(await response.arrayBuffer())).toEqual(archive)
    await createModuleVersion(owner, path, '1.1.0')
    const page = (await owner.get(`${path}/versions?page[size]=1&page[number]=2`)).body
    expect(page.data).toMatchObject([{ type: 'registry-module-versions', attributes: { version: '1.1.0' } }])
    expect(page.meta.pagination['total-count']).toBe(2)
    expect((await owner.get(`${path}/versions?page[number]=2`)).body.data).toEqual([])
    expectStatus(await owner.delete(`${path}/1.0.0`), 204)
    expect((await owner.get(`${path}/1.0.0`)).status).toBe(404)
    expect((await fetch(links.download)).status).toBe(404)
    const older = `/api/v2/registry-modules/actions/delete/${organization.name}/vpc/aws/1.1.0`
    expectStatus(await owner.post(older), 204)
    expect((await owner.get(path)).status).toBe(404)
  })

  test('are announced by the older address too', async () => {
    const { organization, owner } = await newModule()
    const older = `/api/v2/registry-modules/${organization.name}/vpc/aws/versions`
    expect((await owner.post(older, body({ version: '1.0.0' }))).body.data.attributes.version).toBe('1.0.0')
  })

  test('are refused with every violation', async () => {
    const { owner, path } = await newModule()
    const collection = `${path}/versions`
    for (const version of ['v1.0.0', '1.0', '01.0.0', 'latest']) {
      const answer = await owner.post(collection, body({ version, 'commit-sha': 'a'.repeat(256) }))
      expect(answer.status).toBe(422)
      expect(pointers(answer)).toEqual(['/data/attributes/commit-sha', '/data/attributes/version'])
    }
    expectStatus(await owner.post(collection, body({ version: '1.0.0' })), 201)
    const taken = await owner.post(collection, body({ version: '1.0.0' }))
    expect([taken.status, taken.body.errors[0].detail]).toEqual([422, 'Version has already been taken'])
    expect((await owner.post(collection, document('modules', { version: '1.1.0' }))).status).toBe(422)
    expect((await owner.post(collection, 'no json')).status).toBe(400)
    expect((await owner.send('POST', collection, '{}', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await server.nobody.post(collection, 'no json')).status).toBe(401)
    expect((await owner.get(`${path}/version`)).status).toBe(400)
  })

  test('are deprecated, which can be taken back, and all of it is in the transparency log', async () => {
    const { organization, owner, path } = await newModule()
    const archive = await publishModule(owner, path)
    const said = { reason: 'It opens a port.', link: 'https://example.com/why' }
    const deprecated = await owner.patch(`${path}/1.0.0`, deprecation('Deprecated', said))
    const { id } = (await owner.get(`${path}/1.0.0`)).body.data
    expect(deprecated.status).toBe(200)
    expect(deprecated.body).toEqual({
      data: {
        id,
        type: 'module-versions',
        relationships: { deprecation: { data: { id, type: 'deprecations' } } },
      },
      included: [{ id, type: 'deprecations', attributes: said }],
    })
    const shown = async () => (await owner.get(`${path}/1.0.0`)).body.data.attributes.deprecation
    expect(await shown()).toEqual({ ...said, 'deprecated-at': expect.any(String) })
    expectStatus(await owner.patch(`${path}/1.0.0`, deprecation('Deprecated')), 200)
    expect(await shown()).toMatchObject({ reason: null, link: null })
    const reverted = await owner.patch(`${path}/1.0.0`, deprecation('Undeprecated'))
    expect(reverted.body).toEqual({
      data: { id, type: 'module-versions', relationships: { deprecation: { data: null } } },
    })
    expectStatus(await owner.patch(`${path}/1.0.0`, deprecation('Undeprecated')), 200)
    expect(await shown()).toBeNull()
    expectStatus(await owner.delete(`${path}/1.0.0`), 204)
    const subject = {
      kind: 'module-version',
      namespace: organization.name,
      name: 'vpc',
      system: 'aws',
      version: '1.0.0',
      digests: { 'vpc-aws-1.0.0.tar.gz': sha256(archive) },
    }
    expect(await logged(organization)).toEqual([
      { action: 'publish', subject },
      { action: 'deprecate', subject: { ...subject, details: said } },
      { action: 'deprecate', subject: { ...subject, details: {} } },
      { action: 'undeprecate', subject },
      { action: 'delete', subject },
    ])
  })

  test('are deprecated as it should be', async () => {
    const { owner, path } = await newModule()
    await createModuleVersion(owner, path)
    expect((await owner.patch(`${path}/1.0.0`, deprecation('Deprecated'))).status).toBe(409)
    const refused = await owner.patch(`${path}/1.0.0`, deprecation('Revoked', { link: 'ftp://x', reason: 1 }))
    const attribute = '/data/attributes/deprecation'
    expect(pointers(refused)).toEqual(
      ['deprecated-status', 'link', 'reason'].map((name) => `${attribute}/${name}`),
    )
    expect(pointers(await owner.patch(`${path}/1.0.0`, document('module-versions', {})))).toEqual([attribute])
    expect((await owner.patch(`${path}/9.9.9`, deprecation('Deprecated'))).status).toBe(404)
  })

  test('are managed by those who may', async () => {
    const { organization, owner, path } = await newModule()
    await createModuleVersion(owner, path)
    const member = await server.member(organization)
    const shown = (await member.get(`${path}/1.0.0`)).body.data
    expect(shown.links).toEqual({ self: `${path}/1.0.0` })
    expect(shown.attributes.permissions).toEqual({ 'can-delete': false, 'can-upload-asset': false })
    const manager = await server.teamToken(organization, ['manage-modules'])
    const tries = [
      () => member.post(`${path}/versions`, 'no json'),
      () => member.patch(`${path}/1.0.0`, 'no json'),
      () => member.delete(`${path}/1.0.0`),
    ]
    for (const attempt of tries) expect((await attempt()).status).toBe(404)
    const stranger = await server.user()
    for (const address of ['versions', '1.0.0', 'version?module_version=1.0.0']) {
      expect((await stranger.get(`${path}/${address}`)).status).toBe(404)
    }
    const { links } = (await manager.get(`${path}/1.0.0`)).body.data
    expect((await put(links.upload, await makeSlug(MODULE))).status).toBe(200)
    expectStatus(await manager.delete(`${path}/1.0.0`), 204)
  })

  test('count the downloads of their archives', async () => {
    const { owner, path } = await newModule()
    await publishModule(owner, path, '1.0.0')
    await publishModule(owner, path, '1.1.0')
    const linkOf = async (version: string) => (await owner.get(`${path}/${version}`)).body.data.links.download
    const url = await linkOf('1.0.0')
    for (const init of [{}, {}, { method: 'HEAD' }, { headers: { range: 'bytes=10-' } }]) {
      await (await fetch(url, init)).arrayBuffer()
    }
    await (await fetch(await linkOf('1.1.0'))).arrayBuffer()
    expectStatus(await owner.delete(`${path}/1.1.0`), 204)
    await server.restart()
    expect((await owner.get(`${path}/1.0.0`)).body.data.attributes.downloads).toBe(2)
    await (await fetch(await linkOf('1.0.0'))).arrayBuffer()
    await server.restart()
    expect((await owner.get(`${path}/1.0.0`)).body.data.attributes.downloads).toBe(3)
  })

  test('race: of many at once one is made', async () => {
    const { owner, path } = await newModule()
    const answers = await Promise.all(
      [1, 2, 3].map(() => owner.post(`${path}/versions`, body({ version: '1.0.0' }))),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422, 422])
  })

  test('go with their module and their organization, and so do their files', async () => {
    const { organization, owner, path } = await newModule()
    await publishModule(owner, path)
    const other = await createModule(organization, 'dns')
    await publishModule(owner, other)
    const files = async () => {
      const names = await readdir(server.config.blobs.path, { recursive: true })
      return names.filter((name) => ids.some((id) => name.includes(id)) && !/modver-\w+$/.test(name)).length
    }
    const links: string[] = []
    const ids: string[] = []
    for (const address of [path, other]) {
      const { data } = (await owner.get(`${address}/1.0.0`)).body
      links.push(data.links.download)
      ids.push(data.id)
    }
    expect(await files()).toBe(2)
    expectStatus(await owner.delete(path), 204)
    expect(await files()).toBe(1)
    expectStatus(await owner.delete(organization.path), 204)
    expect(await files()).toBe(0)
    for (const link of links) expect((await fetch(link)).status).toBe(404)
  })
})
