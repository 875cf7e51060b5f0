import { one, type Resource } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { Changes, input, Nullable } from '../../http/schema.ts'
import { answerOne, Links, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import type { Usage } from './service.ts'
import * as service from './service.ts'

const TYPE = 'organizations'

const Bytes = (description: string, example: number) =>
  Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description, examples: [example] })

const Attributes = Type.Object({
  'registry-quota-bytes': Nullable(
    Bytes(
      'Bytes that the files of its providers may have in all; 0 for no limit, null for the default of the server.',
      50 * 2 ** 30,
    ),
  ),
})

const AdminOrganization = Shown('AdminOrganization', TYPE, {
  id: 'acme',
  attributes: {
    name: Type.String({ examples: ['acme'] }),
    'external-id': Type.String({ examples: ['org-WV6DfwfxxXvLfvfs'] }),
    'notification-email': Type.String({ examples: ['owners@example.com'] }),
    ...Attributes.properties,
    'registry-allowed-bytes': Bytes('The quota that counts; 0 for no limit.', 50 * 2 ** 30),
    'registry-used-bytes': Bytes('Bytes that the files of its providers have.', 1_234_567),
  },
  links: Links('self'),
})

const doc = documents('Administration', 'What site administrators see and set for every organization.')

const failures = { notFound: 'There is no such organization, or the caller is no site administrator.' }
const docs = {
  show: doc(
    'showAdminOrganization',
    'Show what an organization stores, and may',
    { 200: answerOne(AdminOrganization) },
    { failures },
  ),
  update: doc(
    'updateAdminOrganization',
    'Change what an organization may store',
    { 200: answerOne(AdminOrganization) },
    { failures },
  ),
}

const toResource = ({ organization, quota, allowed, used }: Usage): Resource => ({
  id: organization.name,
  type: TYPE,
  attributes: {
    name: organization.name,
    'external-id': organization.id,
    'notification-email': organization.email,
    'registry-quota-bytes': quota,
    'registry-allowed-bytes': allowed,
    'registry-used-bytes': used,
  },
  links: { self: `/api/v2/admin/organizations/${organization.name}` },
})

export const routes: Routes = (app) => {
  const member = '/api/v2/admin/organizations/:organization_name'

  app.get(member, { config: { doc: docs.show } }, async ({ ctx, path }) =>
    one(toResource(await service.get(ctx, path.organization_name))),
  )

  app.patch(
    member,
    {
      schema: { body: input(TYPE, Changes(Attributes)) },
      config: { doc: docs.update, access: (ctx, path) => service.get(ctx, path.organization_name) },
    },
    async ({ ctx, path, body }) => {
      const { 'registry-quota-bytes': quota } = body.data.attributes
      return one(toResource(await service.update(ctx, path.organization_name, quota)))
    },
  )
}
