import { buffer } from 'node:stream/consumers'
import { createGzip } from 'node:zlib'
import { type Pack, pack } from 'tar-stream'

/** What an archive holds: a file, or a link. */
export type Entry =
  | { name: string; content: Buffer; isExecutable?: boolean }
  | { name: string; linkname: string }

/** That of every entry, so that the same contents make the same archive. */
const MTIME = new Date('1985-10-26T08:15:00Z')

/** Makes a gzipped tar, which depends on names, contents and their order only. */
export async function packArchive(entries: AsyncIterable<Entry> | Iterable<Entry>): Promise<Buffer> {
  const tar = pack()
  const packing = (async () => {
    for await (const entry of entries) await add(tar, entry)
    tar.finalize()
  })()
  const [bytes] = await Promise.all([buffer(tar.pipe(createGzip({ level: 9 }))), packing])
  return bytes
}

async function add(tar: Pack, entry: Entry): Promise<void> {
  if ('linkname' in entry) {
    tar.entry({ ...entry, type: 'symlink', mtime: MTIME })
    return
  }
  const { name, content, isExecutable = false } = entry
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  tar.entry({ name, mode: isExecutable ? 0o755 : 0o644, mtime: MTIME }, content, (error) =>
    error ? reject(error) : resolve(),
  )
  await promise
}
