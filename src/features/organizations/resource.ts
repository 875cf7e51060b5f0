import type { Static } from 'typebox'
import { accessTo } from '../../auth/authorize.ts'
import { type Permission, permits } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { type Resource, toOne } from '../../http/jsonapi.ts'
import { About, Nullable, OneOf, Text, ToOneOrNone } from '../../http/schema.ts'
import {
  Links,
  Moment,
  Permissions,
  Related,
  RelatedAddress,
  RelatedOrNone,
  Shown,
} from '../../http/shown.ts'
import { camelKeys } from '../../lib/case.ts'
import { Type } from '../../lib/type.ts'
import type * as service from './service.ts'

export const TYPE = 'organizations'

const Minutes = (description: string) =>
  Nullable(Type.Integer({ minimum: 1, maximum: 10 * 366 * 24 * 60, description, examples: [20_160] }))
const Flag = (description: string) => Type.Boolean({ description })

const SETTINGS = {
  'collaborator-auth-policy': About(
    'What members have to sign in with.',
    OneOf('password', 'two_factor_mandatory'),
  ),
  'session-timeout': Minutes('Minutes without a request after which a session ends; null for the default.'),
  'session-remember': Minutes('Minutes after which a session ends; null for the default.'),
  'cost-estimation-enabled': Flag('Kept for clients; nothing estimates costs.'),
  'assessments-enforced': Flag('Kept for clients; nothing assesses workspaces.'),
  'allow-force-delete-workspaces': Flag(
    'Whether who manages a workspace may delete it together with what it manages.',
  ),
  'speculative-plan-management-enabled': Flag('Whether plans of outdated commits are cancelled.'),
  'aggregated-commit-status-enabled': Flag('Whether one status stands for all workspaces of a commit.'),
  'send-passing-statuses-for-untriggered-speculative-plans': Flag(
    'Whether commits that concern no workspace get a status.',
  ),
  'default-execution-mode': About(
    'Where runs of new workspaces take place.',
    OneOf('remote', 'local', 'agent'),
  ),
  // Ours.
  'provider-version-reuse-enabled': Flag(
    'Whether a released provider version that was deleted may come back with other contents.',
  ),
}

const Names = {
  name: Text({
    pattern: '^[A-Za-z0-9_-]{3,40}$',
    rule: '3 to 40 letters, digits, hyphens and underscores',
    description: 'Its name, which is also its id. Nobody else has it.',
    examples: ['acme'],
  }),
  email: Text({
    pattern: '^[^\\s@]+@[^\\s@]+$',
    rule: 'an e-mail address',
    description: 'For notices to the owners.',
    examples: ['owners@example.com'],
  }),
}

export const Attributes = Type.Object({ ...Names, ...Type.Partial(Type.Object(SETTINGS)).properties })

export const Relationships = Type.Object({
  'default-agent-pool': Type.Optional(ToOneOrNone('agent-pools')),
})

/** The permissions that clients ask for, and which of ours answers. */
const SHOWN_PERMISSIONS: Record<string, Permission> = {
  'can-update': 'organizations:update',
  'can-destroy': 'organizations:delete',
  'can-access-via-teams': 'organizations:read',
  'can-create-module': 'registry-modules:manage',
  'can-create-provider': 'registry-providers:manage',
  'can-manage-modules': 'registry-modules:manage',
  'can-manage-providers': 'registry-providers:manage',
  'can-create-team': 'teams:manage',
  'can-create-workspace': 'workspaces:manage',
  'can-create-workspace-migration': 'workspaces:manage',
  'can-create-project': 'projects:manage',
  'can-manage-users': 'organization-memberships:manage',
  'can-manage-tags': 'reserved-tag-keys:manage',
  'can-read-audit-trail': 'audit-trail:read',
  'can-update-api-token': 'organization-tokens:manage',
  'can-update-authentication': 'organizations:update',
  'can-traverse': 'organizations:read',
}

const Never = Type.Null({ description: 'Always null here.' })

export const Organization = Shown('Organization', TYPE, {
  id: 'acme',
  attributes: {
    'external-id': Type.String({
      description: 'The id that stays when the name changes.',
      examples: ['org-WV6DfwfxxXvLfvfs'],
    }),
    ...Names,
    'created-at': Moment('When it was made.'),
    ...SETTINGS,
    'fair-run-queuing-enabled': Type.Boolean(),
    'saml-enabled': Type.Boolean(),
    'two-factor-conformant': Type.Boolean(),
    'owners-team-saml-role-id': Never,
    'plan-expired': Type.Boolean(),
    'plan-expires-at': Never,
    'plan-is-trial': Type.Boolean(),
    'plan-is-enterprise': Type.Boolean(),
    'plan-identifier': Type.String({ examples: ['self_hosted'] }),
    permissions: Permissions(Object.keys(SHOWN_PERMISSIONS)),
  },
  relationships: {
    'default-project': RelatedOrNone('projects'),
    'default-agent-pool': RelatedOrNone('agent-pools'),
    'authentication-token': RelatedAddress,
    'entitlement-set': Related('entitlement-sets'),
  },
  links: Links('self'),
})

export async function toResource(ctx: Ctx, organization: service.Organization): Promise<Resource> {
  const access = await accessTo(ctx, organization.id)
  const self = `/api/v2/organizations/${organization.name}`
  return {
    id: organization.name,
    type: TYPE,
    attributes: {
      'external-id': organization.id,
      name: organization.name,
      email: organization.email,
      'created-at': organization.createdAt,
      'collaborator-auth-policy': organization.collaboratorAuthPolicy,
      'session-timeout': organization.sessionTimeout,
      'session-remember': organization.sessionRemember,
      'cost-estimation-enabled': organization.costEstimationEnabled,
      'assessments-enforced': organization.assessmentsEnforced,
      'allow-force-delete-workspaces': organization.allowForceDeleteWorkspaces,
      'speculative-plan-management-enabled': organization.speculativePlanManagementEnabled,
      'aggregated-commit-status-enabled': organization.aggregatedCommitStatusEnabled,
      'send-passing-statuses-for-untriggered-speculative-plans': organization.sendPassingStatuses,
      'default-execution-mode': organization.defaultExecutionMode,
      'provider-version-reuse-enabled': organization.providerVersionReuseEnabled,
      'fair-run-queuing-enabled': true,
      'saml-enabled': false,
      'two-factor-conformant': false,
      'owners-team-saml-role-id': null,
      'plan-expired': false,
      'plan-expires-at': null,
      'plan-is-trial': false,
      'plan-is-enterprise': true,
      'plan-identifier': 'self_hosted',
      permissions: Object.fromEntries(
        Object.entries(SHOWN_PERMISSIONS).map(([name, permission]) => [name, permits(access, permission)]),
      ),
    },
    relationships: {
      'default-project': toOne('projects', organization.defaultProjectId),
      'default-agent-pool': toOne('agent-pools', organization.defaultAgentPoolId),
      'authentication-token': { links: { related: `${self}/authentication-token` } },
      'entitlement-set': {
        data: { id: organization.id, type: 'entitlement-sets' },
        links: { related: `${self}/entitlement-set` },
      },
    },
    links: { self },
  }
}

/** Self-hosted: everything that is built is included, and nothing has a limit. */
export const ENTITLEMENTS = {
  agents: true,
  'audit-logging': true,
  'configuration-designer': false,
  'cost-estimation': false,
  'global-run-tasks': false,
  'module-tests-generation': false,
  operations: true,
  'policy-enforcement': false,
  'policy-limit': null,
  'private-module-registry': true,
  'private-policy-agents': false,
  'private-vcs': false,
  'run-task-limit': null,
  'run-tasks': false,
  sentinel: false,
  'self-serve-billing': false,
  sso: false,
  'state-storage': true,
  teams: true,
  'usage-reporting': false,
  'user-limit': null,
  'vcs-integrations': false,
  'versioned-policy-set-limit': null,
}

export const EntitlementSet = Shown('EntitlementSet', 'entitlement-sets', {
  id: 'org-WV6DfwfxxXvLfvfs',
  attributes: Object.fromEntries(
    Object.keys(ENTITLEMENTS).map((name) => [name, name.endsWith('limit') ? Never : Type.Boolean()]),
  ),
  relationships: { organization: Related(TYPE) },
  links: Links('self'),
})

interface Input {
  attributes: Partial<Static<typeof Attributes>>
  relationships: Static<typeof Relationships>
}

export function toChanges({ attributes, relationships }: Input) {
  const { sendPassingStatusesForUntriggeredSpeculativePlans: sendPassingStatuses, ...same } =
    camelKeys(attributes)
  const pool = relationships['default-agent-pool']
  return {
    ...same,
    ...(sendPassingStatuses !== undefined && { sendPassingStatuses }),
    ...(pool && { defaultAgentPoolId: pool.data?.id ?? null }),
  }
}
