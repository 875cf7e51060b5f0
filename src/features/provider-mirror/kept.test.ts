import { beforeAll, expect, test } from 'vitest'
import { expectStatus, onEachDialect, type TestOrganization, unique } from '../../../test/harness.ts'
import { at, key, MIRROR, mirrored, registry, settingsOf } from '../../../test/mirrors.ts'
import { document } from '../../../test/resources.ts'
import type { UpstreamRelease } from '../../../test/upstream.ts'

const METRICS_TOKEN = 'a-token-for-the-metrics'

const fetched = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())

onEachDialect(
  'what a mirror keeps',
  (server) => {
    const name = `p${unique()}`
    let release: UpstreamRelease
    const listed = (organization: TestOrganization) => at(organization, name, 'index.json')
    const version = (organization: TestOrganization) => at(organization, name, '1.0.0.json')

    beforeAll(async () => {
      release = await registry.release(name, '1.0.0', key)
    })

    test('counts what it is asked for, and how it answers', async () => {
      const organization = await mirrored(server)
      const { owner } = organization
      const counted = async (what: string, outcome: string) => {
        const { text } = await server.as(METRICS_TOKEN).get('/metrics')
        const name = `plinth_mirror_requests_total{what="${what}",outcome="${outcome}"} `
        return Number(text.split(name)[1]?.split('\n')[0] ?? 0)
      }
      const kinds = ['versions', 'release', 'archive']
      const all = (outcome: string) => Promise.all(kinds.map((what) => counted(what, outcome)))
      const [fetchedBefore, keptBefore] = [await all('fetched'), await all('kept')]
      for (let time = 0; time < 2; time += 1) {
        expectStatus(await owner.get(listed(organization)), 200)
        const { archives } = expectStatus(await owner.get(version(organization)), 200).body
        await fetched(archives.linux_amd64.url)
      }
      const more = (now: number[], before: number[]) => now.map((count, at) => count - (before[at] ?? 0))
      expect(more(await all('fetched'), fetchedBefore)).toEqual([1, 1, 1])
      // To verify a version, the list of versions is looked at as well.
      expect(more(await all('kept'), keptBefore)).toEqual([2, 1, 1])
    })

    test('comes in pages', async () => {
      const organization = await mirrored(server)
      const { owner } = organization
      const { archives } = (await owner.get(version(organization))).body
      for (const { url } of Object.values<{ url: string }>(archives)) await fetched(url)
      for (const list of ['providers', 'packages']) {
        const at = `${settingsOf(organization)}/${list}?page[size]=1&page[number]=`
        const total = list === 'packages' ? 2 : 1
        const last = (await owner.get(at + total)).body
        expect([last.data.length, last.meta.pagination['total-count']]).toEqual([1, total])
        expect((await owner.get(at + (total + 1))).body.data).toEqual([])
      }
    })

    test('counts towards the quota, and gives room back', async () => {
      const organization = await mirrored(server)
      const { owner } = organization
      const setQuota = (bytes: number) =>
        server.admin.patch(
          `/api/v2/admin/organizations/${organization.name}`,
          document('organizations', { 'registry-quota-bytes': bytes }),
        )
      const used = async () =>
        (await server.admin.get(`/api/v2/admin/organizations/${organization.name}`)).body.data.attributes[
          'registry-used-bytes'
        ]
      const { archives } = (await owner.get(version(organization))).body
      const small = release.shasums.length + release.signature.length
      expect(await used()).toBe(small)
      const bytes = release.archives.get('linux_amd64')?.length ?? 0
      expectStatus(await setQuota(small + bytes - 1), 200)
      const refused = await fetch(archives.linux_amd64.url)
      expect(refused.status).toBe(413)
      const { data } = (await owner.get(`${settingsOf(organization)}/providers`)).body
      expect(data[0].attributes['last-error']).toMatch(/^1\.0\.0 linux_amd64: .*registry quota/)
      expectStatus(await setQuota(small + bytes), 200)
      expect((await fetch(archives.linux_amd64.url)).status).toBe(200)
      expect(await used()).toBe(small + bytes)
      expect((await fetch(archives.darwin_arm64.url)).status).toBe(413)

      const [kept] = (await owner.get(`${settingsOf(organization)}/packages`)).body.data
      expectStatus(await owner.delete(`/api/v2/mirrored-packages/${kept.id}`), 204)
      expect((await owner.delete(`/api/v2/mirrored-packages/${kept.id}`)).status).toBe(404)
      expect(await used()).toBe(small)
      expectStatus(await setQuota(small + (release.archives.get('darwin_arm64')?.length ?? 0)), 200)
      expect((await fetch(archives.darwin_arm64.url)).status).toBe(200)
      expectStatus(await owner.delete(`/api/v2/mirrored-providers/${data[0].id}`), 204)
      expect(await used()).toBe(0)
      expect((await fetch(archives.darwin_arm64.url)).status).toBe(404)
      // Files go with their organization, too.
      expectStatus(await owner.get(version(organization)), 200)
      expectStatus(await owner.delete(organization.path), 204)
    })
  },
  { ...MIRROR, PLINTH_METRICS_TOKEN: METRICS_TOKEN },
)
