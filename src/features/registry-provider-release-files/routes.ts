import type { Ctx } from '../../context.ts'
import { all, MEDIA_TYPE, type Resource, toOne } from '../../http/jsonapi.ts'
import type { Routes } from '../../http/routes.ts'
import { Nullable, OneOf } from '../../http/schema.ts'
import { answerPlain, Exactly, RelatedOrNone, Shown } from '../../http/shown.ts'
import { fileLink } from '../../http/storage.ts'
import { Type } from '../../lib/type.ts'
import * as consumers from '../registry-provider-consumers/service.ts'
import { BINARY } from '../registry-provider-platforms/resource.ts'
import { doc, filenameOf, SHASUMS, SIGNATURE, Status } from '../registry-provider-versions/resource.ts'
import { addressOf } from '../registry-providers/service.ts'
import type { Release, ReleaseFile } from './service.ts'
import * as service from './service.ts'

const TYPE = 'registry-provider-release-files'

/** What the links of a file are called after. */
const KINDS = { shasums: SHASUMS, 'shasums-sig': SIGNATURE, archive: BINARY } as const

const Problems = Type.Array(
  Exactly(
    {
      code: OneOf('missing', 'key-expired', 'platform-missing', 'no-platforms', 'revoked'),
      detail: Type.String({ examples: ['The archive of linux_amd64 is not uploaded.'] }),
      mend: Type.String({ description: 'What can be done about it.' }),
    },
    { title: 'ReleaseProblem' },
  ),
)

const Known = (description: string, example: string) =>
  Nullable(Type.String({ description, examples: [example] }))

const File = Shown('ReleaseFile', TYPE, {
  id: 'provver-y5KZUsSBRLV9zCtL:terraform-provider-network_1.2.3_linux_amd64.zip',
  attributes: {
    kind: OneOf('shasums', 'shasums-sig', 'archive'),
    filename: Type.String({ examples: ['terraform-provider-network_1.2.3_linux_amd64.zip'] }),
    os: Known('Of an archive.', 'linux'),
    arch: Known('Of an archive.', 'amd64'),
    shasum: Known(
      'SHA-256 of an archive.',
      '8f69533bc8afc227b40d15116358f91505bb638ce5919712fbb38a2dec1bba38',
    ),
    uploaded: Type.Boolean(),
    problems: Problems,
  },
  relationships: { 'registry-provider-platform': RelatedOrNone('registry-provider-platforms') },
  links: Exactly({
    'file-upload': Type.Optional(
      Type.String({ description: 'Takes the file by PUT, without a token, for the next 25 hours.' }),
    ),
    'file-download': Type.Optional(
      Type.String({ description: 'Where the file is for the next 15 minutes, without a token.' }),
    ),
  }),
})

const Files = Exactly({
  data: Type.Array(File),
  meta: Exactly({
    status: Status,
    installable: Type.Boolean({ description: 'Whether anybody can install it, on some platform.' }),
    problems: Problems,
  }),
})

const docs = {
  list: doc('listReleaseFiles', 'List the files of a version, and what is missing', {
    200: answerPlain('All of them.', Files, MEDIA_TYPE),
  }),
}

function toResource(ctx: Ctx, { version, mayUpload }: Release, file: ReleaseFile): Resource {
  const { kind, ownerId, isUploaded } = file
  const filename = file.filename ?? filenameOf(KINDS[kind], version)
  const isOpen = ownerId !== undefined && version.status !== 'revoked'
  return {
    id: `${version.id}:${filename}`,
    type: TYPE,
    attributes: {
      kind,
      filename,
      os: file.os ?? null,
      arch: file.arch ?? null,
      shasum: file.shasum ?? null,
      uploaded: isUploaded,
      problems: file.problems,
    },
    relationships: { 'registry-provider-platform': toOne('registry-provider-platforms', file.platformId) },
    links: isOpen
      ? fileLink(ctx, {
          name: 'file',
          kind: KINDS[kind],
          id: ownerId,
          filename,
          isUploaded,
          mayUpload,
          requestedBy: consumers.requesterOf(ctx),
        })
      : {},
  }
}

export const routes: Routes = (app) => {
  app.get(
    '/api/v2/organizations/:organization_name/registry-providers/:registry_name/:namespace/:name/versions/:version/release-files',
    { config: { doc: docs.list } },
    async ({ ctx, path }) => {
      const release = await service.get(ctx, addressOf(path), path.version)
      const { isInstallable, problems, version } = release
      const document = await all(release.files, (file) => toResource(ctx, release, file))
      return { ...document, meta: { status: version.status, installable: isInstallable, problems } }
    },
  )
}
