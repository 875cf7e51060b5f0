import { createRequire } from 'node:module'
import { Language, type Node, Parser } from 'web-tree-sitter'
import { type Declarations, noDeclarations, requireProvider } from './module-declarations.ts'

/** A file as it was read; `problem` says where it could not be, which leaves the rest of it. */
export interface ReadFile {
  declarations: Declarations
  problem?: string
}

type Reader = (text: string) => ReadFile

let reader: Promise<Reader> | undefined

/** A reader of HCL's own syntax. It takes some 10 MB, more for large texts, which only a thread that ends gives back. */
export function hclReader(): Promise<Reader> {
  reader ??= makeReader()
  return reader
}

/** For one file; large real ones take a tenth of it. What takes longer takes more memory, too. */
const MAX_PARSE_MS = 1_000

async function makeReader(): Promise<Reader> {
  await Parser.init()
  const require = createRequire(import.meta.url)
  const parser = new Parser()
  parser.setLanguage(
    await Language.load(require.resolve('@tree-sitter-grammars/tree-sitter-hcl/tree-sitter-hcl.wasm')),
  )
  return (text) => {
    const end = performance.now() + MAX_PARSE_MS
    const tree = parser.parse(text, null, { progressCallback: () => performance.now() > end })
    if (!tree) {
      parser.reset()
      return { declarations: noDeclarations(), problem: 'it takes too long to read' }
    }
    const declarations = noDeclarations()
    for (const block of topBlocks(tree.rootNode)) declare(declarations, block)
    const problem = tree.rootNode.hasError ? whereBroken(tree.rootNode) : undefined
    tree.delete()
    return { declarations, ...(problem && { problem }) }
  }
}

interface Block {
  type: string
  labels: string[]
  body: Node | undefined
}

function topBlocks(root: Node): Block[] {
  const bodies = root.namedChildren.flatMap((child) => (child.type === 'body' ? child.namedChildren : child))
  return bodies.filter(({ type }) => type === 'block').map(toBlock)
}

function toBlock(node: Node): Block {
  const parts = node.namedChildren
  const labels = parts.slice(1).filter(({ type }) => type === 'string_lit' || type === 'identifier')
  return {
    type: parts[0]?.text ?? '',
    labels: labels.map((label) => unquote(label.text)),
    body: parts.find(({ type }) => type === 'body'),
  }
}

function declare(to: Declarations, { type, labels, body }: Block): void {
  const [name = '', second = ''] = labels
  const has = attributesOf(body)
  if (type === 'variable') {
    const value = has.get('default')
    const required = value === undefined
    to.inputs.push({
      name,
      type: sourceOf(has.get('type')),
      description: textOf(has.get('description')),
      default: sourceOf(value),
      required,
    })
  } else if (type === 'output') {
    to.outputs.push({ name, description: textOf(has.get('description')) })
  } else if (type === 'module') {
    to.dependencies.push({ name, source: textOf(has.get('source')), version: textOf(has.get('version')) })
  } else if (type === 'resource') {
    to.resources.push({ name: second, type: name })
  } else if (type === 'terraform') {
    for (const block of body?.namedChildren.filter((child) => child.type === 'block').map(toBlock) ?? []) {
      if (block.type === 'required_providers') requireProviders(to, block.body)
    }
  }
}

function requireProviders(to: Declarations, body: Node | undefined): void {
  for (const [name, value] of attributesOf(body)) {
    const object = value.namedChildren[0]?.namedChildren[0]
    const isObject = object?.type === 'object'
    const has = new Map(isObject ? elementsOf(object) : [])
    const version = isObject ? textOf(has.get('version')) : textOf(value)
    to.provider_dependencies.push(requireProvider(name, textOf(has.get('source')), version))
  }
}

function attributesOf(body: Node | undefined): Map<string, Node> {
  const attributes = body?.namedChildren.filter(({ type }) => type === 'attribute') ?? []
  return new Map(
    attributes.flatMap((attribute) => {
      const [name, value] = attribute.namedChildren.filter(({ type }) => type !== 'comment')
      return name && value?.type === 'expression' ? [[name.text, value] as const] : []
    }),
  )
}

function elementsOf(object: Node): (readonly [string, Node])[] {
  return object.namedChildren.flatMap((element) => {
    const [key, value] = element.type === 'object_elem' ? element.namedChildren : []
    return key && value ? [[unquote(key.text), value] as const] : []
  })
}

/** An expression as it is written, its further lines as far left as the last one. */
function sourceOf(expression: Node | undefined): string {
  const text = expression?.text ?? ''
  const last = text.lastIndexOf('\n')
  if (last === -1) return text
  const [indent = ''] = /^[ \t]*/.exec(text.slice(last + 1)) ?? []
  return text.replaceAll(`\n${indent}`, '\n')
}

/** The value of an expression that is a text, or else the expression. */
function textOf(expression: Node | undefined): string {
  const text = expression?.text ?? ''
  return text.startsWith('<<') ? unwrapHeredoc(text) : unquote(text)
}

const ESCAPES: Record<string, string> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\' }

function unquote(text: string): string {
  if (!/^".*"$/s.test(text)) return text
  return unescapeTemplate(
    text.slice(1, -1).replace(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/g, (all, short, long, one) => {
      const code = Number.parseInt(short ?? long ?? '', 16)
      if (one !== undefined) return ESCAPES[one] ?? all
      return code <= 0x10ffff ? String.fromCodePoint(code) : all
    }),
  )
}

function unwrapHeredoc(text: string): string {
  const lines = text.split('\n').slice(1, -1)
  if (!text.startsWith('<<-')) return unescapeTemplate(lines.join('\n'))
  const indent = lines
    .filter((line) => line.trim() !== '')
    .reduce((least, line) => Math.min(least, line.search(/\S/)), Number.POSITIVE_INFINITY)
  return unescapeTemplate(lines.map((line) => line.slice(indent)).join('\n'))
}

function unescapeTemplate(text: string): string {
  return text.replace(/([$%])\1\{/g, '$1{')
}

/** How deep the first error is looked for. */
const MAX_DEPTH = 100

function whereBroken(root: Node): string {
  let node = root
  for (let depth = 0; depth < MAX_DEPTH && !node.isError && !node.isMissing; depth += 1) {
    const broken = node.children.find((child) => child.hasError || child.isError || child.isMissing)
    if (!broken) break
    node = broken
  }
  return `it cannot be read from line ${node.startPosition.row + 1} on`
}
