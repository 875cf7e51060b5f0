import { posix } from 'node:path'
import type { TakeFile } from './slug.ts'

/** Bytes of one file, and of all together, that are read to describe a module; what is beyond is left out. */
const MAX_FILE = 512 * 1024
const MAX_TOTAL = 2 * 2 ** 20

/** Where a module, the modules in it and its examples have their files. */
const PLACES = /^(?:(?:modules|examples)\/[^/]+\/)?[^/]+$/

const CONFIGURATION = /\.(tf|tofu)(\.json)?$/
const README = /^readme(\.md)?$/i

export function isConfiguration(path: string): boolean {
  return CONFIGURATION.test(path)
}

export function isReadme(path: string): boolean {
  return README.test(posix.basename(path))
}

/** The texts that describe a module, by their path, and the paths of those that were too large to be read. */
export interface ModuleFiles {
  texts: Map<string, string>
  tooLarge: string[]
}

/** Collects what describes a module while its archive is checked (`checkSlug`). */
export function collectModuleFiles(): { files: ModuleFiles; take: TakeFile } {
  const files: ModuleFiles = { texts: new Map(), tooLarge: [] }
  let left = MAX_TOTAL
  const take: TakeFile = async (path, bytes) => {
    if (!PLACES.test(path) || !(isConfiguration(path) || isReadme(path))) return
    const most = Math.min(MAX_FILE, left)
    const chunks: Buffer[] = []
    let size = 0
    for await (const chunk of bytes) {
      size += chunk.length
      if (size <= most) chunks.push(chunk)
    }
    if (size > most) {
      files.tooLarge.push(path)
    } else {
      left -= size
      files.texts.set(path, Buffer.concat(chunks).toString('utf8').replaceAll('\r\n', '\n'))
    }
  }
  return { files, take }
}
