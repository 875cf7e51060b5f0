import { type Html, html } from '../../http/html.ts'
import { prose } from '../../http/prose.ts'
import type {
  JsonSchema,
  OpenApi,
  OpenApiOperation,
  OpenApiParameter,
  OpenApiReference,
  OpenApiResponse,
} from '../../lib/openapi.ts'
import { exampleOf, nameOf, resolve, rowsOf } from './schemas.ts'

interface Located {
  method: string
  path: string
  operation: OpenApiOperation
}

/** All operations, each in a line, by what they are about. */
export function referencePage(document: OpenApi): Html {
  const { info, tags } = document
  return html`${prose(info.description)}
<p>For programs: <a href="/openapi.json">OpenAPI 3.1</a>. <a href="/docs/changelog">What changed</a>.</p>
${tags.map(
  ({ name, description }) => html`<h2><a href="${addressOf(name)}">${name}</a></h2>
<p>${description}</p>
<table>
${operationsOf(document, name).map(
  ({ method, path, operation }) => html`<tr>
<td><a href="${addressOf(name)}#${operation.operationId}">${operation.summary}</a></td>
<td><code>${method.toUpperCase()} ${path}</code></td>
</tr>
`,
)}</table>
`,
)}`
}

/** The tag whose page has this address. */
export function tagAt(document: OpenApi, slug: string): string | undefined {
  return document.tags.find(({ name }) => slugOf(name) === slug)?.name
}

/** Everything about the operations of one tag, and what they take and give. */
export function tagPage(document: OpenApi, tag: string): Html {
  const operations = operationsOf(document, tag)
  return html`<p><a href="/docs">All operations</a></p>
${prose(document.tags.find(({ name }) => name === tag)?.description ?? '')}
${operations.map((located) => operationSection(document, located))}
<h2>What they take and give</h2>
${schemasOf(document, operations).map(
  ([name, schema]) => html`<section id="${name}">
<h3>${name}</h3>
${fields(schema)}
<details><summary>Example</summary><pre>${json(exampleOf(document, schema))}</pre></details>
</section>
`,
)}`
}

function operationsOf({ paths }: OpenApi, tag: string): Located[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      operation.tags.includes(tag) ? [{ method, path, operation }] : [],
    ),
  )
}

function operationSection(document: OpenApi, { method, path, operation }: Located): Html {
  const { operationId, summary, description, requestBody, responses } = operation
  const parameters = operation.parameters.map((each) => resolve<OpenApiParameter>(document, each))
  return html`<section id="${operationId}">
<h2>${summary}</h2>
<p><code>${method.toUpperCase()} ${path}</code></p>
${prose(description)}
${parameters.length > 0 ? parameterTable(parameters) : ''}
${requestBody && bodySection(document, requestBody)}
<h3>Answers</h3>
<table>
${Object.entries(responses).map(([status, response]) => responseRow(document, status, response))}</table>
</section>
`
}

function parameterTable(parameters: readonly OpenApiParameter[]): Html {
  return html`<h3>Parameters</h3>
<table>
${parameters.map(
  ({ name, in: place, description, schema }) => html`<tr>
<td><code>${name}</code></td><td>${place}</td><td>${prose(description ?? '')}${example(schema)}</td>
</tr>
`,
)}</table>`
}

function bodySection(document: OpenApi, body: NonNullable<OpenApiOperation['requestBody']>): Html {
  const contents = Object.entries(body.content)
  return html`<h3>Body</h3>
${contents.map(
  ([mediaType, { schema }]) => html`<p><code>${mediaType}</code>${body.required ? '' : ', not needed'}</p>
${body.description && html`<p>${body.description}</p>`}
${fields(schema)}
${schema['type'] === undefined ? '' : html`<details><summary>Example</summary><pre>${json(exampleOf(document, schema))}</pre></details>`}`,
)}`
}

function responseRow(document: OpenApi, status: string, response: OpenApiResponse | OpenApiReference): Html {
  const { description, content = {} } = resolve<OpenApiResponse>(document, response)
  const schemas = Object.values(content).map(({ schema }) => schema)
  const isFailure = !/^[123]/.test(status)
  return html`<tr>
<td>${status}</td><td>${prose(description)}</td><td>${isFailure ? '' : schemas.map((schema) => fields(schema))}</td>
</tr>
`
}

function fields(schema: JsonSchema): Html {
  return html`<dl>
${rowsOf(schema).map(
  ({ path, type, reference, required, description, examples }) => html`<dt><code>${path}</code>
${reference ? html`<a href="#${reference}">${reference}</a>` : html`<i>${type}</i>`}${required ? '' : ', may be absent'}</dt>
<dd>${description}${examples[0] === undefined ? '' : html` Such as <code>${json(examples[0])}</code>.`}</dd>
`,
)}</dl>`
}

/** What the operations refer to, and what that refers to in turn, each once. */
function schemasOf(document: OpenApi, operations: readonly Located[]): [string, JsonSchema][] {
  const names = new Set<string>(['Errors'])
  const visit = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    const name = nameOf(value as JsonSchema)
    if (name !== undefined) {
      if (names.has(name)) return
      names.add(name)
      visit(document.components.schemas[name])
    }
    for (const part of Object.values(value)) visit(part)
  }
  for (const { operation } of operations) visit([operation.requestBody, operation.responses])
  return [...names].sort().flatMap((name) => {
    const schema = document.components.schemas[name]
    return schema ? [[name, schema] as [string, JsonSchema]] : []
  })
}

function example({ examples }: JsonSchema): Html {
  const [first] = (examples ?? []) as unknown[]
  return first === undefined ? html`` : html`<p>Such as <code>${String(first)}</code>.</p>`
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

function slugOf(tag: string): string {
  return tag.toLowerCase().replaceAll(' ', '-')
}

function addressOf(tag: string): string {
  return `/docs/reference/${slugOf(tag)}`
}
