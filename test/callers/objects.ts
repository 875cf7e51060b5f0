import { newAgentToken, newPool, queueRun, WireAgent } from '../agents.ts'
import { type Client, expectStatus, type TestMember, unique } from '../harness.ts'
import { createModule, publishModule } from '../modules.ts'
import { addKey, createPlatform, createProvider, createVersion, makeKey, publish, put } from '../registry.ts'
import {
  document,
  newProject,
  newVariable,
  newVarset,
  newVarsetVariable,
  newVersionOfEngine,
  newWorkspace,
  tags,
} from '../resources.ts'
import { newRun, uploadConfiguration } from '../runs.ts'
import { makeSlug } from '../slugs.ts'
import { lock, saveState } from '../states.ts'
import type { Cast } from './cast.ts'
import { newKept, newMirrored } from './mirror.ts'

/** The values of a path’s parameters. */
export type Params = Record<string, string>

/** Makes what a path is about; `caller` is who will call, if that matters. */
type Make = (cast: Cast, caller: Client) => Promise<Params>

const SHASUM = 'a'.repeat(64)

async function createdId(answer: Promise<Parameters<typeof expectStatus>[0]>): Promise<Params> {
  return { id: expectStatus(await answer, 201).body.data.id }
}

const newMember = ({ server, organization }: Cast): Promise<TestMember> => server.member(organization)

const newTeam: Make = ({ organization: { owner, path } }) =>
  createdId(
    owner.post(`${path}/teams`, document('teams', { name: `t-${unique()}`, visibility: 'organization' })),
  )

const withToken =
  (path: string): Make =>
  async (cast, caller) => {
    const team = await newTeam(cast, caller)
    const created = await cast.organization.owner.post(`/api/v2/teams/${team['id']}/${path}`)
    return path === 'authentication-token' ? team : { id: expectStatus(created, 201).body.data.id }
  }

const newKey: Make = ({ organization: { owner, path } }) => {
  const attributes = { key: `key-${unique()}`, 'disable-overrides': false }
  return createdId(owner.post(`${path}/reserved-tag-keys`, document('reserved-tag-keys', attributes)))
}

const newTag: Make = async ({ organization: { owner, path } }) => {
  const name = `tag-${unique()}`
  await newWorkspace(owner, path, {}, { tags: tags(name) })
  const [tag] = expectStatus(await owner.get(`${path}/tags?q=${name}`), 200).body.data
  return { id: tag.id }
}

const aProject: Make = async ({ organization: { owner, path } }) => newProject(owner, path)
const aWorkspace: Make = async ({ organization: { owner, path } }) => newWorkspace(owner, path)

const aVarset: Make = async ({ organization: { owner, path } }) => newVarset(owner, path)

const aVariable: Make = async (cast, caller) => {
  const { id = '' } = await aWorkspace(cast, caller)
  return { id, variable_id: (await newVariable(cast.organization.owner, id)).id }
}

const newGpgKey: Make = async ({ organization }) => {
  const { keyId } = await addKey(organization, await makeKey())
  const { name, owner } = organization
  const member = `/api/registry/private/v2/gpg-keys/${name}/${keyId}`
  const { id } = expectStatus(await owner.get(member), 200).body.data
  return { registry_name: 'private', namespace: name, key_id: keyId, id }
}

const ofOrganization = ({ organization: { name } }: Cast): Params => ({
  organization_name: name,
  registry_name: 'private',
  namespace: name,
})

const newProvider: Make = async (cast) => {
  const name = `p-${unique()}`
  await createProvider(cast.organization, name)
  return { ...ofOrganization(cast), name }
}

const newVersion: Make = async (cast, caller) => {
  const params = await newProvider(cast, caller)
  const { owner, path } = cast.organization
  const provider = `${path}/registry-providers/private/${params['namespace']}/${params['name']}`
  await createVersion(owner, provider, '1.2.3', await cast.signingKey())
  return { ...params, version: '1.2.3' }
}

const newPlatform: Make = async (cast, caller) => {
  const params = await newVersion(cast, caller)
  const { owner, path } = cast.organization
  const { namespace, name = '' } = params
  const filename = `terraform-provider-${name}_1.2.3_linux_amd64.zip`
  const target = { os: 'linux', arch: 'amd64' }
  const provider = `${path}/registry-providers/private/${namespace}/${name}`
  await createPlatform(owner, provider, '1.2.3', { ...target, filename, shasum: SHASUM })
  return { ...params, ...target }
}

const released: Make = async (cast) => {
  const name = await cast.once('release', async () => {
    const name = `p-${unique()}`
    await publish(cast.organization, name, '1.2.3', { platforms: ['linux_amd64'] })
    return name
  })
  return { ...ofOrganization(cast), name, version: '1.2.3', os: 'linux', arch: 'amd64' }
}

const aProviderDoc: Make = (cast) =>
  cast.once('provider-docs', async () => {
    const { owner } = cast.organization
    const { path } = await publish(cast.organization, `p-${unique()}`, '1.2.3', {
      platforms: ['linux_amd64'],
    })
    const { links } = expectStatus(await owner.get(`${path}/versions/1.2.3`), 200).body.data
    expectStatus(await put(links['docs-upload'], await makeSlug({ 'docs/index.md': '# Demo' })), 200)
    const [page] = expectStatus(await owner.get(`${path}/versions/1.2.3/docs`), 200).body.data
    return { id: page.id }
  })

const newModule: Make = async (cast) => {
  const name = `m-${unique()}`
  await createModule(cast.organization, name)
  return { ...ofOrganization(cast), name, provider: 'aws' }
}

const newModuleVersion: Make = async (cast, caller) => {
  const params = await newModule(cast, caller)
  const { owner, path, name: namespace } = cast.organization
  await publishModule(owner, `${path}/registry-modules/private/${namespace}/${params['name']}/aws`, '1.2.3')
  return { ...params, version: '1.2.3' }
}

/** For those who only read it. */
const aModuleVersion: Make = async (cast, caller) => {
  const name = await cast.once('module', async () => (await newModuleVersion(cast, caller))['name'] ?? '')
  return { ...ofOrganization(cast), name, provider: 'aws', version: '1.2.3' }
}

const newSshKey: Make = ({ organization: { owner, path } }) =>
  createdId(owner.post(`${path}/ssh-keys`, document('ssh-keys', { name: `k-${unique()}`, value: 'secret' })))

/** With an archive, and another one after it: only what is not current goes. */
const newConfiguration: Make = async ({ organization: { owner, path } }) => {
  const workspace = await newWorkspace(owner, path)
  const id = await uploadConfiguration(owner, workspace.id)
  await uploadConfiguration(owner, workspace.id)
  return { id }
}

const softDeleted: Make = async (cast, caller) => {
  const params = await newConfiguration(cast, caller)
  const actions = `/api/v2/configuration-versions/${params['id']}/actions`
  expectStatus(await cast.organization.owner.post(`${actions}/soft_delete_backing_data`), 200)
  return params
}

const aRun: Make = async ({ organization: { owner, path } }) => {
  const workspace = await newWorkspace(owner, path)
  await uploadConfiguration(owner, workspace.id)
  return newRun(owner, workspace.id)
}

const planOf: Make = async (cast, caller) => {
  const run = (await aRun(cast, caller)) as unknown as { relationships: { plan: { data: Params } } }
  return run.relationships.plan.data
}

const applyOf: Make = async (cast, caller) => {
  const run = (await aRun(cast, caller)) as unknown as { relationships: { apply: { data: Params } } }
  return run.relationships.apply.data
}

/** A run whose plan waits to be confirmed, and what the worker of its apply was told if it is applied at once. */
async function planned({ server, organization }: Cast, attributes: object = {}) {
  const poolId = await newPool(organization)
  const { secret } = await newAgentToken(organization, poolId)
  const agent = await WireAgent.register(server, secret)
  const run = await queueRun(organization, poolId, attributes)
  const { executionId } = await agent.claim()
  expectStatus(await agent.say(executionId, 'finish', { status: 'finished', hasChanges: true }), 204)
  return { run, agent }
}

const aPlannedRun: Make = async (cast) => (await planned(cast)).run

/** An apply that could not save its state. */
const anErroredApply: Make = async (cast) => {
  const { run, agent } = await planned(cast, { 'auto-apply': true })
  const { executionId, recoveryUrl } = await agent.claim()
  await fetch(recoveryUrl, { method: 'PUT', body: '{}' })
  expectStatus(await agent.say(executionId, 'finish', { status: 'errored' }), 204)
  return run.relationships.apply.data
}

/** A run that waits for the owner to unlock its workspace. */
const aWaitingRun: Make = async ({ organization: { owner, path } }) => {
  const workspace = await newWorkspace(owner, path)
  await uploadConfiguration(owner, workspace.id)
  await lock(owner, workspace.id)
  return newRun(owner, workspace.id)
}

const aComment: Make = async (cast, caller) => {
  const { id } = await aRun(cast, caller)
  const { owner } = cast.organization
  return createdId(owner.post(`/api/v2/runs/${id}/comments`, document('comments', { body: 'Looks good' })))
}

const aRunEvent: Make = async (cast, caller) => {
  const { id } = await aComment(cast, caller)
  const comment = expectStatus(await cast.organization.owner.get(`/api/v2/comments/${id}`), 200).body.data
  return comment.relationships['run-event'].data
}

const aRunTrigger: Make = async ({ organization: { owner, path } }) => {
  const [target, source] = [await newWorkspace(owner, path), await newWorkspace(owner, path)]
  const body = document('run-triggers', {}, { sourceable: { data: { id: source.id, type: 'workspaces' } } })
  return createdId(owner.post(`/api/v2/workspaces/${target.id}/run-triggers`, body))
}

/** A workspace with a state, locked by the caller if it may. */
const aWorkspaceWithState: Make = async ({ organization: { owner, path } }, caller) => {
  const workspace = await newWorkspace(owner, path)
  await saveState(owner, workspace.id, { outputs: { a: { value: 'a', type: 'string' } } })
  await lock(caller, workspace.id)
  return workspace
}

const aState: Make = async (cast, caller) => {
  const { id } = await aWorkspaceWithState(cast, caller)
  const { owner } = cast.organization
  return expectStatus(await owner.get(`/api/v2/workspaces/${id}/current-state-version`), 200).body.data
}

const anAgentPool: Make = async ({ organization }) => ({ id: await newPool(organization) })

/** One that may be deleted. */
const anExitedAgent: Make = async (cast) => {
  const { client } = await cast.agent()
  const agent = await WireAgent.register(cast.server, client.token ?? '')
  expectStatus(await client.delete(agent.path), 204)
  return { id: agent.id }
}

/** What an agent carries out; for others, one that they could have heard of. */
const anExecution =
  (phase: 'plan' | 'apply'): Make =>
  async (cast, caller) => {
    const agent = await cast.agent()
    const params = { id: agent.id, name: 'plan', execution_id: 'exec-1' }
    if (caller !== agent.client) return params
    await queueRun(cast.organization, await cast.agentPool(), { 'auto-apply': phase === 'apply' })
    const { executionId } = await agent.claim()
    expectStatus(await agent.client.post(`${agent.path}/executions/${executionId}/heartbeat`), 200)
    await agent.produce(executionId, 'plan', 'a plan')
    if (phase === 'plan') return { ...params, execution_id: executionId }
    await agent.say(executionId, 'finish', { status: 'finished', hasChanges: true })
    return { ...params, execution_id: (await agent.claim()).executionId }
  }

const aClaim: Make = async (cast, caller) => {
  const agent = await cast.agent()
  if (caller === agent.client) await queueRun(cast.organization, await cast.agentPool())
  return { id: agent.id }
}

const PROVIDER =
  '/api/v2/organizations/{organization_name}/registry-providers/{registry_name}/{namespace}/{name}'

const MODULE = '/api/v2/organizations/{organization_name}/registry-modules/{registry_name}/{namespace}/{name}'

/** What the paths of the API are about, by how they begin; the longest that fits counts. */
const OBJECTS: Record<string, Make> = {
  '/': async () => ({}),
  '/api/agent/v1/agents/{id}': async (cast) => ({ id: (await cast.agent()).id }),
  '/api/agent/v1/agents/{id}/claim': aClaim,
  '/api/agent/v1/agents/{id}/executions/': anExecution('plan'),
  '/api/agent/v1/agents/{id}/executions/{execution_id}/state': anExecution('apply'),
  '/api/registry/{registry_name}/v2/gpg-keys': async (cast) => ofOrganization(cast),
  '/api/registry/{registry_name}/v2/gpg-keys/': newGpgKey,
  '/api/registry/v1/modules/': aModuleVersion,
  '/api/registry/v1/providers/': released,
  '/api/v2/admin/organizations/{organization_name}': async (cast) => ofOrganization(cast),
  '/api/v2/admin/users/{id}': async ({ server }) => ({ id: (await server.user()).id }),
  '/api/v2/admin/terraform-versions/{id}': ({ server }) =>
    createdId(server.admin.post('/api/v2/admin/terraform-versions', newVersionOfEngine())),
  '/api/v2/agent-pools/{id}': anAgentPool,
  '/api/v2/agents/{id}': anExitedAgent,
  '/api/v2/applies/{id}': applyOf,
  '/api/v2/applies/{id}/errored-state': anErroredApply,
  '/api/v2/authentication-tokens/{id}': withToken('authentication-tokens'),
  '/api/v2/comments/{id}': aComment,
  '/api/v2/configuration-versions/{id}': newConfiguration,
  '/api/v2/configuration-versions/{id}/actions/permanently_delete_backing_data': softDeleted,
  '/api/v2/configuration-versions/{id}/actions/restore_backing_data': softDeleted,
  '/api/v2/mirrored-packages/{id}': (cast) => newKept(cast, 'packages'),
  '/api/v2/mirrored-providers/{id}': (cast) => newKept(cast, 'providers'),
  '/api/v2/organization-memberships/{id}': async (cast) => ({ id: (await newMember(cast)).membershipId }),
  '/api/v2/organizations/{organization_name}': async (cast) => ofOrganization(cast),
  '/api/v2/organizations/{organization_name}/workspaces/{name}': async (cast, caller) => {
    const { attributes } = (await aWorkspace(cast, caller)) as unknown as { attributes: { name: string } }
    return { ...ofOrganization(cast), name: attributes.name }
  },
  [MODULE]: newModule,
  [`${MODULE}/{provider}/version`]: aModuleVersion,
  [`${MODULE}/{provider}/versions`]: newModule,
  [`${MODULE}/{provider}/{version}`]: newModuleVersion,
  [PROVIDER]: newProvider,
  [`${PROVIDER}/versions/{version}`]: newVersion,
  [`${PROVIDER}/versions/{version}/platforms/{os}`]: newPlatform,
  '/api/v2/projects/{id}': aProject,
  '/api/v2/registry-modules/': newModule,
  '/api/v2/registry-modules/{id}': async (cast, caller) => {
    const { name } = await newModule(cast, caller)
    const { owner, path, name: namespace } = cast.organization
    return (await owner.get(`${path}/registry-modules/private/${namespace}/${name}/aws`)).body.data
  },
  '/api/v2/registry-modules/actions/delete/{organization_name}/{name}/{provider}/{version}': newModuleVersion,
  '/api/v2/registry-provider-docs/{id}': aProviderDoc,
  '/api/v2/registry-providers/{id}': async (cast, caller) => {
    const { name } = await newProvider(cast, caller)
    const { owner, path, name: namespace } = cast.organization
    return (await owner.get(`${path}/registry-providers/private/${namespace}/${name}`)).body.data
  },
  '/api/v2/reserved-tag-keys/{id}': newKey,
  '/api/v2/reserved-tags/{id}': newKey,
  '/api/v2/run-events/{id}': aRunEvent,
  '/api/v2/run-triggers/{id}': aRunTrigger,
  '/api/v2/plans/{id}': planOf,
  '/api/v2/runs/{id}': aRun,
  '/api/v2/runs/{id}/actions/apply': aPlannedRun,
  '/api/v2/runs/{id}/actions/discard': aPlannedRun,
  '/api/v2/runs/{id}/actions/force-execute': aWaitingRun,
  '/api/v2/ssh-keys/{id}': newSshKey,
  '/api/v2/state-version-outputs/{id}': async (cast, caller) => {
    const { id } = await aState(cast, caller)
    return (await cast.organization.owner.get(`/api/v2/state-versions/${id}/outputs`)).body.data[0]
  },
  '/api/v2/state-versions/{id}': aState,
  '/api/v2/tags/{id}': newTag,
  '/api/v2/teams/{id}': newTeam,
  '/api/v2/teams/{id}/authentication-token': withToken('authentication-token'),
  '/api/v2/users/{id}': async (cast) => ({ id: (await cast.self()).id }),
  '/api/v2/vars/{id}': async (cast, caller) => ({
    id: (await aVariable(cast, caller))['variable_id'] as string,
  }),
  '/api/v2/varsets/{id}': aVarset,
  '/api/v2/varsets/{id}/relationships/vars/{variable_id}': async (cast, caller) => {
    const { id = '' } = await aVarset(cast, caller)
    return { id, variable_id: (await newVarsetVariable(cast.organization.owner, id)).id }
  },
  '/api/v2/workspaces/{id}': aWorkspace,
  '/api/v2/workspaces/{id}/vars/{variable_id}': aVariable,
  '/api/v2/workspaces/{id}/actions/force-unlock': async (cast, caller) => {
    const workspace = await aWorkspace(cast, caller)
    const locked = await cast.organization.owner.post(`/api/v2/workspaces/${workspace['id']}/actions/lock`)
    expectStatus(locked, 200)
    return workspace
  },
  '/api/v2/workspaces/{id}/actions/unlock': async (cast, caller) => {
    const workspace = await aWorkspace(cast, caller)
    // Only who locked a workspace unlocks it; who may not lock finds it locked by the owner.
    for (const who of [caller, cast.organization.owner]) {
      await who.post(`/api/v2/workspaces/${workspace['id']}/actions/lock`)
    }
    return workspace
  },
  '/api/v2/workspaces/{id}/current-state-version': aWorkspaceWithState,
  '/api/v2/workspaces/{id}/state-versions': aWorkspaceWithState,
  '/docs/reference/{name}': async () => ({ name: 'teams' }),
  '/registry/providers/': async (cast, caller) => ({
    ...(await released(cast, caller)),
    category: 'overview',
    slug: 'index',
  }),
  '/mirror/': newMirrored,
  '/storage/': async () => ({ id: 'x', expires: '4102444800', signature: 'x', filename: 'x' }),
  '/storage/provider-mirror/': async (cast) => ({
    ...(await newMirrored(cast)),
    ...{ id: 'x', expires: '4102444800', signature: 'x', version: '1.0.0', os: 'linux', arch: 'amd64' },
  }),
}

/** Makes something new that `path`, with braces around the names of its parameters, can be about. */
export function makeObject(path: string, cast: Cast, caller: Client): Promise<Params> {
  const [longest = '/'] = Object.keys(OBJECTS)
    .filter((start) => path.startsWith(start))
    .sort((a, b) => b.length - a.length)
  return (OBJECTS[longest] as Make)(cast, caller)
}
