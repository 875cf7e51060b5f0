import type { Grant } from './permissions.ts'

/** Who may call an operation. */
export type Caller =
  /** Also without a token. */
  | 'everybody'
  /** Whoever has a link that the server made. */
  | 'link'
  /** Whoever has the token for the metrics, which is none of ours. */
  | 'metrics'
  /** Tokens that are limited to registry providers, as far as their owners may. */
  | 'limited'
  /** The same, where the operation is about one of their providers. */
  | 'publishers'
  /** Whoever has a valid token; the answer is limited to what its owner may see. */
  | 'tokens'
  /** Every user, in person: not the token of a team or an organization. */
  | 'users'
  /** The user whom it is about. */
  | 'self'
  /** Whoever is in an organization with that user. */
  | 'colleagues'
  | 'site-admins'
  /** Agents of a pool, by its tokens. */
  | 'agents'
  /** The programs of the organization’s runs, by the token that each gets; of workspaces, those that share their state. */
  | 'runs'
  /** Every member of the organization, and the tokens of its teams. */
  | 'members'
  | 'owners'
  /** The organization's own token. */
  | 'organization'
  /** Members of teams with this right, and the tokens of such teams. */
  | Grant

const EVERYBODY = ['everybody'] as const
const LINK = ['link'] as const
const AGENTS = ['agents'] as const
const OWNERS = ['owners'] as const
const OWNERS_AND_TOKEN = ['owners', 'organization'] as const
const MEMBERS = ['owners', 'organization', 'members'] as const
const READERS = [
  ...OWNERS_AND_TOKEN,
  'manage-projects',
  'manage-workspaces',
  'read-projects',
  'read-workspaces',
] as const
const PROJECTS = [...OWNERS_AND_TOKEN, 'manage-projects'] as const
const WORKSPACES = [...OWNERS_AND_TOKEN, 'manage-projects', 'manage-workspaces'] as const
const LOCKS = [...OWNERS, 'manage-projects', 'manage-workspaces'] as const
const TAGS = [...OWNERS_AND_TOKEN, 'manage-workspaces'] as const
const SSH_KEYS = [...OWNERS_AND_TOKEN, 'manage-vcs-settings'] as const
const SSH_KEY_READERS = [...SSH_KEYS, 'manage-workspaces'] as const
const PROVIDERS = [...OWNERS, 'manage-providers'] as const
const MODULES = [...OWNERS, 'manage-modules'] as const
const REGISTRY = [...MEMBERS, 'limited', 'runs'] as const
const PUBLISHING = [...PROVIDERS, 'publishers'] as const
const TEAMS = [...OWNERS_AND_TOKEN, 'manage-teams'] as const
const POOLS = [...OWNERS_AND_TOKEN, 'manage-agent-pools'] as const
const TEAM_MEMBERS = [...OWNERS_AND_TOKEN, 'manage-membership', 'manage-teams'] as const
const MEMBERSHIPS = [...OWNERS_AND_TOKEN, 'manage-membership'] as const

/**
 * Who may call each operation, by its id; everybody else gets 404, or 401 without a token. The documentation
 * shows it, and test/callers.test.ts calls every operation as each of them and as everybody else.
 */
export const CALLERS: Record<string, readonly Caller[]> = {
  // Server
  discoverServices: EVERYBODY,
  ping: EVERYBODY,
  showHealth: EVERYBODY,
  showReadiness: EVERYBODY,
  showMetrics: ['metrics'],

  // Client command
  downloadClient: EVERYBODY,

  // Documentation
  showOpenApi: EVERYBODY,
  showStableOpenApi: EVERYBODY,
  showReference: EVERYBODY,
  showReferencePage: EVERYBODY,
  showChangelog: EVERYBODY,
  listChanges: EVERYBODY,
  followChanges: EVERYBODY,

  // Signing in
  showConsent: EVERYBODY,
  answerConsent: EVERYBODY,
  redeemCode: EVERYBODY,
  showSignIn: EVERYBODY,
  signIn: EVERYBODY,
  signOut: EVERYBODY,

  // Agents
  listAgentPools: [...READERS, 'manage-agent-pools'],
  createAgentPool: POOLS,
  showAgentPool: [...READERS, 'manage-agent-pools'],
  updateAgentPool: POOLS,
  removeAgentPool: POOLS,
  listAgentPoolAuthenticationTokens: POOLS,
  createAgentPoolAuthenticationToken: POOLS,
  listAgents: [...READERS, 'manage-agent-pools'],
  showAgent: [...READERS, 'manage-agent-pools'],
  removeAgent: POOLS,

  // Agent protocol
  registerAgent: AGENTS,
  leaveAgent: AGENTS,
  claimExecution: AGENTS,
  keepExecution: AGENTS,
  describeExecution: AGENTS,
  appendExecutionLog: AGENTS,
  fetchExecutionFile: AGENTS,
  produceExecutionFile: AGENTS,
  saveExecutionState: AGENTS,
  finishExecution: AGENTS,

  // Users
  showAccount: ['tokens'],
  updateAccount: ['users'],
  updatePassword: ['users'],
  showUser: ['self', 'colleagues', 'site-admins'],
  listUsers: ['site-admins'],
  createUser: ['site-admins'],
  updateUser: ['site-admins'],
  removeUser: ['site-admins'],

  // Tokens
  listUserAuthenticationTokens: ['self', 'site-admins'],
  createUserAuthenticationToken: ['self', 'site-admins'],
  listTeamAuthenticationTokens: TEAMS,
  createTeamAuthenticationToken: TEAMS,
  showTeamToken: TEAMS,
  replaceTeamToken: TEAMS,
  removeTeamToken: TEAMS,
  listTeamTokens: MEMBERS,
  showOrganizationToken: OWNERS,
  replaceOrganizationToken: OWNERS,
  removeOrganizationToken: OWNERS,
  showToken: TEAMS,
  removeToken: TEAMS,

  // Administration
  showAdminOrganization: ['site-admins'],
  updateAdminOrganization: ['site-admins'],

  // Organizations
  listOrganizations: ['tokens'],
  createOrganization: ['users'],
  showOrganization: [...MEMBERS, 'runs'],
  updateOrganization: OWNERS_AND_TOKEN,
  removeOrganization: OWNERS,
  showEntitlementSet: [...MEMBERS, 'runs'],

  // Organization memberships
  listOrganizationMemberships: MEMBERS,
  listOwnMemberships: ['users'],
  listTeamMemberships: MEMBERS,
  createOrganizationMembership: MEMBERSHIPS,
  showOrganizationMembership: MEMBERS,
  removeOrganizationMembership: MEMBERSHIPS,

  // Teams
  listTeams: MEMBERS,
  createTeam: TEAMS,
  showTeam: MEMBERS,
  updateTeam: [...TEAMS, 'manage-organization-access'],
  removeTeam: TEAMS,
  addTeamUsers: TEAM_MEMBERS,
  removeTeamUsers: TEAM_MEMBERS,
  addTeamMemberships: TEAM_MEMBERS,
  removeTeamMemberships: TEAM_MEMBERS,

  // Audit trail
  listAuditEvents: ['organization'],

  // Projects
  listProjects: MEMBERS,
  createProject: PROJECTS,
  showProject: READERS,
  updateProject: PROJECTS,
  removeProject: PROJECTS,

  // Workspaces
  listWorkspaces: MEMBERS,
  createWorkspace: WORKSPACES,
  moveWorkspaces: WORKSPACES,
  showWorkspace: READERS,
  updateWorkspace: WORKSPACES,
  removeWorkspace: WORKSPACES,
  removeWorkspaceSafely: WORKSPACES,
  showWorkspaceByName: READERS,
  updateWorkspaceByName: WORKSPACES,
  removeWorkspaceByName: WORKSPACES,
  removeWorkspaceByNameSafely: WORKSPACES,
  lockWorkspace: LOCKS,
  unlockWorkspace: LOCKS,
  forceUnlockWorkspace: WORKSPACES,

  // Configuration versions
  listConfigurationVersions: READERS,
  createConfigurationVersion: LOCKS,
  showConfigurationVersion: READERS,
  showConfigurationVersionOfRun: READERS,
  fetchConfiguration: READERS,
  fetchConfigurationOfRun: READERS,
  archiveConfigurationVersion: LOCKS,
  softDeleteConfiguration: WORKSPACES,
  restoreConfiguration: WORKSPACES,
  permanentlyDeleteConfiguration: WORKSPACES,

  // State versions
  listStateVersions: READERS,
  createStateVersion: LOCKS,
  rollBackState: LOCKS,
  showCurrentStateVersion: READERS,
  showStateVersion: READERS,
  listStateVersionOutputs: READERS,
  listCurrentStateVersionOutputs: READERS,
  showStateVersionOutput: READERS,
  listWorkspaceResources: READERS,
  listRemoteStateConsumers: READERS,
  addRemoteStateConsumers: WORKSPACES,
  replaceRemoteStateConsumers: WORKSPACES,
  removeRemoteStateConsumers: WORKSPACES,

  // SSH keys
  listSshKeys: SSH_KEY_READERS,
  createSshKey: SSH_KEYS,
  showSshKey: SSH_KEY_READERS,
  updateSshKey: SSH_KEYS,
  removeSshKey: SSH_KEYS,
  assignSshKey: WORKSPACES,

  // Terraform versions
  listTerraformVersions: ['site-admins'],
  createTerraformVersion: ['site-admins'],
  showTerraformVersion: ['site-admins'],
  updateTerraformVersion: ['site-admins'],
  removeTerraformVersion: ['site-admins'],

  // Variables and variable sets
  listVariables: READERS,
  createVariable: WORKSPACES,
  showVariable: READERS,
  updateVariable: WORKSPACES,
  removeVariable: WORKSPACES,
  listVariablesEverywhere: ['tokens'],
  createVariableById: WORKSPACES,
  updateVariableById: WORKSPACES,
  removeVariableById: WORKSPACES,
  listEffectiveVariables: READERS,
  listVariableSets: READERS,
  listProjectVariableSets: READERS,
  listWorkspaceVariableSets: READERS,
  createVariableSet: WORKSPACES,
  showVariableSet: READERS,
  updateVariableSet: WORKSPACES,
  replaceVariableSet: WORKSPACES,
  removeVariableSet: WORKSPACES,
  addVariableSetWorkspaces: WORKSPACES,
  removeVariableSetWorkspaces: WORKSPACES,
  addVariableSetProjects: WORKSPACES,
  removeVariableSetProjects: WORKSPACES,
  listVariableSetVariables: READERS,
  createVariableSetVariable: WORKSPACES,
  showVariableSetVariable: READERS,
  updateVariableSetVariable: WORKSPACES,
  removeVariableSetVariable: WORKSPACES,

  // Comments, run events and run triggers
  listComments: READERS,
  createComment: LOCKS,
  showComment: READERS,
  listRunEvents: READERS,
  showRunEvent: READERS,
  listRunTriggers: READERS,
  createRunTrigger: WORKSPACES,
  showRunTrigger: READERS,
  removeRunTrigger: WORKSPACES,

  // Tags and tag bindings
  listTags: MEMBERS,
  removeTags: TAGS,
  addWorkspacesToTag: TAGS,
  listWorkspaceTags: READERS,
  addWorkspaceTags: WORKSPACES,
  removeWorkspaceTags: WORKSPACES,
  listProjectTagBindings: READERS,
  listProjectTagBindingsRelationship: READERS,
  listProjectEffectiveTagBindings: READERS,
  addProjectTagBindings: PROJECTS,
  addProjectTagBindingsRelationship: PROJECTS,
  replaceProjectTagBindings: PROJECTS,
  listWorkspaceTagBindings: READERS,
  listWorkspaceTagBindingsRelationship: READERS,
  listWorkspaceEffectiveTagBindings: READERS,
  addWorkspaceTagBindings: WORKSPACES,
  addWorkspaceTagBindingsRelationship: WORKSPACES,
  replaceWorkspaceTagBindings: WORKSPACES,

  // Reserved tag keys
  listReservedTagKeys: MEMBERS,
  createReservedTagKey: OWNERS_AND_TOKEN,
  updateReservedTag: OWNERS_AND_TOKEN,
  updateReservedTagKey: OWNERS_AND_TOKEN,
  removeReservedTag: OWNERS_AND_TOKEN,
  removeReservedTagKey: OWNERS_AND_TOKEN,

  // Registry
  listGpgKeys: REGISTRY,
  createGpgKey: PROVIDERS,
  showGpgKeyById: REGISTRY,
  showGpgKey: REGISTRY,
  updateGpgKey: PROVIDERS,
  removeGpgKey: PROVIDERS,
  listRegistryLog: REGISTRY,
  exportRegistryLog: REGISTRY,
  listProviders: REGISTRY,
  createProvider: PROVIDERS,
  showProvider: REGISTRY,
  showProviderById: REGISTRY,
  removeProvider: PROVIDERS,
  listProviderVersions: REGISTRY,
  createProviderVersion: PUBLISHING,
  showProviderVersion: REGISTRY,
  listReleaseFiles: REGISTRY,
  listProviderConsumers: PROVIDERS,
  updateProviderVersion: PUBLISHING,
  removeProviderVersion: PUBLISHING,
  listProviderPlatforms: REGISTRY,
  createProviderPlatform: PUBLISHING,
  showProviderPlatform: REGISTRY,
  removeProviderPlatform: PUBLISHING,
  listProviderDocs: REGISTRY,
  searchProviderDocs: REGISTRY,
  showProviderDoc: REGISTRY,
  browseProviderDocs: EVERYBODY,
  browseProviderDoc: EVERYBODY,
  listInstallableVersions: REGISTRY,
  findPackage: REGISTRY,
  showProviderMirror: REGISTRY,
  updateProviderMirror: PROVIDERS,
  listMirroredProviders: REGISTRY,
  removeMirroredProvider: PROVIDERS,
  listMirroredPackages: REGISTRY,
  removeMirroredPackage: PROVIDERS,
  listMirroredVersions: REGISTRY,
  listMirroredArchives: REGISTRY,
  listInstallableVersionsOfRun: LINK,
  findPackageOfRun: LINK,
  listModules: REGISTRY,
  createModule: MODULES,
  showModule: REGISTRY,
  showModuleById: REGISTRY,
  showModuleByOlderAddress: REGISTRY,
  updateModule: MODULES,
  removeModule: MODULES,
  removeModules: MODULES,
  removeModuleByOlderAddress: MODULES,
  removeModulesByOlderAddress: MODULES,
  listModuleVersions: REGISTRY,
  createModuleVersion: MODULES,
  createModuleVersionByOlderAddress: MODULES,
  showModuleVersion: REGISTRY,
  findModuleVersion: REGISTRY,
  deprecateModuleVersion: MODULES,
  removeModuleVersion: MODULES,
  removeModuleVersionByOlderAddress: MODULES,
  listInstallableModuleVersions: REGISTRY,
  findModuleArchive: REGISTRY,
  findLatestModuleArchive: REGISTRY,
  describeModuleVersion: REGISTRY,
  describeLatestModuleVersion: REGISTRY,

  // Storage
  uploadModuleArchive: LINK,
  downloadModuleArchive: LINK,
  downloadModuleArchiveByName: LINK,
  uploadProviderArchive: LINK,
  uploadProviderDocs: LINK,
  uploadProviderShasums: LINK,
  uploadProviderShasumsSignature: LINK,
  downloadProviderArchive: LINK,
  downloadProviderArchiveByName: LINK,
  downloadProviderShasums: LINK,
  downloadProviderShasumsByName: LINK,
  downloadProviderShasumsSignature: LINK,
  downloadProviderShasumsSignatureByName: LINK,
  downloadMirroredArchive: LINK,
  downloadMirroredArchiveByName: LINK,
  downloadMirroredShasums: LINK,
  downloadMirroredShasumsByName: LINK,
  downloadMirroredShasumsSignature: LINK,
  downloadMirroredShasumsSignatureByName: LINK,
  readLog: LINK,
  uploadConfiguration: LINK,
  downloadConfiguration: LINK,
  downloadConfigurationByName: LINK,
  uploadState: LINK,
  downloadState: LINK,
  downloadStateByName: LINK,
  uploadJsonState: LINK,
  downloadJsonState: LINK,
  downloadJsonStateByName: LINK,

  // Applies, of which there are none yet
  showApply: READERS,
  showErroredState: READERS,
  uploadErroredState: LINK,
  downloadErroredState: LINK,
  downloadErroredStateByName: LINK,

  // Plans
  showPlan: READERS,
  showPlanJson: READERS,
  showPlanJsonOfRun: READERS,
  showRedactedPlanJson: READERS,
  showRedactedPlanJsonOfRun: READERS,
  showPlanSchema: READERS,
  showPlanSchemaOfRun: READERS,
  downloadPlanJson: LINK,
  downloadPlanJsonByName: LINK,
  downloadRedactedPlanJson: LINK,
  downloadRedactedPlanJsonByName: LINK,
  downloadPlanSchema: LINK,
  downloadPlanSchemaByName: LINK,

  // Runs
  createRun: LOCKS,
  showRun: READERS,
  listRunsOfWorkspace: READERS,
  listRunsOfOrganization: MEMBERS,
  showQueuePosition: READERS,
  showRunQueue: MEMBERS,
  showCapacity: READERS,
  applyRun: LOCKS,
  discardRun: LOCKS,
  cancelRun: LOCKS,
  forceCancelRun: LOCKS,
  forceExecuteRun: LOCKS,
}

const NAMES: Partial<Record<Caller, string>> = {
  everybody: 'everybody, without a token',
  link: 'whoever has the link',
  metrics: 'whoever has the token for the metrics',
  tokens: 'whoever has a token',
  users: 'every user, in person',
  self: 'the user whom it is about',
  colleagues: 'whoever is in an organization with that user, and the tokens of its teams',
  'site-admins': 'site administrators',
  agents: 'agents, with a token of their pool',
  runs: 'the programs of runs, as far as their workspace may',
  members: 'every member of the organization, and the tokens of its teams',
  limited: 'also by tokens that are limited to some providers',
  publishers: 'also by tokens that are limited to this provider',
  owners: 'owners of the organization',
  organization: 'the organization’s token',
}

/** Who may call an operation, as a sentence for the documentation. */
export function describeCallers(callers: readonly Caller[]): string {
  const names = callers.map((caller) => NAMES[caller] ?? `teams with \`${caller}\``)
  return `Allowed: ${names.join('; ') || 'nobody yet'}.`
}
