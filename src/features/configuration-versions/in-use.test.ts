import { expect, test } from 'vitest'
import { applyRun } from '../../../test/applied.ts'
import { expectStatus, onEachDialect, type TestServer } from '../../../test/harness.ts'
import { put } from '../../../test/registry.ts'
import { newWorkspace } from '../../../test/resources.ts'
import { runDocument, uploadConfiguration } from '../../../test/runs.ts'
import { newConfigurationVersion } from '../../../test/slugs.ts'

async function inWorkspace(server: TestServer) {
  const { owner, path } = await server.organization()
  const { id } = await newWorkspace(owner, path)
  return { owner, workspaceId: id }
}

onEachDialect(
  'configuration versions in use',
  (server) => {
    test('are the current one of their workspace, unless they are speculative, provisional or useless', async () => {
      const { owner, workspaceId } = await inWorkspace(server)
      const shown = async () =>
        owner.get(`/api/v2/workspaces/${workspaceId}?include=current_configuration_version`)
      const current = async () => {
        const { body } = await shown()
        return body.data.relationships['current-configuration-version'].data?.id
      }
      expect(await current()).toBeUndefined()
      const { id: first } = await newConfigurationVersion(owner, workspaceId)
      expect(await current()).toBe(first)
      for (const attributes of [{ speculative: true }, { provisional: true }])
        await uploadConfiguration(owner, workspaceId, undefined, attributes)
      const broken = await newConfigurationVersion(owner, workspaceId)
      expect((await put(broken.attributes['upload-url'], 'nonsense')).status).toBe(422)
      expect(await current()).toBe(first)
      const next = await uploadConfiguration(owner, workspaceId)
      expect((await shown()).body.included).toMatchObject([{ id: next, type: 'configuration-versions' }])
    })

    test('are needed as long as a run with them has not ended, and become current when it is applied', async () => {
      const { owner, workspaceId } = await inWorkspace(server)
      const id = await uploadConfiguration(owner, workspaceId, undefined, { provisional: true })
      const member = `/api/v2/configuration-versions/${id}`
      const created = await owner.post('/api/v2/runs', runDocument(workspaceId, {}, id))
      const run = expectStatus(created, 201).body.data
      for (const action of ['archive', 'soft_delete_backing_data']) {
        const refused = await owner.post(`${member}/actions/${action}`)
        expect([refused.status, refused.body.errors[0].detail]).toEqual([
          409,
          expect.stringContaining('a run that has not ended uses it'),
        ])
      }
      const ofRun = await owner.get(`/api/v2/runs/${run.id}/configuration-version`)
      expect(ofRun.body.data).toEqual((await owner.get(member)).body.data)
      const redirect = await owner.get(`/api/v2/runs/${run.id}/configuration-version/download`)
      expect(redirect.status).toBe(302)
      expect((await fetch(redirect.headers.get('location') as string)).status).toBe(200)
      const stranger = await server.user()
      for (const path of ['', '/download'])
        expect((await stranger.get(`/api/v2/runs/${run.id}/configuration-version${path}`)).status).toBe(404)
      await applyRun(server, owner, run.id)
      expect((await owner.get(member)).body.data.attributes.provisional).toBe(false)
      expect((await owner.post(`${member}/actions/archive`)).body.errors[0].detail).toContain('it is current')
      await uploadConfiguration(owner, workspaceId)
      expect((await owner.post(`${member}/actions/archive`)).status).toBe(202)
    })
  },
  { PLINTH_RUN_WORKERS: '0' },
)
