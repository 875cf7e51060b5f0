import { posix } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'

/** Bytes of one file, and of all together, that are read to describe a module; what is beyond is left out. */
const MAX_FILE = 512 * 1024
const MAX_TOTAL = 2 * 2 ** 20

/** Where a module, the modules in it and its examples have their files. */
const PLACES = /^(?:(?:modules|examples)\/[^/]+\/)?[^/]+$/

const WANTED = /(\.(tf|tofu)(\.json)?|^readme(\.md)?)$/i

/** The texts that describe a module, by their path, and the paths of those that were too large to be read. */
export interface ModuleFiles {
  texts: Map<string, string>
  tooLarge: string[]
}

/** Reads what describes a module from its archive, a gzipped tar that was checked before. */
export async function readModuleFiles(archive: Readable): Promise<ModuleFiles> {
  const tar = extract()
  const files: ModuleFiles = { texts: new Map(), tooLarge: [] }
  const collected = (async () => {
    let total = 0
    for await (const entry of tar) {
      const { name, type, size = 0 } = entry.header
      const path = posix.normalize(name)
      const isWanted = type === 'file' && PLACES.test(path) && WANTED.test(posix.basename(path))
      if (isWanted && size <= MAX_FILE && total + size <= MAX_TOTAL) {
        total += size
        files.texts.set(path, (await buffer(entry)).toString('utf8').replaceAll('\r\n', '\n'))
      } else {
        if (isWanted) files.tooLarge.push(path)
        entry.resume()
      }
    }
  })()
  await Promise.all([collected, pipeline(archive, createGunzip(), tar)])
  return files
}
