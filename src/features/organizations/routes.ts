import { type Static, Type } from 'typebox'
import { accessTo, authorizeUser } from '../../auth/authorize.ts'
import { type Permission, permits } from '../../auth/permissions.ts'
import type { Ctx } from '../../context.ts'
import { includable } from '../../http/includes.ts'
import { many, one, type Resource, toOne } from '../../http/jsonapi.ts'
import type { Routes } from '../../http/routes.ts'
import { Changes, input, Nullable, OneOf, Text } from '../../http/schema.ts'
import { camelKeys } from '../../lib/case.ts'
import type { Organization } from './service.ts'
import * as service from './service.ts'

const TYPE = 'organizations'

const Minutes = Nullable(Type.Integer({ minimum: 1, maximum: 10 * 366 * 24 * 60 }))

const Attributes = Type.Object({
  name: Text({
    pattern: '^[A-Za-z0-9_-]{3,40}$',
    rule: '3 to 40 letters, digits, hyphens and underscores',
  }),
  email: Text({ pattern: '^[^\\s@]+@[^\\s@]+$', rule: 'an e-mail address' }),
  'collaborator-auth-policy': Type.Optional(OneOf('password', 'two_factor_mandatory')),
  'session-timeout': Type.Optional(Minutes),
  'session-remember': Type.Optional(Minutes),
  'cost-estimation-enabled': Type.Optional(Type.Boolean()),
  'assessments-enforced': Type.Optional(Type.Boolean()),
  'allow-force-delete-workspaces': Type.Optional(Type.Boolean()),
  'speculative-plan-management-enabled': Type.Optional(Type.Boolean()),
  'aggregated-commit-status-enabled': Type.Optional(Type.Boolean()),
  'send-passing-statuses-for-untriggered-speculative-plans': Type.Optional(Type.Boolean()),
  'default-execution-mode': Type.Optional(OneOf('remote', 'local', 'agent')),
  // Ours: whether a released provider version that was deleted may come back with other contents.
  'provider-version-reuse-enabled': Type.Optional(Type.Boolean()),
})

const Query = Type.Object({ q: Type.Optional(Type.String({ maxLength: 255 })) })

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

async function toResource(ctx: Ctx, organization: Organization): Promise<Resource> {
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
      'default-agent-pool': toOne('agent-pools', null),
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
const ENTITLEMENTS = {
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

function toChanges(attributes: Partial<Static<typeof Attributes>>) {
  const { sendPassingStatusesForUntriggeredSpeculativePlans: sendPassingStatuses, ...same } =
    camelKeys(attributes)
  return { ...same, ...(sendPassingStatuses !== undefined && { sendPassingStatuses }) }
}

export const routes: Routes = (app) => {
  const collection = '/api/v2/organizations'
  const member = '/api/v2/organizations/:organization_name'

  includable(TYPE, async (ctx, names) => {
    const visible = await service.listVisible(ctx, names)
    return Promise.all(visible.map((item) => toResource(ctx, item)))
  })

  app.get(collection, { schema: { querystring: Query } }, async ({ ctx, query, page, href }) => {
    return many(await service.list(ctx, query.q, page), href, (item) => toResource(ctx, item))
  })

  app.post(
    collection,
    { schema: { body: input(TYPE, Attributes) }, config: { access: async (ctx) => authorizeUser(ctx) } },
    async ({ ctx, body }, reply) => {
      const { name, email } = body.data.attributes
      const created = await service.create(ctx, { ...toChanges(body.data.attributes), name, email })
      return reply.code(201).send(one(await toResource(ctx, created)))
    },
  )

  app.get(member, async ({ ctx, path }) => {
    return one(await toResource(ctx, await service.getByName(ctx, path.organization_name)))
  })

  app.patch(
    member,
    {
      schema: { body: input(TYPE, Changes(Attributes)) },
      config: {
        access: (ctx, path) => service.getByName(ctx, path.organization_name, 'organizations:update'),
      },
    },
    async ({ ctx, path, body }) => {
      const changed = await service.update(ctx, path.organization_name, toChanges(body.data.attributes))
      return one(await toResource(ctx, changed))
    },
  )

  app.delete(member, async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.organization_name)
    return reply.code(204).send()
  })

  app.get(`${member}/entitlement-set`, async ({ ctx, path }) => {
    const { id, name } = await service.getByName(ctx, path.organization_name)
    return one({
      id,
      type: 'entitlement-sets',
      attributes: ENTITLEMENTS,
      links: { self: `/api/v2/entitlement-sets/${id}` },
      relationships: { organization: toOne(TYPE, name) },
    })
  })
}
