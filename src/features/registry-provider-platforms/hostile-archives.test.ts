import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { ZipFile } from 'yazl'
import { onEachDialect } from '../../../test/harness.ts'
import {
  addKey,
  createPlatform,
  createProvider,
  createVersion,
  makeArchive,
  makeKey,
  put,
  sha256,
} from '../../../test/registry.ts'

const EXECUTABLE = 'terraform-provider-demo_v1.0.0'

interface Entry {
  name: string
  content?: Buffer
  mode?: number
}

/** A zip archive with these entries; `rename` replaces names that no honest tool writes, length for length. */
async function zipOf(entries: Entry[], rename: Record<string, string> = {}): Promise<Buffer> {
  const zip = new ZipFile()
  for (const { name, content = Buffer.from(name), mode = 0o100755 } of entries)
    zip.addBuffer(content, name, { mode })
  zip.end()
  let bytes = (await buffer(zip.outputStream as NodeJS.ReadableStream & AsyncIterable<Buffer>)).toString(
    'latin1',
  )
  for (const [from, to] of Object.entries(rename)) bytes = bytes.replaceAll(from, to)
  return Buffer.from(bytes, 'latin1')
}

const good: Entry = { name: EXECUTABLE }

const HOSTILE: [string, () => Promise<Buffer>, RegExp][] = [
  ['no archive at all', async () => Buffer.from('#!/bin/sh'), /not a zip archive/],
  [
    'an archive cut short',
    async () => (await makeArchive('demo', '1.0.0')).subarray(0, -30),
    /not a zip archive/,
  ],
  [
    'an entry that leads out',
    () => zipOf([good, { name: 'ab/evil' }], { 'ab/evil': '../evil' }),
    /leads out/,
  ],
  [
    'an entry that leads out late',
    () => zipOf([good, { name: 'a/bc/d' }], { 'a/bc/d': 'a/../d' }),
    /leads out/,
  ],
  ['an absolute path', () => zipOf([good, { name: 'aevil' }], { aevil: '/evil' }), /absolute path/],
  ['a drive', () => zipOf([good, { name: 'aa/evil' }], { 'aa/evil': 'C:/evil' }), /absolute path/],
  [
    'a backslash',
    () => zipOf([good, { name: 'ab-cd' }], { 'ab-cd': 'ab\\cd' }),
    /character that is not allowed/,
  ],
  ['a name twice', () => zipOf([good, { name: 'aa' }, { name: 'bb' }], { bb: 'aa' }), /has aa twice/],
  ['names that differ in case', () => zipOf([good, { name: 'README' }, { name: 'readme' }]), /twice/],
  ['a symbolic link', () => zipOf([good, { name: 'link', mode: 0o120777 }]), /symbolic link/],
  ['a device', () => zipOf([good, { name: 'dev', mode: 0o060644 }]), /neither a file nor a directory/],
  ['no executable', () => zipOf([{ name: 'README' }]), /no file terraform-provider-demo… in its root/],
  [
    'an executable below the root',
    () => zipOf([{ name: `bin/${EXECUTABLE}` }]),
    /no file terraform-provider-demo/,
  ],
  [
    'another provider',
    () => zipOf([{ name: 'terraform-provider-demolition_v1' }]),
    /no file terraform-provider-demo/,
  ],
  [
    'a bomb',
    () => zipOf([good, { name: 'zeros', content: Buffer.alloc(40 * 2 ** 20) }]),
    /more than 200 times its size/,
  ],
  [
    'a size that lies',
    async () => {
      const bytes = await zipOf([{ ...good, content: Buffer.alloc(1000) }])
      const directory = bytes.lastIndexOf('PK\x01\x02', undefined, 'latin1')
      bytes.writeUInt32LE(10, directory + 24)
      return bytes
    },
    /cannot be unpacked/,
  ],
]

onEachDialect('a hostile archive', (server) => {
  test.each(HOSTILE)('with %s is refused with the reason', async (_, make, reason) => {
    const organization = await server.organization()
    const { owner } = organization
    const path = await createProvider(organization, 'demo')
    await createVersion(owner, path, '1.0.0', await addKey(organization, await makeKey()))
    const archive = await make()
    const target = { os: 'linux', arch: 'amd64', filename: 'demo.zip', shasum: sha256(archive) }
    const { links } = await createPlatform(owner, path, '1.0.0', target)
    const answer = await put(links['provider-binary-upload'], archive)
    expect(answer.status).toBe(422)
    expect(answer.body.errors).toMatchObject([{ detail: expect.stringMatching(reason) }])
    const shown = await owner.get(`${path}/versions/1.0.0/platforms/linux/amd64`)
    expect(shown.body.data.attributes['provider-binary-uploaded']).toBe(false)
  })
})
