import { expect, test } from 'vitest'
import { newAgentToken, newAgentWorkspace, newPool, WireAgent } from '../../../test/agents.ts'
import { type Client, expectStatus, onEachDialect, type TestOrganization } from '../../../test/harness.ts'
import { document, inProject, newProject, newWorkspace } from '../../../test/resources.ts'
import { newRun } from '../../../test/runs.ts'
import { postState, rawState, saveState } from '../../../test/states.ts'

const OUTPUTS = { secret: { value: 'hunter2', type: 'string', sensitive: true } }

onEachDialect(
  'the state of a workspace',
  (server) => {
    /** The program of a run, and its workspace. */
    const startProgram = async (organization: TestOrganization) => {
      const poolId = await newPool(organization)
      const { secret } = await newAgentToken(organization, poolId)
      const agent = await WireAgent.register(server, secret)
      const workspace = await newAgentWorkspace(organization, poolId)
      await newRun(organization.owner, workspace.id)
      const assignment = await agent.claim()
      return { program: server.as(assignment.token), workspace, assignment, agent }
    }

    const produce = async (
      { owner, path }: Pick<TestOrganization, 'owner' | 'path'>,
      attributes: object = {},
      relationships?: object,
    ) => {
      const workspace = await newWorkspace(owner, path, attributes, relationships)
      await saveState(owner, workspace.id, { outputs: OUTPUTS })
      return workspace
    }

    /** What a configuration does to read a state: each of the statuses, and the value of a sensitive output. */
    const read = async (
      client: Client,
      path: string,
      { id, attributes }: { id: string; attributes: { name: string } },
    ) => {
      const named = await client.get(`${path}/workspaces/${attributes.name}?include=outputs`)
      const current = await client.get(`/api/v2/workspaces/${id}/current-state-version`)
      const outputs = await client.get(`/api/v2/workspaces/${id}/current-state-version-outputs`)
      const statuses = [named, current, outputs].map(({ status }) => status)
      if (statuses.some((status) => status !== 200)) return statuses
      const [output] = named.body.included
      const revealed = expectStatus(await client.get(`/api/v2/state-version-outputs/${output.id}`), 200)
      const url = current.body.data.attributes['hosted-state-download-url']
      const raw = JSON.parse(await (await fetch(url)).text())
      return [raw.outputs.secret.value, revealed.body.data.attributes.value]
    }
    const ALL = ['hunter2', 'hunter2']
    const NOTHING = [404, 404, 404]

    test('is read by the runs of workspaces that it is shared with, and of no others', async () => {
      const organization = await server.organization()
      const { owner, path } = organization
      const { program, workspace } = await startProgram(organization)
      const project = await newProject(owner, path)
      const elsewhere = await server.organization()
      const shared = { 'global-remote-state': true }
      const ofProject = { 'project-remote-state': true }
      const listed = await produce(organization)
      const consumers = `/api/v2/workspaces/${listed.id}/relationships/remote-state-consumers`
      const body = { data: [{ type: 'workspaces', id: workspace.id }] }
      expectStatus(await owner.post(consumers, body), 204)

      expect(await read(program, path, listed)).toEqual(ALL)
      expect(await read(program, path, await produce(organization, shared))).toEqual(ALL)
      expect(await read(program, path, await produce(organization, ofProject))).toEqual(ALL)
      expect(await read(program, path, await produce(organization))).toEqual(NOTHING)
      expect(
        await read(program, path, await produce(organization, ofProject, inProject(project.id))),
      ).toEqual(NOTHING)
      expect(await read(program, elsewhere.path, await produce(elsewhere, shared))).toEqual(NOTHING)
      expect(await program.get(`/api/v2/workspaces/${workspace.id}`)).toMatchObject({ status: 200 })

      expectStatus(await owner.delete(consumers, body), 204)
      expect(await read(program, path, listed)).toEqual(NOTHING)
    })

    test('is only read: a run that may see a workspace may do nothing else with it', async () => {
      const organization = await server.organization()
      const { path, name } = organization
      const { program, workspace, agent, assignment } = await startProgram(organization)
      const producer = await produce(organization, { 'global-remote-state': true })
      const at = `/api/v2/workspaces/${producer.id}`
      expect(await program.get(`${path}/entitlement-set`)).toMatchObject({ status: 200 })
      const filter = `filter[organization][name]=${name}&filter[workspace][name]=${producer.attributes.name}`
      expect(await program.get(`/api/v2/state-versions?${filter}`)).toMatchObject({ status: 200 })
      for (const url of [
        `${at}/vars`,
        `${at}/runs`,
        `${at}/configuration-versions`,
        `/api/v2/workspaces/${workspace.id}/vars`,
      ])
        expect([url, (await program.get(url)).status]).toEqual([url, 404])
      expect(await program.post(`${at}/actions/lock`)).toMatchObject({ status: 404 })
      expect(await program.patch(at, document('workspaces', { name: 'x' }))).toMatchObject({ status: 404 })
      expect(await postState(program, workspace.id, rawState())).toMatchObject({ status: 404 })
      const listed = await program.get(`${path}/workspaces`)
      expect([listed.status, listed.body.data ?? []]).toEqual([listed.status, []])

      const outcome = { status: 'errored', error: 'no' }
      expectStatus(await agent.say(assignment.executionId, 'finish', outcome), 204)
      expect(await program.get(at)).toMatchObject({ status: 401 })
    })
  },
  { PLINTH_RUN_WORKERS: '0' },
)
