import { getFile } from '../../blobs/files.ts'
import type { Ctx } from '../../context.ts'
import { many, one } from '../../http/jsonapi.ts'
import type { App, Routes } from '../../http/routes.ts'
import { input } from '../../http/schema.ts'
import { answerOne, answerPage, NOTHING } from '../../http/shown.ts'
import { mountDownload, mountUpload, type StoredFile } from '../../http/storage.ts'
import { camelKeys } from '../../lib/case.ts'
import { addressOf, getPrivate } from '../registry-providers/service.ts'
import * as files from './release-files.ts'
import { Attributes, doc, SHASUMS, SIGNATURE, TYPE, toResource, Version } from './resource.ts'
import * as service from './service.ts'

const SHASUMS_FILE = { kind: SHASUMS, name: 'ProviderShasums', about: 'the list of a version’s digests' }
const SIGNATURE_FILE = {
  kind: SIGNATURE,
  name: 'ProviderShasumsSignature',
  about: 'the signature of a version’s digests',
}

const docs = {
  list: doc('listProviderVersions', 'List the versions of a provider', { 200: answerPage(Version) }),
  create: doc('createProviderVersion', 'Announce a version of a provider', { 201: answerOne(Version) }),
  show: doc('showProviderVersion', 'Show a version', { 200: answerOne(Version) }),
  remove: doc('removeProviderVersion', 'Remove a version, its platforms and its files', { 204: NOTHING }),
}

export const routes: Routes = (app) => {
  const collection =
    '/api/v2/organizations/:organization_name/registry-providers/:registry_name/:namespace/:name/versions'
  const member = `${collection}/:version`

  app.get(collection, { config: { doc: docs.list } }, async ({ ctx, path, page, href }) => {
    return many(await service.list(ctx, addressOf(path), page), href, (version) => toResource(ctx, version))
  })

  app.post(
    collection,
    {
      // The Go client sends an empty type.
      schema: { body: input([TYPE, ''], Attributes) },
      config: {
        doc: docs.create,
        access: (ctx, path) => getPrivate(ctx, addressOf(path), 'registry-provider-versions:manage'),
      },
    },
    async ({ ctx, path, body }, reply) => {
      const created = await service.create(ctx, addressOf(path), camelKeys(body.data.attributes))
      return reply.code(201).send(one(await toResource(ctx, created)))
    },
  )

  app.get(member, { config: { doc: docs.show } }, async ({ ctx, path }) => {
    return one(await toResource(ctx, await service.get(ctx, addressOf(path), path.version)))
  })

  app.delete(member, { config: { doc: docs.remove } }, async ({ ctx, path }, reply) => {
    await service.remove(ctx, addressOf(path), path.version)
    return reply.code(204).send()
  })

  mountFiles(app)
}

function mountFiles(app: App): void {
  const expecting = (file: files.ReleaseFile) => ({
    expect: (ctx: Ctx, id: string, bytes: number | undefined) => files.expectFile(ctx, id, file, bytes),
    maxBytes: () => files.MAX_BYTES,
  })
  mountUpload(app, { ...expecting('shasumsBlob'), ...SHASUMS_FILE, accept: files.acceptShasums })
  mountUpload(app, { ...expecting('signatureBlob'), ...SIGNATURE_FILE, accept: files.acceptSignature })
  mountDownload(app, SHASUMS_FILE, async (ctx, id) => {
    const { shasumsBlob } = await files.getDownloadable(ctx, id)
    return toFile(ctx, shasumsBlob, 'text/plain; charset=utf-8', 'SHA256SUMS')
  })
  mountDownload(app, SIGNATURE_FILE, async (ctx, id) => {
    const { signatureBlob } = await files.getDownloadable(ctx, id)
    return toFile(ctx, signatureBlob, 'application/octet-stream', 'SHA256SUMS.sig')
  })
}

async function toFile(
  ctx: Ctx,
  key: string | null,
  contentType: string,
  filename: string,
): Promise<StoredFile> {
  const { key: blobKey, size, sha256 } = await getFile(ctx, key)
  return { blobKey, size, sha256, filename, contentType }
}
