import type { BlobTable } from '../blobs/table.ts'
import type {
  AgentPoolExclusionTable,
  AgentPoolProjectTable,
  AgentPoolTable,
  AgentPoolWorkspaceTable,
} from '../features/agent-pools/table.ts'
import type { AgentTable } from '../features/agents/table.ts'
import type { ApplyTable } from '../features/applies/table.ts'
import type { AuditEventTable } from '../features/audit-trail/table.ts'
import type { CommentTable } from '../features/comments/table.ts'
import type { ConfigurationVersionTable } from '../features/configuration-versions/table.ts'
import type { ExecutionTable } from '../features/executions/table.ts'
import type { GpgKeyTable } from '../features/gpg-keys/table.ts'
import type { LogChunkTable, LogTable } from '../features/logs/table.ts'
import type { AuthorizationCodeTable } from '../features/oauth/table.ts'
import type { OrganizationMembershipTable } from '../features/organization-memberships/table.ts'
import type { OrganizationTable } from '../features/organizations/table.ts'
import type { PasswordTable } from '../features/passwords/table.ts'
import type { PlanTable } from '../features/plans/table.ts'
import type { ProjectTable } from '../features/projects/table.ts'
import type {
  MirroredPackageTable,
  MirroredProviderTable,
  MirroredVersionTable,
  ProviderMirrorTable,
} from '../features/provider-mirror/table.ts'
import type {
  RegistryLogHeadTable,
  RegistryLogKeyTable,
  RegistryLogRecordTable,
} from '../features/registry-log/table.ts'
import type {
  RegistryModuleDescriptionTable,
  RegistryModuleDownloadTable,
  RegistryModuleTombstoneTable,
  RegistryModuleVersionTable,
} from '../features/registry-module-versions/table.ts'
import type { RegistryModuleTable } from '../features/registry-modules/table.ts'
import type { RegistryProviderDownloadTable } from '../features/registry-provider-consumers/table.ts'
import type {
  RegistryProviderDocPageTable,
  RegistryProviderDocsTable,
} from '../features/registry-provider-docs/table.ts'
import type { RegistryProviderPlatformTable } from '../features/registry-provider-platforms/table.ts'
import type {
  RegistryProviderTombstoneTable,
  RegistryProviderVersionTable,
} from '../features/registry-provider-versions/table.ts'
import type { RegistryProviderTable } from '../features/registry-providers/table.ts'
import type { RegistryQuotaTable } from '../features/registry-quotas/table.ts'
import type { RemoteStateConsumerTable } from '../features/remote-state-consumers/table.ts'
import type { ReservedTagKeyTable } from '../features/reserved-tag-keys/table.ts'
import type { RunEventTable } from '../features/run-events/table.ts'
import type { RunTriggerTable } from '../features/run-triggers/table.ts'
import type { RunTable } from '../features/runs/table.ts'
import type { SessionTable } from '../features/sessions/table.ts'
import type { SignInAttemptTable } from '../features/sign-in-attempts/table.ts'
import type { SshKeyTable } from '../features/ssh-keys/table.ts'
import type { StateVersionOutputTable } from '../features/state-version-outputs/table.ts'
import type { StateVersionTable } from '../features/state-versions/table.ts'
import type { TagBindingTable } from '../features/tag-bindings/table.ts'
import type { TagTable, WorkspaceTagTable } from '../features/tags/table.ts'
import type { TeamMembershipTable, TeamTable } from '../features/teams/table.ts'
import type { TerraformVersionTable } from '../features/terraform-versions/table.ts'
import type { TokenTable } from '../features/tokens/table.ts'
import type { UserTable } from '../features/users/table.ts'
import type { VarTable } from '../features/vars/table.ts'
import type {
  VarsetProjectTable,
  VarsetTable,
  VarsetVarTable,
  VarsetWorkspaceTable,
} from '../features/varsets/table.ts'
import type { WorkspaceResourceTable } from '../features/workspace-resources/table.ts'
import type { WorkspaceTable } from '../features/workspaces/table.ts'
import type { JobTable } from '../jobs/table.ts'

/** Every table, by its name in camelCase. Each belongs to the folder its row type comes from. */
export interface Database {
  agentPoolExclusions: AgentPoolExclusionTable
  agentPoolProjects: AgentPoolProjectTable
  agentPools: AgentPoolTable
  agentPoolWorkspaces: AgentPoolWorkspaceTable
  agents: AgentTable
  applies: ApplyTable
  auditEvents: AuditEventTable
  authorizationCodes: AuthorizationCodeTable
  blobs: BlobTable
  comments: CommentTable
  configurationVersions: ConfigurationVersionTable
  executions: ExecutionTable
  gpgKeys: GpgKeyTable
  jobs: JobTable
  logChunks: LogChunkTable
  logs: LogTable
  mirroredPackages: MirroredPackageTable
  mirroredProviders: MirroredProviderTable
  mirroredVersions: MirroredVersionTable
  organizationMemberships: OrganizationMembershipTable
  organizations: OrganizationTable
  passwords: PasswordTable
  plans: PlanTable
  projects: ProjectTable
  providerMirrors: ProviderMirrorTable
  registryLogHeads: RegistryLogHeadTable
  registryLogKeys: RegistryLogKeyTable
  registryLogRecords: RegistryLogRecordTable
  registryProviderDownloads: RegistryProviderDownloadTable
  registryModuleDescriptions: RegistryModuleDescriptionTable
  registryModuleDownloads: RegistryModuleDownloadTable
  registryModules: RegistryModuleTable
  registryModuleTombstones: RegistryModuleTombstoneTable
  registryModuleVersions: RegistryModuleVersionTable
  registryProviderDocPages: RegistryProviderDocPageTable
  registryProviderDocs: RegistryProviderDocsTable
  registryProviderPlatforms: RegistryProviderPlatformTable
  registryProviders: RegistryProviderTable
  registryProviderTombstones: RegistryProviderTombstoneTable
  registryProviderVersions: RegistryProviderVersionTable
  registryQuotas: RegistryQuotaTable
  remoteStateConsumers: RemoteStateConsumerTable
  reservedTagKeys: ReservedTagKeyTable
  runEvents: RunEventTable
  runs: RunTable
  runTriggers: RunTriggerTable
  sessions: SessionTable
  signInAttempts: SignInAttemptTable
  sshKeys: SshKeyTable
  stateVersionOutputs: StateVersionOutputTable
  stateVersions: StateVersionTable
  tagBindings: TagBindingTable
  tags: TagTable
  teamMemberships: TeamMembershipTable
  teams: TeamTable
  terraformVersions: TerraformVersionTable
  tokens: TokenTable
  users: UserTable
  vars: VarTable
  varsetProjects: VarsetProjectTable
  varsets: VarsetTable
  varsetVars: VarsetVarTable
  varsetWorkspaces: VarsetWorkspaceTable
  workspaceResources: WorkspaceResourceTable
  workspaces: WorkspaceTable
  workspaceTags: WorkspaceTagTable
}
