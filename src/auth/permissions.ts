/** What a team's `organization-access` can switch on, in the API's spelling. */
export const GRANTS = [
  'access-secret-teams',
  'delegate-policy-overrides',
  'manage-agent-pools',
  'manage-membership',
  'manage-modules',
  'manage-organization-access',
  'manage-policies',
  'manage-policy-overrides',
  'manage-projects',
  'manage-providers',
  'manage-run-tasks',
  'manage-teams',
  'manage-vcs-settings',
  'manage-workspaces',
  'read-projects',
  'read-workspaces',
] as const

export type Grant = (typeof GRANTS)[number]

/** What a subject may do in one organization: the sum of its teams. */
export interface Access {
  /** Any membership: of a user, or of the team or organization that a token belongs to. */
  member: boolean
  /** In the owners team, or its token. */
  owner: boolean
  /** The organization's own token: an owner, except where a person or a team has to answer for the change. */
  organizationToken: boolean
  grants: ReadonlySet<Grant>
  /** The token of a run, which reads what its configuration may need. */
  run: boolean
  /** Teams the subject is in (or is). */
  teamIds: readonly string[]
  /** Of a token that is limited to providers: all that it may do. */
  limit?: { readRegistry: boolean; publish: readonly string[] }
}

export const NO_ACCESS: Access = {
  member: false,
  owner: false,
  organizationToken: false,
  run: false,
  grants: new Set(),
  teamIds: [],
}

/** What background jobs may do. */
export const SYSTEM_ACCESS: Access = { ...NO_ACCESS, member: true, owner: true }

interface Rule {
  /** Every member may. */
  members?: true
  /** Teams with any of these grants may. */
  grants?: readonly Grant[]
  /** The organization's token may. */
  organizationToken?: true
  /** The programs of the organization's runs may. */
  runs?: true
}

const everyMember: Rule = { members: true, organizationToken: true }
const ownersOnly: Rule = { organizationToken: true }
const workspaceReaders = {
  grants: ['read-workspaces', 'manage-workspaces', 'read-projects', 'manage-projects'],
  organizationToken: true,
} satisfies Rule
/** A person or a team answers for what runs change, never the organization's token. */
const workspaceOperators: Rule = { grants: ['manage-workspaces', 'manage-projects'] }

/** Every permission, and who has it besides the owners team, which has all of them. */
export const PERMISSIONS = {
  'organizations:read': { ...everyMember, runs: true },
  /** Looking for what there is. The programs of runs know what they need. */
  'organizations:browse': everyMember,
  'organizations:update': ownersOnly,
  'organizations:delete': {},
  'organization-tokens:manage': {},
  'organization-memberships:read': everyMember,
  'organization-memberships:manage': { grants: ['manage-membership'], organizationToken: true },
  'teams:read': everyMember,
  'teams:manage': { grants: ['manage-teams'], organizationToken: true },
  'teams:manage-membership': { grants: ['manage-membership', 'manage-teams'], organizationToken: true },
  'teams:manage-organization-access': { grants: ['manage-organization-access'], organizationToken: true },
  'teams:read-secret': { grants: ['access-secret-teams'], organizationToken: true },
  'team-tokens:manage': { grants: ['manage-teams'], organizationToken: true },
  'audit-trail:read': ownersOnly,
  'reserved-tag-keys:read': everyMember,
  'reserved-tag-keys:manage': ownersOnly,
  'projects:read': {
    grants: ['read-projects', 'manage-projects', 'read-workspaces', 'manage-workspaces'],
    organizationToken: true,
  },
  'projects:manage': { grants: ['manage-projects'], organizationToken: true },
  'workspaces:read': workspaceReaders,
  'workspaces:manage': { grants: ['manage-workspaces', 'manage-projects'], organizationToken: true },
  'workspaces:lock': workspaceOperators,
  'runs:read': workspaceReaders,
  'runs:queue': workspaceOperators,
  'runs:apply': workspaceOperators,
  /** Past what others do with a workspace. */
  'runs:force': workspaceOperators,
  'state-versions:read': workspaceReaders,
  'state-versions:read-outputs': workspaceReaders,
  'state-versions:create': workspaceOperators,
  'variables:read': workspaceReaders,
  'variables:manage': { grants: ['manage-workspaces', 'manage-projects'], organizationToken: true },
  'variable-sets:read': workspaceReaders,
  /** Of the organization's own sets; who has the next one has this too. */
  'variable-sets:manage': { grants: ['manage-workspaces', 'manage-projects'], organizationToken: true },
  /** Of those that a project owns. */
  'variable-sets:manage-of-projects': { grants: ['manage-projects'], organizationToken: true },
  'agent-pools:read': {
    grants: [...workspaceReaders.grants, 'manage-agent-pools'],
    organizationToken: true,
  },
  'agent-pools:manage': { grants: ['manage-agent-pools'], organizationToken: true },
  'ssh-keys:read': { grants: ['manage-vcs-settings', 'manage-workspaces'], organizationToken: true },
  'ssh-keys:manage': { grants: ['manage-vcs-settings'], organizationToken: true },
  'tags:read': everyMember,
  'tags:manage': { grants: ['manage-workspaces'], organizationToken: true },
  'registry:read': { ...everyMember, runs: true },
  'registry-providers:manage': { grants: ['manage-providers'] },
  /** Publishing; also with a token that is limited to the provider. */
  'registry-provider-versions:manage': { grants: ['manage-providers'] },
  'registry-modules:manage': { grants: ['manage-modules'] },
  'gpg-keys:manage': { grants: ['manage-providers'] },
} as const satisfies Record<string, Rule>

export type Permission = keyof typeof PERMISSIONS

/** What a token that is limited to some providers leaves of its owner's `access`. */
export function limitTo(registryProviderIds: readonly string[], access: Access): Access {
  const publishes = permits(access, 'registry-provider-versions:manage')
  return {
    ...NO_ACCESS,
    limit: {
      readRegistry: permits(access, 'registry:read'),
      publish: publishes ? registryProviderIds : [],
    },
  }
}

/** Whether `access` includes `permission`, for the provider `providerId` where the permission is about one. */
export function permits(access: Access, permission: Permission, providerId?: string): boolean {
  if (access.limit) return permitsLimited(access.limit, permission, providerId)
  const rule: Rule = PERMISSIONS[permission]
  if (access.organizationToken) return rule.organizationToken === true
  if (access.run) return rule.runs === true
  if (access.owner) return true
  if (rule.members && access.member) return true
  return rule.grants?.some((grant) => access.grants.has(grant)) ?? false
}

/** What is not named here is refused: a new permission is none of a limited token. */
function permitsLimited(
  { readRegistry, publish }: NonNullable<Access['limit']>,
  permission: Permission,
  providerId: string | undefined,
): boolean {
  if (permission === 'registry:read') return readRegistry
  if (permission !== 'registry-provider-versions:manage' || providerId === undefined) return false
  return publish.includes(providerId)
}

/** Whether `access` includes all that `grant` opens. Nobody gives a right to others that they do not have. */
export function mayGrant(access: Access, grant: Grant): boolean {
  if (access.owner || access.grants.has(grant)) return true
  if (!access.organizationToken) return false
  const rules: readonly Rule[] = Object.values(PERMISSIONS)
  return rules.every((rule) => rule.organizationToken || !rule.grants?.includes(grant))
}
