import { many, one, type Resource } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { App, Routes } from '../../http/routes.ts'
import { About, Changes, input, Nullable, Text } from '../../http/schema.ts'
import { answerOne, answerPage, Links, NOTHING, Shown } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import * as organizations from '../organizations/service.ts'
import { answerWorkspace, toResource as toWorkspace } from '../workspaces/resource.ts'
import * as workspaces from '../workspaces/service.ts'
import type { SshKey } from './service.ts'
import * as service from './service.ts'

const TYPE = 'ssh-keys'

const Name = Type.Object({
  name: Text({ description: 'No two keys of an organization have the same.', examples: ['modules'] }),
})

const Attributes = Type.Object({
  ...Name.properties,
  value: Text({
    maxLength: 65_536,
    description: 'The private key, as ssh-keygen writes it, without a passphrase. It is never shown.',
  }),
})

const Assignment = Type.Object({
  id: About('The id of the key; null for none.', Nullable(Text()), 'sshkey-GxrePWre1Ezug7aM'),
})

const Key = Shown('SshKey', TYPE, {
  id: 'sshkey-GxrePWre1Ezug7aM',
  attributes: { ...Name.properties },
  links: Links('self'),
})

const doc = documents('SSH keys', 'Private keys with which runs fetch modules.')

const docs = {
  list: doc('listSshKeys', 'List the SSH keys of an organization', { 200: answerPage(Key) }),
  create: doc('createSshKey', 'Add an SSH key', { 201: answerOne(Key) }),
  show: doc('showSshKey', 'Show an SSH key, without its value', { 200: answerOne(Key) }),
  update: doc('updateSshKey', 'Rename an SSH key', { 200: answerOne(Key) }),
  remove: doc('removeSshKey', 'Remove an SSH key, also from the workspaces that use it', { 204: NOTHING }),
  assign: doc('assignSshKey', 'Choose the SSH key of a workspace, or none', { 200: answerWorkspace }),
}

const toResource = ({ id, name }: SshKey): Resource => ({
  id,
  type: TYPE,
  attributes: { name },
  links: { self: `/api/v2/ssh-keys/${id}` },
})

export const routes: Routes = (app) => {
  const collection = '/api/v2/organizations/:organization_name/ssh-keys'

  app.get(collection, { config: { doc: docs.list } }, async ({ ctx, path, page, href }) =>
    many(await service.list(ctx, path.organization_name, page), href, toResource),
  )

  app.post(
    collection,
    {
      schema: { body: input(TYPE, Attributes) },
      config: {
        doc: docs.create,
        access: (ctx, path) => organizations.getByName(ctx, path.organization_name, 'ssh-keys:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const created = await service.create(ctx, path.organization_name, body.data.attributes)
      return reply.code(201).send(one(toResource(created)))
    },
  )

  app.patch(
    '/api/v2/workspaces/:id/relationships/ssh-key',
    {
      schema: { body: input('workspaces', Assignment) },
      config: {
        doc: docs.assign,
        access: (ctx, path) => workspaces.get(ctx, { id: path.id }, 'workspaces:manage'),
      },
    },
    async ({ ctx, path, body }) => {
      const workspace = await service.assign(ctx, path.id, body.data.attributes.id)
      return one(await toWorkspace(ctx, workspace))
    },
  )

  mountMember(app)
}

function mountMember(app: App): void {
  const member = '/api/v2/ssh-keys/:id'

  app.get(member, { config: { doc: docs.show } }, async ({ ctx, path }) =>
    one(toResource(await service.get(ctx, path.id))),
  )

  app.patch(
    member,
    {
      schema: { body: input(TYPE, Changes(Name)) },
      config: { doc: docs.update, access: (ctx, path) => service.get(ctx, path.id, 'ssh-keys:manage') },
    },
    async ({ ctx, path, body }) => one(toResource(await service.update(ctx, path.id, body.data.attributes))),
  )

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, path.id)
    return reply.code(204).send()
  })
}
