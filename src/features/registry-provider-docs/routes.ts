import { many, one, type Resource, toOne } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { About, Nullable, OneOf, Search } from '../../http/schema.ts'
import { answerOne, answerPage, Links, Related, Shown } from '../../http/shown.ts'
import { mountUpload } from '../../http/storage.ts'
import { DOC_CATEGORIES, MAX_ARCHIVE_BYTES } from '../../lib/provider-doc-files.ts'
import { Type } from '../../lib/type.ts'
import { DOCS } from '../registry-provider-versions/resource.ts'
import * as providers from '../registry-providers/service.ts'
import type { ListedPage, ShownPage } from './service.ts'
import * as service from './service.ts'

/** As in the public registry, which tools know. */
const TYPE = 'provider-docs'

const Names = (description: string) => Type.Optional(Type.String({ description }))

const Query = Type.Object({
  'filter[category]': Names(
    `Only pages of these categories, separated by commas: ${DOC_CATEGORIES.join(', ')}.`,
  ),
  'filter[slug]': Names('Only pages with these slugs, separated by commas.'),
  'filter[language]': Names('Only pages in this language; all of them are in `hcl`.'),
  q: Search(
    'Only pages with each of these words. First those that are called so, then those with a heading that says so.',
  ),
})

const SearchQuery = Type.Object({
  ...Query.properties,
  'filter[provider]': Names('Only pages of the provider with this name.'),
})

const Text = (description: string, example: string) => About(description, Nullable(Type.String()), example)

const Listed = {
  category: OneOf(...DOC_CATEGORIES),
  slug: Type.String({ description: 'Its name within the category.', examples: ['thing'] }),
  title: Type.String({ examples: ['thing'] }),
  path: Type.String({ description: 'In the archive.', examples: ['docs/resources/thing.md'] }),
  subcategory: Text('What the front matter says.', 'Storage'),
  language: OneOf('hcl'),
  truncated: Type.Boolean({ description: 'Whether the end of it was too much to be kept.' }),
  // Ours.
  'page-title': Text('What the front matter says.', 'demo_thing Resource - demo'),
  description: Text('What the front matter says.', 'Makes a thing.'),
}

const relationships = { 'provider-version': Related('registry-provider-versions') }
const ID = 'provdoc-xmLRpZ2QkQVmG1oV'

const ListedDoc = Shown('ListedProviderDoc', TYPE, {
  id: ID,
  attributes: Listed,
  relationships,
  links: Links('self'),
})

const Doc = Shown('ProviderDoc', TYPE, {
  id: ID,
  attributes: {
    ...Listed,
    content: Type.String({ description: 'Markdown, with its front matter.' }),
    html: Type.String({
      description:
        'The same as HTML, of which nothing runs, loads anything, or has an id that does not begin with `doc-`.',
    }),
  },
  relationships,
  links: Links('self'),
})

const doc = documents('Provider documentation', 'What provider versions say about themselves, as pages.')

const docs = {
  list: doc(
    'listProviderDocs',
    'List the pages of the documentation of a provider version',
    {
      200: answerPage(ListedDoc),
    },
    {
      description:
        'Send an archive to the link `docs-upload` of the version to add documentation, or to replace it: a gzipped tar ' +
        'with `docs/index.md`, `docs/resources/NAME.md`, `docs/data-sources/NAME.md` and so on, as tfplugindocs makes ' +
        'them, or with `website/docs/r/NAME.html.markdown`. What is no page is left out.',
    },
  ),
  search: doc(
    'searchProviderDocs',
    'Search the documentation of an organization’s providers, in the newest documented version of each',
    { 200: answerPage(ListedDoc) },
  ),
  show: doc('showProviderDoc', 'Show a page of the documentation of a provider version', {
    200: answerOne(Doc),
  }),
}

function toListed(page: ListedPage): Resource {
  return {
    id: page.id,
    type: TYPE,
    attributes: {
      category: page.category,
      slug: page.slug,
      title: page.title,
      path: page.path,
      subcategory: page.subcategory,
      language: 'hcl',
      truncated: page.truncated,
      'page-title': page.pageTitle,
      description: page.description,
    },
    relationships: { 'provider-version': toOne('registry-provider-versions', page.versionId) },
    links: { self: `/api/v2/registry-provider-docs/${page.id}` },
  }
}

function toResource(page: ShownPage): Resource {
  const { attributes, ...listed } = toListed(page)
  return { ...listed, attributes: { ...attributes, content: page.content, html: page.html } }
}

export const routes: Routes = (app) => {
  const provider =
    '/api/v2/organizations/:organization_name/registry-providers/:registry_name/:namespace/:name'

  app.get(
    `${provider}/versions/:version/docs`,
    { schema: { querystring: Query }, config: { doc: docs.list } },
    async ({ ctx, path, query, page, href }) => {
      const address = providers.addressOf(path)
      return many(await service.list(ctx, address, path.version, filterOf(query), page), href, toListed)
    },
  )

  app.get(
    '/api/v2/organizations/:organization_name/registry-provider-docs',
    { schema: { querystring: SearchQuery }, config: { doc: docs.search } },
    async ({ ctx, path, query, page, href }) => {
      const filter = { ...filterOf(query), provider: query['filter[provider]'] }
      return many(await service.search(ctx, path.organization_name, filter, page), href, toListed)
    },
  )

  app.get('/api/v2/registry-provider-docs/:id', { config: { doc: docs.show } }, async ({ ctx, path }) =>
    one(toResource(await service.get(ctx, path.id))),
  )

  mountUpload(app, {
    kind: DOCS,
    name: 'ProviderDocs',
    about: 'the documentation of a provider version, in place of that which it has',
    expect: service.expect,
    accept: service.accept,
    maxBytes: () => MAX_ARCHIVE_BYTES,
    limitedBy: 'the limit for documentation',
    failures: {
      conflict: 'The version is revoked.',
      unprocessable: 'It is no documentation; the error says why.',
    },
  })
}

interface Filters {
  'filter[category]'?: string
  'filter[slug]'?: string
  'filter[language]'?: string
  q?: string
}

function filterOf(query: Filters): service.DocFilter {
  const { 'filter[category]': category, 'filter[slug]': slug, 'filter[language]': language, q } = query
  // A category that does not exist has no pages, and no language besides ours has any.
  const categories = language === undefined || listed(language).includes('hcl') ? listed(category) : ['']
  return { categories, slugs: listed(slug), q }
}

function listed(names = ''): string[] {
  return names
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)
}
