import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect, onTestFinished } from 'vitest'
import { ZipFile } from 'yazl'
import { expectStatus, onEachDialect } from '../../../test/harness.ts'
import { document, newWorkspace } from '../../../test/resources.ts'
import { newRun, readLog, untilRun, uploadConfiguration } from '../../../test/runs.ts'
import { testWithTerraform } from '../../../test/terraform.ts'
import { PLATFORM } from '../../engine/platform.ts'

const LIST = '/api/v2/admin/terraform-versions'

/** Serves a zip of an engine that is the real one, and says so; returns what is registered of it. */
async function publish(terraform: string) {
  const script = `#!/bin/sh\n[ "$1" = init ] && echo 'Made by the site' >&2\nexec ${terraform} "$@"\n`
  const zip = new ZipFile()
  zip.addBuffer(Buffer.from(script), 'terraform')
  zip.end()
  const bytes = await buffer(zip.outputStream)
  const server = createServer((_request, response) => void response.end(bytes))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const [os, arch] = PLATFORM.split('_')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/engine.zip`
  return { url, sha: createHash('sha256').update(bytes).digest('hex'), os, arch }
}

onEachDialect(
  'versions of the engine, in runs',
  (server) => {
    const add = async (attributes: object) =>
      expectStatus(await server.admin.post(LIST, document('terraform-versions', attributes)), 201).body.data

    const start = async () => {
      const { owner, path } = await server.organization()
      return {
        owner,
        run: async (version: string, attributes: object = {}) => {
          const workspace = await newWorkspace(owner, path, { 'terraform-version': version })
          await uploadConfiguration(owner, workspace.id)
          return (await newRun(owner, workspace.id, attributes)).id as string
        },
      }
    }

    testWithTerraform(
      'are fetched from where site administrators say, and not used once disabled',
      async (terraform) => {
        const { owner, run } = await start()
        const { id } = await add({ version: '99.1.0', archs: [await publish(terraform)] })
        const first = await run('~> 99.1', { 'auto-apply': true })
        const { attributes, relationships } = await untilRun(owner, first, ['applied', 'errored'])
        expect(attributes).toMatchObject({ status: 'applied', 'terraform-version': '99.1.0' })
        expect(await readLog(owner, 'plans', relationships.plan.data.id)).toMatch(/^Terraform v99\.1\.0\n/)
        const waiting = await run('99.1.0')
        await untilRun(owner, waiting, ['planned'])

        expectStatus(
          await server.admin.patch(`${LIST}/${id}`, document('terraform-versions', { enabled: false })),
          200,
        )
        const reason = 'engine version 99.1.0 is disabled by the administrators of the site'
        const refused = await untilRun(owner, await run('99.1.0'), ['errored'])
        const plan = await owner.get(`/api/v2/plans/${refused.relationships.plan.data.id}`)
        expect(plan.body.data.attributes).toMatchObject({
          status: 'errored',
          error: expect.stringContaining(reason),
        })
        expect(await readLog(owner, 'plans', plan.body.data.id)).toContain(`E${reason.slice(1)}`)
        const latest = await untilRun(owner, await run('latest'), ['planned', 'errored'])
        expect(latest.attributes['terraform-version']).not.toBe('99.1.0')
        expect(latest.attributes.status).toBe('planned')

        expectStatus(await owner.post(`/api/v2/runs/${waiting}/actions/apply`, {}), 202)
        const { status } = (await untilRun(owner, waiting, ['errored', 'applied'])).attributes
        expect(status).toBe('errored')
      },
      60_000,
    )

    testWithTerraform(
      'are known when a server has found them on its machine',
      async () => {
        const { owner, run } = await start()
        const { attributes } = await untilRun(owner, await run('latest'), ['planned', 'errored'])
        const found = attributes['terraform-version']
        const list = await server.admin.get(`${LIST}?filter[version]=${found}`)
        expect(list.body.data).toMatchObject([{ attributes: { version: found, enabled: true, archs: [] } }])
      },
      60_000,
    )
  },
  { PLINTH_RUN_WORKERS: '2' },
)
