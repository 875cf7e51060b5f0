import { posix } from 'node:path'
import type { TakeFile } from './slug.ts'

/**
 * What is read to describe a module: bytes of one file, of all together, and files, of the root and of all that are
 * below it. What is beyond is left out.
 */
const MAX_FILE = 256 * 1024
const MAX_TOTAL = 2 * 2 ** 20
const MAX_FILES = 1_000

/** Where a module, the modules in it and its examples have their files. */
const PLACES = /^(?:(?:modules|examples)\/[^/]+\/)?[^/]+$/

/** Hidden files and those of editors are none to the engine either. */
const CONFIGURATION = /^[^.#].*\.(tf|tofu)(\.json)?$/
const README = /^readme(\.md)?$/i

export function isConfiguration(path: string): boolean {
  return CONFIGURATION.test(posix.basename(path))
}

export function isReadme(path: string): boolean {
  return README.test(posix.basename(path))
}

/** What describes a module. */
export interface ModuleFiles {
  /** By their paths. */
  texts: Map<string, string>
  /** The paths of files that were too large to be read. */
  tooLarge: string[]
  /** How many others there were. */
  omitted: number
}

/** Collects what describes a module while its archive is checked (`checkSlug`). */
export function collectModuleFiles(): { files: ModuleFiles; take: TakeFile } {
  const files: ModuleFiles = { texts: new Map(), tooLarge: [], omitted: 0 }
  const counts = { root: 0, below: 0 }
  let left = MAX_TOTAL
  const take: TakeFile = async (path, bytes) => {
    if (!PLACES.test(path) || !(isConfiguration(path) || isReadme(path))) return
    const place = path.includes('/') ? 'below' : 'root'
    counts[place] += 1
    if (counts[place] > MAX_FILES) {
      files.omitted += 1
      return
    }
    const content = await readUpTo(Math.min(MAX_FILE, left), bytes)
    if (content) files.texts.set(path, content.toString('utf8').replaceAll('\r\n', '\n'))
    else files.tooLarge.push(path)
    left -= content?.length ?? 0
  }
  return { files, take }
}

/** The bytes, if they are not more; read to their end, since what comes after them is wanted too. */
async function readUpTo(most: number, bytes: AsyncIterable<Buffer>): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of bytes) {
    size += chunk.length
    if (size <= most) chunks.push(chunk)
  }
  return size <= most ? Buffer.concat(chunks) : undefined
}
