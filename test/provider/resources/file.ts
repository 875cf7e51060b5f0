import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Failure } from '../schema.ts'
import { UNKNOWN, type Values } from '../values.ts'
import type { Context, DataSource, Resource } from './resource.ts'

/** The object as its file holds it, as JSON. */
interface Stored {
  path: string
  content: string
  secret: string | null
}

/** An object in a file of the directory: what it is can be seen, changed and taken away behind Terraform's back. */
export const file: Resource = {
  attributes: {
    id: { type: 'string', description: 'The same as the path.', computed: true, computedFrom: 'path' },
    path: {
      type: 'string',
      description: 'What the object is called; its file is named after it.',
      required: true,
      replaces: true,
      check: (path) => (path === '' ? 'It must not be empty.' : undefined),
    },
    content: {
      type: 'string',
      description: 'What the object holds; left to the provider, nothing.',
      optional: true,
      computed: true,
    },
    sha256: {
      type: 'string',
      description: 'The digest of the content.',
      computed: true,
      computedFrom: 'content',
    },
    secret: { type: 'string', description: 'What must not be shown.', optional: true, sensitive: true },
    failure: { type: 'string', description: 'Lets every apply fail with this text.', optional: true },
  },
  create: (context, planned) => write(context, planned, 'wx'),
  update: (context, planned) => write(context, planned, 'w'),
  read: async (context, state) => {
    const stored = await find(context, String(state['path']))
    return stored && { ...state, ...attributesOf(stored) }
  },
  remove: ({ directory }, state) => rm(fileOf(directory, String(state['path'])), { force: true }),
  describe: (id) => ({ id, path: id }),
}

export const fileDataSource: DataSource = {
  attributes: {
    id: { type: 'string', description: 'The same as the path.', computed: true },
    path: { type: 'string', description: 'What the object is called.', required: true },
    content: { type: 'string', description: 'What the object holds.', computed: true },
    sha256: { type: 'string', description: 'The digest of the content.', computed: true },
    secret: { type: 'string', description: 'What must not be shown.', computed: true, sensitive: true },
  },
  read: async (context, { path }) => {
    const stored = await find(context, String(path))
    if (!stored) throw new Failure('No such object', `There is no object ${String(path)}.`, 'path')
    return attributesOf(stored)
  },
}

async function write({ directory }: Context, planned: Values, flag: 'w' | 'wx'): Promise<Values> {
  const { path, content, secret, failure } = planned
  if (failure) throw new Failure('The object failed', String(failure), 'failure')
  const stored = {
    path: String(path),
    content: content === UNKNOWN ? '' : String(content),
    secret: secret === null ? null : String(secret),
  }
  await mkdir(directory, { recursive: true })
  const text = `${JSON.stringify(stored, null, 2)}\n`
  await writeFile(fileOf(directory, stored.path), text, { flag }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
    throw new Failure('The object already exists', `Import ${stored.path} to manage it.`, 'path')
  })
  return { ...planned, ...attributesOf(stored) }
}

async function find({ directory }: Context, path: string): Promise<Stored | undefined> {
  try {
    return JSON.parse(await readFile(fileOf(directory, path), 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function attributesOf(stored: Stored): Values {
  const sha256 = createHash('sha256').update(stored.content).digest('hex')
  return { id: stored.path, path: stored.path, content: stored.content, sha256, secret: stored.secret }
}

function fileOf(directory: string, path: string): string {
  return join(directory, `${encodeURIComponent(path)}.json`)
}
