import { Nullable } from '../../http/schema.ts'
import { Exactly, Moment } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'
import type { VersionDetails } from '../registry-module-versions/service.ts'
import type { describe, InstallableModule } from './service.ts'

const Deprecation = Nullable(Exactly({ reason: Type.String(), link: Type.String() }))

export const Versions = Exactly(
  {
    modules: Type.Array(
      Exactly({
        source: Type.String({ examples: ['acme/vpc/aws'] }),
        versions: Type.Array(
          Exactly({ version: Type.String({ examples: ['1.2.3'] }), deprecation: Deprecation }),
        ),
      }),
    ),
  },
  { title: 'InstallableModuleVersions' },
)

const Text = Type.String()
const About = (description: string, ...examples: string[]) => Type.String({ description, examples })

const PART = {
  path: About('Empty for the module itself.', 'modules/subnet'),
  name: Text,
  readme: About('As it is written, in Markdown.'),
  empty: Type.Boolean({ description: 'Whether it declares nothing.' }),
  inputs: Type.Array(
    Exactly({
      name: Text,
      type: About('As it is written; empty for any.', 'list(string)'),
      description: Text,
      default: About('As it is written; empty for none.', '["a", "b"]'),
      required: Type.Boolean(),
    }),
  ),
  outputs: Type.Array(Exactly({ name: Text, description: Text })),
  dependencies: Type.Array(Exactly({ name: Text, source: Text, version: Text })),
  provider_dependencies: Type.Array(Exactly({ name: Text, namespace: Text, source: Text, version: Text })),
  resources: Type.Array(Exactly({ name: Text, type: Text })),
}

const Part = Exactly(PART, { title: 'ModulePart' })

const Root = Exactly(
  {
    ...PART,
    readme_html: Nullable(
      Type.String({ description: 'The README as HTML that can do no harm; null where it is too long.' }),
    ),
  },
  { title: 'ModuleRoot' },
)

export const Details = Exactly(
  {
    id: Type.String({ examples: ['acme/vpc/aws/1.2.3'] }),
    owner: Text,
    namespace: Text,
    name: Text,
    version: Text,
    provider: Text,
    provider_logo_url: Text,
    description: Text,
    source: Text,
    tag: Text,
    published_at: Moment('When its archive was taken.'),
    downloads: Type.Integer(),
    verified: Type.Boolean(),
    deprecation: Deprecation,
    root: Root,
    submodules: Type.Array(Part),
    examples: Type.Array(Part),
    providers: Type.Array(Text, { description: 'The systems that it is for.' }),
    versions: Type.Array(Text, { description: 'Those that can be installed, the oldest first.' }),
  },
  { title: 'ModuleVersionDetails' },
)

export function toVersions({ module, versions }: InstallableModule) {
  const { namespace, name, provider } = module
  return {
    modules: [
      {
        source: `${namespace}/${name}/${provider}`,
        versions: versions.map((each) => ({ version: each.version, deprecation: toDeprecation(each) })),
      },
    ],
  }
}

/** What the client of the public product shows; it knows no null. */
function toDeprecation({ deprecatedAt, deprecationReason, deprecationLink }: VersionDetails) {
  return deprecatedAt && { reason: deprecationReason ?? '', link: deprecationLink ?? '' }
}

/** The document of the public registry. What it knows from version control systems is empty. */
export function toDetails(
  { module, versions, chosen }: InstallableModule & { chosen: VersionDetails },
  { description, readmeHtml }: Awaited<ReturnType<typeof describe>>,
) {
  const { namespace, name, provider } = module
  const { root, submodules, examples } = description
  return {
    id: `${namespace}/${name}/${provider}/${chosen.version}`,
    owner: '',
    namespace,
    name,
    version: chosen.version,
    provider,
    provider_logo_url: '',
    description: '',
    source: '',
    tag: '',
    published_at: chosen.publishedAt ?? chosen.updatedAt,
    downloads: chosen.downloads,
    verified: false,
    deprecation: toDeprecation(chosen),
    root: { ...root, name, readme_html: readmeHtml },
    submodules,
    examples,
    providers: [provider],
    versions: versions.map(({ version }) => version).toReversed(),
  }
}
