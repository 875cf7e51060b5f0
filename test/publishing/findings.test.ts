import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { beforeAll, describe, expect, test } from 'vitest'
import { ZipFile } from 'yazl'
import { type InspectOptions, inspectRelease } from '../../cli/src/release/inspect.ts'
import { makeArchive, makeKey, type SigningKey, sha256 } from '../registry.ts'
import { writeRelease } from './releases.ts'

// Everything that is said of a release before any server is asked.

let key: SigningKey
beforeAll(async () => {
  key = await makeKey()
})

type Written = Awaited<ReturnType<typeof writeRelease>>

const inspect = (directory: string, options: InspectOptions = {}) =>
  inspectRelease(directory, options, new AbortController().signal)

/** What is found in a release that `change` was done to. */
async function findingsOf(change: (release: Written) => unknown, options: InspectOptions = {}, of = {}) {
  const release = await writeRelease({ key, platforms: ['linux_amd64', 'darwin_arm64'], ...of })
  await change(release)
  const { findings, release: sound } = await inspect(release.dist, { key: release.keyFile, ...options })
  for (const { fix } of findings) expect(fix).toMatch(/^[A-Z].{10}/)
  expect(sound === undefined).toBe(findings.some(({ severity }) => severity === 'error'))
  return findings.map(
    ({ severity, code, file, message }) => `${severity} ${code}: ${file.split('/').at(-1)}: ${message}`,
  )
}

async function zipOf(files: Record<string, number>): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [name, mode] of Object.entries(files)) zip.addBuffer(Buffer.from('x'), name, { mode })
  zip.end()
  return buffer(zip.outputStream as AsyncIterable<Buffer> & NodeJS.ReadableStream)
}

/** Puts an archive in the place of that for linux_amd64, and signs the release anew. */
async function replace(release: Written, archive: Buffer, file = `${release.prefix}_linux_amd64.zip`) {
  release.write(file, archive)
  await release.sign(release.shasums.replace(new RegExp(`.{64}(?=  ${file})`), sha256(archive)))
}

const SHASUMS = 'terraform-provider-demo_1.2.3_SHA256SUMS'
const LINUX = 'terraform-provider-demo_1.2.3_linux_amd64.zip'

test('a release that is in order has no findings', async () => {
  expect(await findingsOf(() => undefined)).toEqual([])
})

const cases: [
  what: string,
  change: (release: Written) => unknown,
  finding: string | RegExp,
  options?: InspectOptions,
  of?: object,
][] = [
  [
    'a list that clients would choke on',
    ({ sign, shasums }) => sign(`${shasums}\n`),
    `error shasums-malformed: ${SHASUMS}: line 4 is blank; terraform crashes on it`,
  ],
  ['no list', ({ dist }) => rmSync(join(dist, SHASUMS)), /^error shasums-missing: /],
  [
    'an archive that is not there',
    ({ dist }) => rmSync(join(dist, LINUX)),
    `error archive-missing: ${LINUX}: it is listed, but is not there`,
  ],
  [
    'an archive that was changed',
    async ({ write }) => write(LINUX, await makeArchive('demo', '1.2.3', 'changed')),
    /^error archive-changed: \S+: it has SHA-256 \w{64}, but \w{64} is listed$/,
  ],
  [
    'an archive that is not listed',
    async ({ write }) => write(LINUX.replace('linux', 'freebsd'), await makeArchive('demo', '1.2.3')),
    /^error archive-unlisted: \S+freebsd_amd64.zip: /,
  ],
  [
    'an archive without the executable',
    async (release) => replace(release, await zipOf({ README: 0o100644 })),
    /^error archive-refused: \S+: it has no file terraform-provider-demo… in its root/,
  ],
  [
    'an archive whose executable cannot be started',
    async (release) => replace(release, await zipOf({ 'terraform-provider-demo_v1.2.3': 0o100644 })),
    /^error not-executable: \S+: terraform-provider-demo_v1\.2\.3 in it is not marked as executable/,
  ],
  [
    'an archive that is no zip',
    (release) => replace(release, Buffer.from('no zip')),
    `error archive-refused: ${LINUX}: it is not a zip archive`,
  ],
  [
    'a list without archives',
    ({ dist, sign, shasums }) => {
      for (const file of [LINUX, LINUX.replace('linux_amd64', 'darwin_arm64')]) rmSync(join(dist, file))
      return sign(shasums.split('\n').slice(2).join('\n'))
    },
    `error no-archives: ${SHASUMS}: it lists no zip archive`,
  ],
  [
    'an archive that does not tell its platform',
    async ({ write, sign, shasums, dist }) => {
      rmSync(join(dist, 'artifacts.json'))
      const archive = await makeArchive('demo', '1.2.3')
      write('demo.zip', archive)
      await sign(`${shasums}${sha256(archive)}  demo.zip\n`)
    },
    'error platform-unknown: demo.zip: its name does not tell the platform',
  ],
  [
    'two archives for one platform',
    () => undefined,
    /^error platform-twice: \S+linux_armv7\.zip: \S+linux_armv6\.zip is for linux_arm as well$/,
    {},
    { platforms: ['linux_amd64', 'linux_armv6', 'linux_armv7'] },
  ],
  [
    'nothing for most pipelines',
    () => undefined,
    /^warning no-linux-amd64: /,
    {},
    { platforms: ['darwin_arm64'] },
  ],
  [
    'no signature',
    ({ dist }) => rmSync(join(dist, `${SHASUMS}.sig`)),
    `error signature-missing: ${SHASUMS}.sig: the list of digests is not signed`,
  ],
  [
    'a signature in armor',
    async ({ write, shasums }) => write(`${SHASUMS}.sig`, await key.signArmored(Buffer.from(shasums))),
    /^warning signature-armored: /,
  ],
  [
    'a signature that is none',
    ({ write }) => write(`${SHASUMS}.sig`, 'signed, me'),
    /^error signature-refused: \S+: it is not a detached OpenPGP signature/,
  ],
  [
    'a signature over something else',
    async ({ write }) => write(`${SHASUMS}.sig`, await key.sign(Buffer.from('else'))),
    /^error signature-refused: /,
  ],
  [
    'a private key',
    ({ keyFile }) => writeFileSync(keyFile, key.privateArmor),
    /^error key-refused: public\.asc: this is a private key/,
  ],
  [
    'a key that has expired',
    () => undefined,
    /^warning key-expired: public\.asc: key \w{16} expired on 2020-01-01; clients will say so$/,
    {},
    { key: makeKey('eddsa', { date: new Date('2020-01-01'), keyExpirationTime: 60 }) },
  ],
  [
    'a manifest that nobody wrote',
    ({ dist }) => rmSync(join(dist, '../terraform-registry-manifest.json')),
    /^warning manifest-missing: /,
  ],
  [
    'a manifest that is not listed',
    ({ sign, shasums }) => sign(`${shasums.split('\n').slice(0, 2).join('\n')}\n`),
    /^warning manifest-unlisted: /,
  ],
  [
    'a manifest without protocols',
    ({ dist }) => writeFileSync(join(dist, '../terraform-registry-manifest.json'), '{}'),
    /^error protocols-malformed: terraform-registry-manifest\.json: /,
  ],
  [
    'protocols that are none',
    () => undefined,
    /^error protocols-malformed: --protocols: /,
    { protocols: ['five'] },
  ],
  [
    'a name that terraform cannot say',
    () => undefined,
    /^error name-not-addressable: dist: terraform cannot name a provider "my_net"$/,
    {},
    { name: 'my_net' },
  ],
  [
    'a version that is none',
    () => undefined,
    'error version-malformed: dist: "1.2" is not a semantic version',
    {},
    { version: '1.2' },
  ],
]

describe('is found:', () => {
  for (const [what, change, finding, options, of] of cases) {
    test(what, async () => {
      const settled = Object.fromEntries(
        await Promise.all(Object.entries(of ?? {}).map(async ([name, value]) => [name, await value])),
      )
      const findings = await findingsOf(change, options, settled)
      expect(findings).toEqual([typeof finding === 'string' ? finding : expect.stringMatching(finding)])
    })
  }
})

test('everything is found at once', async () => {
  const findings = await findingsOf(async (release) => {
    rmSync(join(release.dist, LINUX.replace('linux_amd64', 'darwin_arm64')))
    release.write(LINUX, await makeArchive('demo', '1.2.3', 'changed'))
    release.write(`${SHASUMS}.sig`, 'signed, me')
  })
  expect(findings.map((finding) => finding.split(' ')[1])).toEqual([
    'archive-changed:',
    'archive-missing:',
    'signature-refused:',
  ])
})

test('a directory with several releases is searched for one only', async () => {
  const { dist, write } = await writeRelease({ key, platforms: ['linux_amd64'] })
  for (const file of ['artifacts.json', 'metadata.json']) rmSync(join(dist, file))
  write('terraform-provider-demo_1.3.0_SHA256SUMS', '')
  await expect(inspect(dist)).rejects.toMatchObject({
    exit: 'usage',
    message: expect.stringMatching(/holds several releases: demo 1\.2\.3, demo 1\.3\.0$/),
  })
  expect((await inspect(dist, { version: 'v1.2.3' })).findings).toEqual([])
  await expect(inspect(dist, { version: '2.0.0' })).rejects.toMatchObject({ exit: 'usage' })
  await expect(inspect(join(dist, 'none'))).rejects.toMatchObject({ exit: 'usage' })
  for (const file of ['terraform-provider-demo_1.3.0_SHA256SUMS', SHASUMS, LINUX]) rmSync(join(dist, file))
  await expect(inspect(dist)).rejects.toMatchObject({
    message: expect.stringMatching(/^there is no release in/),
  })
})

test('a private key with a passphrase signs when it is given', async () => {
  const openpgp = await import('openpgp')
  const locked = await openpgp.encryptKey({ privateKey: key.pair.privateKey, passphrase: 'open sesame' })
  const { dist, keyFile } = await writeRelease({ key, platforms: ['linux_amd64'] })
  writeFileSync(keyFile, locked.armor())
  const options = { key: keyFile, sign: true }
  await expect(inspect(dist, options)).rejects.toMatchObject({ message: 'the private key has a passphrase' })
  await expect(inspect(dist, { ...options, passphrase: 'wrong' })).rejects.toMatchObject({
    message: 'the passphrase does not fit the private key',
  })
  const { release } = await inspect(dist, { ...options, passphrase: 'open sesame' })
  expect(release?.key?.keyId).toBe(key.keyId)
})
