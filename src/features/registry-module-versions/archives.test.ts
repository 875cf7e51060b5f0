import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { expectStatus, onEachDialect } from '../../../test/harness.ts'
import { createModule, createModuleVersion, MODULE, publishModule } from '../../../test/modules.ts'
import { put, sha256 } from '../../../test/registry.ts'
import { document } from '../../../test/resources.ts'
import { type Entries, makeSlug } from '../../../test/slugs.ts'

const OTHER = { 'main.tf': '# other' }

const link = (name: string, linkname: string) => ({ name, linkname, type: 'symlink' as const })

onEachDialect(
  'archives of modules',
  (server) => {
    const draft = async () => {
      const organization = await server.organization()
      const path = await createModule(organization)
      const { links } = await createModuleVersion(organization.owner, path)
      return { organization, owner: organization.owner, path, url: links.upload as string }
    }

    const hostile = (): Record<string, Entries | Buffer> => ({
      '../main.tf is not a path': { '../main.tf': '' },
      '/etc/passwd is not a path': { '/etc/passwd': '' },
      'a is a link that leads out': [link('a', '/etc')],
      'h/i lies below a link': [link('h', 'x'), { name: 'h/i' }],
      'n is neither a file': [{ name: 'n', type: 'fifo' }],
      'it is not a gzipped archive': Buffer.from('variable "a" {}'),
      'it is not a tar archive': gzipSync('x'.repeat(10_000)),
      'there is no .tf file in its root': { 'module/main.tf': '' },
    })

    test('are refused when they could do harm or hold no module; another one is taken', async () => {
      const { owner, path, url } = await draft()
      for (const [message, entries] of Object.entries(hostile())) {
        const answer = await put(url, Buffer.isBuffer(entries) ? entries : await makeSlug(entries))
        const { detail } = answer.body.errors[0]
        expect([answer.status, detail]).toEqual([422, expect.stringContaining(message)])
        const { attributes } = (await owner.get(`${path}/1.0.0`)).body.data
        expect(attributes).toMatchObject({ status: 'reg_ingress_failed', error: detail, sha256: null })
        const module = (await owner.get(path)).body.data.attributes
        expect(module['version-statuses']).toEqual([
          { version: '1.0.0', status: 'reg_ingress_failed', error: detail },
        ])
        expect(module.status).toBe('pending')
      }
      const whole = await makeSlug({ ...MODULE, 'b.tf': Math.random().toString().repeat(1000) })
      expect((await put(url, whole.subarray(0, whole.length - 100))).status).toBe(422)
      expect((await put(url, Buffer.alloc(2 ** 20 + 1))).body.errors[0].detail).toContain(
        'PLINTH_MAX_MODULE_BYTES',
      )
      expect((await put(url, whole)).status).toBe(200)
      const { attributes } = (await owner.get(`${path}/1.0.0`)).body.data
      expect(attributes).toMatchObject({ status: 'ok', error: null, sha256: sha256(whole) })
    })

    test('are described also where that takes a while', async () => {
      const { organization, owner, path } = await draft()
      const many = Array.from({ length: 2000 }, (_, n) => `variable "v${n}" {\n  default = ${n}\n}\n`)
      await publishModule(owner, path, '1.1.0', { 'main.tf': many.join('\n') })
      const { root } = (await owner.get(`/api/registry/v1/modules/${organization.name}/vpc/aws/1.1.0`)).body
      expect(root.inputs).toHaveLength(2000)
    })

    test('never change once they are published', async () => {
      const { url } = await draft()
      const archive = await makeSlug(MODULE)
      expect((await put(url, archive)).status).toBe(200)
      expect((await put(url, archive)).status).toBe(200)
      const other = await put(url, await makeSlug(OTHER))
      expect([other.status, other.body.errors[0].detail]).toEqual([
        409,
        expect.stringContaining(sha256(archive)),
      ])
      expect((await put(url, await makeSlug({ '../x': '' }))).status).toBe(409)
    })

    test('race: of uploads at the same moment one is published', async () => {
      const { owner, path, url } = await draft()
      const archives = await Promise.all([MODULE, OTHER, { 'main.tf': '# third' }].map(makeSlug))
      const answers = await Promise.all(archives.map((archive) => put(url, archive)))
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
      const winner = archives[answers.findIndex(({ status }) => status === 200)] as Buffer
      const { sha256: published } = (await owner.get(`${path}/1.0.0`)).body.data.attributes
      expect(published).toBe(sha256(winner))
    })

    test('that were deleted come back with the same contents only', async () => {
      const { organization, owner, path, url } = await draft()
      const archive = await makeSlug(MODULE)
      expectStatus(await put(url, archive), 200)
      expectStatus(await owner.delete(path), 204)
      expect((await put(url, archive)).status).toBe(404)
      await createModule(organization, 'VPC')
      const { links } = await createModuleVersion(owner, path)
      const refused = await put(links.upload, await makeSlug(OTHER))
      expect([refused.status, refused.body.errors[0].detail]).toEqual([
        422,
        expect.stringContaining(`was published with ${sha256(archive)}`),
      ])
      expectStatus(await put(links.upload, archive), 200)
    })

    test('may change after all where the organization says so, which is on record', async () => {
      const { organization, owner, path } = await draft()
      await publishModule(owner, path, '1.1.0')
      expectStatus(await owner.delete(`${path}/1.1.0`), 204)
      const allowed = document('organizations', { 'provider-version-reuse-enabled': true })
      expectStatus(await owner.patch(organization.path, allowed), 200)
      await publishModule(owner, path, '1.1.0', OTHER)
      const trail = await (await server.organizationToken(organization)).get(
        '/api/v2/organization/audit-trail',
      )
      const actions = trail.body.data.map(
        ({ resource }: { resource: { action: string; id: string } }) => `${resource.action} ${resource.id}`,
      )
      expect(actions).toContain('reuse vpc aws 1.1.0')
    })

    test('count for the quota, and need who sent the link to be allowed still', async () => {
      const { organization, owner, path, url } = await draft()
      const admin = `/api/v2/admin/organizations/${organization.name}`
      const quota = (bytes: number) => document('organizations', { 'registry-quota-bytes': bytes })
      expectStatus(await server.admin.patch(admin, quota(10)), 200)
      const archive = await makeSlug(MODULE)
      for (const bytes of [archive, 'this is no archive']) expect((await put(url, bytes)).status).toBe(413)
      expectStatus(await server.admin.patch(admin, quota(archive.length)), 200)
      const manager = await server.member(organization, ['manage-modules'])
      const { links } = (await manager.get(`${path}/1.0.0`)).body.data
      expectStatus(await owner.delete(`/api/v2/teams/${manager.teamId}`), 204)
      expect((await put(links.upload, archive)).status).toBe(404)
      expect((await put(url, archive)).status).toBe(200)
      const used = async () => (await server.admin.get(admin)).body.data.attributes['registry-used-bytes']
      expect(await used()).toBe(archive.length)
      expectStatus(await owner.delete(path), 204)
      expect(await used()).toBe(0)
    })
  },
  { PLINTH_MAX_MODULE_BYTES: String(2 ** 20) },
)
