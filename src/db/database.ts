import type { BlobTable } from '../blobs/table.ts'
import type { AuditEventTable } from '../features/audit-trail/table.ts'
import type { GpgKeyTable } from '../features/gpg-keys/table.ts'
import type { AuthorizationCodeTable } from '../features/oauth/table.ts'
import type { OrganizationMembershipTable } from '../features/organization-memberships/table.ts'
import type { OrganizationTable } from '../features/organizations/table.ts'
import type { PasswordTable } from '../features/passwords/table.ts'
import type { ProjectTable } from '../features/projects/table.ts'
import type { RegistryProviderPlatformTable } from '../features/registry-provider-platforms/table.ts'
import type {
  RegistryProviderTombstoneTable,
  RegistryProviderVersionTable,
} from '../features/registry-provider-versions/table.ts'
import type { RegistryProviderTable } from '../features/registry-providers/table.ts'
import type { ReservedTagKeyTable } from '../features/reserved-tag-keys/table.ts'
import type { SessionTable } from '../features/sessions/table.ts'
import type { SignInAttemptTable } from '../features/sign-in-attempts/table.ts'
import type { TagBindingTable } from '../features/tag-bindings/table.ts'
import type { TagTable, WorkspaceTagTable } from '../features/tags/table.ts'
import type { TeamMembershipTable, TeamTable } from '../features/teams/table.ts'
import type { TokenTable } from '../features/tokens/table.ts'
import type { UserTable } from '../features/users/table.ts'
import type { WorkspaceTable } from '../features/workspaces/table.ts'
import type { JobTable } from '../jobs/table.ts'

/** Every table, by its name in camelCase. Each belongs to the folder its row type comes from. */
export interface Database {
  auditEvents: AuditEventTable
  authorizationCodes: AuthorizationCodeTable
  blobs: BlobTable
  gpgKeys: GpgKeyTable
  jobs: JobTable
  organizationMemberships: OrganizationMembershipTable
  organizations: OrganizationTable
  passwords: PasswordTable
  projects: ProjectTable
  registryProviderPlatforms: RegistryProviderPlatformTable
  registryProviderTombstones: RegistryProviderTombstoneTable
  registryProviderVersions: RegistryProviderVersionTable
  registryProviders: RegistryProviderTable
  reservedTagKeys: ReservedTagKeyTable
  sessions: SessionTable
  signInAttempts: SignInAttemptTable
  tagBindings: TagBindingTable
  tags: TagTable
  teamMemberships: TeamMembershipTable
  teams: TeamTable
  tokens: TokenTable
  users: UserTable
  workspaceTags: WorkspaceTagTable
  workspaces: WorkspaceTable
}
