import { type Client, unique } from '../harness.ts'
import { deprecation } from '../modules.ts'
import { makeKey } from '../registry.ts'
import { bindings, document, newProject, newVersionOfEngine, newWorkspace, tags } from '../resources.ts'
import { runDocument, uploadConfiguration } from '../runs.ts'
import { announcement, rawState } from '../states.ts'
import type { Cast } from './cast.ts'
import type { Params } from './objects.ts'

/** A body that the operation accepts, for the object that `params` name. */
type Make = (cast: Cast, params: Params, caller: Client) => unknown

const named =
  (type: string): Make =>
  () =>
    document(type, { name: `n-${unique()}` })

const identifiers = (type: string, ...ids: (string | undefined)[]) => ({
  data: ids.map((id) => ({ id, type })),
})

const member = async ({ server, organization }: Cast) => server.member(organization)

const newKey: Make = () =>
  document('reserved-tag-keys', { key: `key-${unique()}`, 'disable-overrides': true })
const newBindings: Make = () => bindings({ [`key-${unique()}`]: 'value' })
const oneTag: Make = () => tags(`tag-${unique()}`)
const description: Make = () => document('authentication-tokens', { description: unique() })
const described =
  (type: string): Make =>
  () =>
    document(type, { description: 'changed' })

const aWorkspace: Make = async ({ organization: { owner, path } }) => {
  const { id } = await newWorkspace(owner, path)
  return identifiers('workspaces', id)
}

const aProject: Make = async ({ organization: { owner, path } }) =>
  identifiers('projects', (await newProject(owner, path)).id)

const aVariable: Make = () => document('vars', { key: `key_${unique()}`, category: 'env' })

const user = () => ({ username: `u-${unique()}`, email: `${unique()}@example.com` })

/** By the id of the operation; all others need no body. */
const BODIES: Record<string, Make> = {
  createRun: async ({ organization: { owner, path } }) => {
    const { id } = await newWorkspace(owner, path)
    await uploadConfiguration(owner, id)
    return runDocument(id)
  },
  createAgentPool: named('agent-pools'),
  updateAgentPool: () => document('agent-pools', {}),
  createAgentPoolAuthenticationToken: description,
  registerAgent: () => ({ name: 'build-8', version: '0.1.0' }),
  describeExecution: () => ({ terraformVersion: '1.11.4', sandbox: 'none' }),
  appendExecutionLog: () => 'Planning.',
  produceExecutionFile: () => 'a plan',
  saveExecutionState: () => STATE,
  finishExecution: () => ({ status: 'errored', error: 'It broke.' }),
  createGpgKey: async ({ organization: { name } }) =>
    document('gpg-keys', { namespace: name, 'ascii-armor': (await makeKey()).armor }),
  updateGpgKey: ({ organization: { name } }) => document('gpg-keys', { namespace: name }),
  updateAccount: () => document('users', {}),
  updatePassword: (_cast, _params, caller) => {
    const password = `correct horse ${unique()}`
    const known = PASSWORDS.get(caller) ?? null
    PASSWORDS.set(caller, password)
    return document('users', { current_password: known, password, password_confirmation: password })
  },
  createUser: () => document('users', user()),
  updateUser: () => document('users', user()),
  createOrganization: () => document('organizations', { name: `o-${unique()}`, email: 'owner@example.com' }),
  updateProviderMirror: () => document('provider-mirrors', { 'trust-on-first-use': true }),
  updateOrganization: () => document('organizations', { email: 'changed@example.com' }),
  updateAdminOrganization: () => document('organizations', { 'registry-quota-bytes': null }),
  createOrganizationMembership: () =>
    document('organization-memberships', { email: `${unique()}@example.com` }),
  createProject: named('projects'),
  updateProject: described('projects'),
  createWorkspace: named('workspaces'),
  updateWorkspace: described('workspaces'),
  updateWorkspaceByName: described('workspaces'),
  moveWorkspaces: aWorkspace,
  addWorkspacesToTag: aWorkspace,
  createModule: () => document('registry-modules', { name: `m-${unique()}`, provider: 'aws' }),
  updateModule: () => document('registry-modules', { 'no-code': true }),
  createModuleVersion: () => document('registry-module-versions', { version: '1.0.0' }),
  createModuleVersionByOlderAddress: () => document('registry-module-versions', { version: '1.0.0' }),
  deprecateModuleVersion: () => deprecation('Deprecated'),
  createProvider: ({ organization: { name } }) =>
    document('registry-providers', { name: `p-${unique()}`, namespace: name, 'registry-name': 'private' }),
  createProviderVersion: async (cast) => {
    const { keyId } = await cast.signingKey()
    return document('registry-provider-versions', { version: '1.0.0', 'key-id': keyId, protocols: ['5.0'] })
  },
  updateProviderVersion: () =>
    document('registry-provider-versions', { deprecation: { 'deprecated-status': 'Undeprecated' } }),
  createProviderPlatform: (_cast, { name }) => {
    const filename = `terraform-provider-${name}_1.2.3_darwin_arm64.zip`
    const attributes = { os: 'darwin', arch: 'arm64', shasum: 'b'.repeat(64), filename }
    return document('registry-provider-platforms', attributes)
  },
  createComment: () => document('comments', { body: 'Looks good' }),
  createRunTrigger: async ({ organization: { owner, path } }) => {
    const { id } = await newWorkspace(owner, path)
    return document('run-triggers', {}, { sourceable: { data: { id, type: 'workspaces' } } })
  },
  createConfigurationVersion: () => document('configuration-versions', {}),
  createStateVersion: () => document('state-versions', announcement(rawState({ serial: 2 }))),
  rollBackState: async ({ organization: { owner } }, { id }) => {
    const current = await owner.get(`/api/v2/workspaces/${id}/current-state-version`)
    const { id: target } = current.body.data
    const relationships = { 'rollback-state-version': { data: { type: 'state-versions', id: target } } }
    return document('state-versions', {}, relationships)
  },
  addRemoteStateConsumers: aWorkspace,
  replaceRemoteStateConsumers: aWorkspace,
  removeRemoteStateConsumers: aWorkspace,
  createTerraformVersion: newVersionOfEngine,
  updateTerraformVersion: () => document('terraform-versions', { beta: true }),
  createSshKey: () => document('ssh-keys', { name: `k-${unique()}`, value: 'secret' }),
  updateSshKey: named('ssh-keys'),
  assignSshKey: () => document('workspaces', { id: null }),
  createReservedTagKey: newKey,
  updateReservedTag: newKey,
  updateReservedTagKey: newKey,
  removeTags: async ({ organization: { owner, path } }) => {
    const name = `tag-${unique()}`
    await newWorkspace(owner, path, {}, { tags: tags(name) })
    const [tag] = (await owner.get(`${path}/tags?q=${name}`)).body.data
    return identifiers('tags', tag.id)
  },
  createVariable: aVariable,
  updateVariable: aVariable,
  createVariableById: async ({ organization: { owner, path } }) => {
    const { id } = await newWorkspace(owner, path)
    const workspace = { data: { id, type: 'workspaces' } }
    return document('vars', { key: 'key', category: 'env' }, { workspace })
  },
  updateVariableById: aVariable,
  createVariableSet: named('varsets'),
  updateVariableSet: described('varsets'),
  replaceVariableSet: described('varsets'),
  addVariableSetWorkspaces: aWorkspace,
  removeVariableSetWorkspaces: aWorkspace,
  addVariableSetProjects: aProject,
  removeVariableSetProjects: aProject,
  createVariableSetVariable: aVariable,
  updateVariableSetVariable: aVariable,
  addWorkspaceTags: oneTag,
  removeWorkspaceTags: oneTag,
  addProjectTagBindings: newBindings,
  addProjectTagBindingsRelationship: newBindings,
  replaceProjectTagBindings: newBindings,
  addWorkspaceTagBindings: newBindings,
  addWorkspaceTagBindingsRelationship: newBindings,
  replaceWorkspaceTagBindings: newBindings,
  createTeam: named('teams'),
  // Nothing: who may change the name is not who may change what the team may do.
  updateTeam: () => document('teams', {}),
  addTeamUsers: async (cast) => identifiers('users', (await member(cast)).username),
  removeTeamUsers: async (cast) => identifiers('users', (await member(cast)).username),
  addTeamMemberships: async (cast) =>
    identifiers('organization-memberships', (await member(cast)).membershipId),
  removeTeamMemberships: async (cast) =>
    identifiers('organization-memberships', (await member(cast)).membershipId),
  createUserAuthenticationToken: description,
  createTeamAuthenticationToken: description,
  replaceTeamToken: description,
  replaceOrganizationToken: description,
}

/** A state that may be a workspace's first. */
export const STATE = JSON.stringify({
  version: 4,
  terraform_version: '1.11.4',
  serial: 1,
  lineage: 'f5b3c1de-0000-4000-8000-000000000001',
  outputs: {},
  resources: [],
})

/** What callers have last made their password. */
const PASSWORDS = new WeakMap<Client, string>()

export function makeBody(id: string, cast: Cast, params: Params, caller: Client): unknown {
  return BODIES[id]?.(cast, params, caller)
}
