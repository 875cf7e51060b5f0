import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ZipFile } from 'yazl'
import { temporaryDirectory } from '../../test/engine/bench.ts'
import { testWithTerraform } from '../../test/terraform.ts'
import type { EngineVersion } from './channel.ts'
import { PLATFORM } from './platform.ts'
import { Engines } from './versions.ts'

/** An engine that does nothing. */
const IDLE = '#!/bin/sh\n'

async function makeZip(files: Record<string, string>): Promise<Buffer> {
  const zip = new ZipFile()
  for (const [name, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), name)
  zip.end()
  return buffer(zip.outputStream)
}

/** A mirror with these files, by path; counts how often each is asked for. */
async function startMirror(files: Record<string, string | Buffer>) {
  const asked = new Map<string, number>()
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    asked.set(path, (asked.get(path) ?? 0) + 1)
    const content = files[path]
    response.writeHead(content === undefined ? 404 : 200).end(content)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/terraform`, asked }
}

async function release(
  version: string,
  files: Record<string, string> = { terraform: IDLE, 'LICENSE.txt': '' },
) {
  const zip = await makeZip(files)
  const name = `terraform_${version}_${PLATFORM}.zip`
  const digest = createHash('sha256').update(zip).digest('hex')
  const path = `/terraform/${version}`
  return {
    [`${path}/${name}`]: zip,
    [`${path}/terraform_${version}_SHA256SUMS`]: `${digest}  ${name}\n`,
  }
}

async function open(mirror?: string, path = '') {
  const directory = join(temporaryDirectory(), 'engines')
  return { directory, engines: await Engines.open({ directory, mirror, path }) }
}

function install(directory: string, version: string, name = 'terraform'): string {
  const path = join(directory, version, name)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, IDLE, { mode: 0o755 })
  return path
}

describe('engines of this machine', () => {
  test('are found by version, and the newest that will do is taken', async () => {
    const { directory, engines } = await open()
    const old = install(directory, '1.9.8')
    const tofu = install(directory, '1.10.1', 'tofu')
    install(directory, 'not-a-version')
    mkdirSync(join(directory, '1.12.0'))
    expect(await engines.resolve('latest')).toEqual({ version: '1.10.1', binary: tofu })
    expect(await engines.resolve('~> 1.9.0')).toEqual({ version: '1.9.8', binary: old })
    await expect(engines.resolve('1.12.0')).rejects.toThrow(
      /^engine version 1\.12\.0 is not available; here are 1\.9\.8, 1\.10\.1\. Put it into .*<version>\/terraform/,
    )
  })

  test('need not be there', async () => {
    const { engines } = await open()
    await expect(engines.resolve('latest')).rejects.toThrow(
      'engine version latest is not available; here is none',
    )
  })

  testWithTerraform('include the one on the path', async (binary) => {
    const { engines } = await open(undefined, dirname(binary))
    const found = await engines.resolve('latest')
    expect(found.binary).toBe(binary)
    expect(found.version).toMatch(/^\d+\.\d+\.\d+/)
    expect(await engines.resolve(found.version)).toEqual(found)
  })
})

describe('engines of a mirror', () => {
  test('are fetched once, however many want them at the same moment', async () => {
    const { url, asked } = await startMirror(await release('1.9.8'))
    const { directory, engines } = await open(url)
    const wants = Array.from({ length: 5 }, () => engines.resolve('1.9.8'))
    const binary = join(directory, '1.9.8/terraform')
    expect(await Promise.all(wants)).toEqual(wants.map(() => ({ version: '1.9.8', binary })))
    expect(readFileSync(binary, 'utf8')).toBe(IDLE)
    expect(statSync(binary).mode & 0o777).toBe(0o755)
    expect(readdirSync(directory)).toEqual(['1.9.8'])
    expect([...asked.values()]).toEqual([1, 1])
    await engines.resolve('1.9.8')
    expect([...asked.values()]).toEqual([1, 1])
  })

  test('may be fetched by two workers of one directory', async () => {
    const { url } = await startMirror(await release('1.9.8'))
    const { directory, engines } = await open(url)
    const other = await Engines.open({ directory, mirror: url, path: '' })
    await Promise.all([engines.resolve('1.9.8'), other.resolve('1.9.8')])
    expect(readdirSync(directory)).toEqual(['1.9.8'])
  })

  test('are chosen from its index where it has one', async () => {
    const index = JSON.stringify({ versions: { '1.9.7': {}, '1.9.8': {}, '1.10.0': {}, junk: {} } })
    const { url } = await startMirror({ ...(await release('1.9.8')), '/terraform/index.json': index })
    const { engines } = await open(url)
    expect(await engines.resolve('~> 1.9.0')).toMatchObject({ version: '1.9.8' })
    await expect(engines.resolve('~> 1.8.0')).rejects.toThrow(/not available.*has none that will do/)
  })

  test('are not taken when they are not what they should be', async () => {
    const good = await release('1.9.8')
    const [zip = '', sums = ''] = Object.keys(good)
    const other = await makeZip({ terraform: 'evil' })
    const bad: [Record<string, string | Buffer>, RegExp][] = [
      [{ ...good, [zip]: other }, /has the digest [0-9a-f]{64}, and not [0-9a-f]{64}/],
      [{ ...good, [sums]: `${'0'.repeat(64)}  terraform_1.9.8_plan9_arm.zip\n` }, /for other platforms/],
      [{ [zip]: good[zip] as Buffer }, /SHA256SUMS answers 404/],
      [{ [sums]: good[sums] as string }, /\.zip answers 404/],
      [await release('1.9.8', { tofu: IDLE }), /the archive has no terraform/],
    ]
    for (const [files, reason] of bad) {
      const { url } = await startMirror(files)
      const { directory, engines } = await open(url)
      await expect(engines.resolve('1.9.8')).rejects.toThrow(reason)
      await expect(engines.resolve('1.9.8')).rejects.toThrow('engine version 1.9.8 cannot be fetched from')
      expect(existsSync(join(directory, '1.9.8'))).toBe(false)
      expect(readdirSync(directory)).toEqual([])
    }
  })
})

describe('versions of site administrators', () => {
  /** A version with an archive for this machine and one for another. */
  const special = (version: string, url: string, sha: string, others: object = {}): EngineVersion => ({
    version,
    enabled: true,
    beta: false,
    archives: [
      { platform: 'plan9_arm', url: `${url}.plan9`, sha: '0'.repeat(64) },
      { platform: PLATFORM, url, sha },
    ],
    ...others,
  })

  const disabled = (version: string): EngineVersion => ({
    version,
    enabled: false,
    beta: false,
    archives: [],
  })

  /** A server with a zip of an engine; what it is called, and its digest. */
  async function publish(files: Record<string, string>) {
    const zip = await makeZip(files)
    const { url, asked } = await startMirror({ '/terraform': zip, '/terraform?key=s3cret': zip })
    return { url, asked, sha: createHash('sha256').update(zip).digest('hex') }
  }

  test('are fetched from where they are, once, and beat what is here by the same version', async () => {
    const { url, asked, sha } = await publish({ 'LICENSE.txt': '', tofu: IDLE })
    const { directory, engines } = await open()
    install(directory, '1.9.8')
    const old = install(directory, '1.9.7')
    const offer = [special('1.9.8', url, sha.toUpperCase())]
    const binary = join(directory, `sha256-${sha}`, 'tofu')
    const other = await Engines.open({ directory, mirror: undefined, path: '' })
    const wants = [engines, engines, engines, other].map((each) => each.resolve('latest', offer))
    expect(await Promise.all(wants)).toEqual(wants.map(() => ({ version: '1.9.8', binary })))
    expect(readFileSync(binary, 'utf8')).toBe(IDLE)
    expect(asked.get('/terraform')).toBe(2)
    expect(await engines.resolve('1.9.8', offer)).toEqual({ version: '1.9.8', binary })
    expect(asked.get('/terraform')).toBe(2)
    expect(readdirSync(directory)).toEqual(['1.9.7', '1.9.8', `sha256-${sha}`])
    expect(await engines.resolve('< 1.9.8', offer)).toEqual({ version: '1.9.7', binary: old })
    expect(await engines.list()).toEqual(['1.9.7', '1.9.8'])
  })

  test('are another engine once their digest is another', async () => {
    const [first, second] = [await publish({ terraform: IDLE }), await publish({ terraform: '#!/bin/sh\n:' })]
    const { engines } = await open()
    const one = await engines.resolve('1.9.8', [special('1.9.8', first.url, first.sha)])
    const two = await engines.resolve('1.9.8', [special('1.9.8', second.url, second.sha)])
    expect([one, two].map(({ binary }) => readFileSync(binary, 'utf8'))).toEqual([IDLE, '#!/bin/sh\n:'])
  })

  test('are not taken when they are not what they should be', async () => {
    const { url, sha } = await publish({ terraform: IDLE })
    const empty = await publish({ README: '' })
    const gone = url.replace('/terraform', '/none?key=s3cret')
    const bad: [EngineVersion, RegExp][] = [
      [
        special('1.9.8', `${url}?key=s3cret`, '0'.repeat(64)),
        new RegExp(`has the digest ${sha}, and not 0+$`),
      ],
      [special('1.9.8', empty.url, empty.sha), /the archive has no terraform or tofu$/],
      [special('1.9.8', gone, sha), /\/none answers 404$/],
      [special('1.9.8', 'http://127.0.0.1:1/x?key=s3cret', sha), /\/x cannot be reached \(/],
    ]
    for (const [version, reason] of bad) {
      const { directory, engines } = await open()
      const refused = engines.resolve('latest', [version])
      await expect(refused).rejects.toThrow(reason)
      await expect(refused).rejects.toThrow(/^engine version 1\.9\.8 cannot be fetched from (?!.*s3cret)/)
      expect(readdirSync(directory)).toEqual([])
    }
  })

  test('that are disabled are not chosen, and refused when they are asked for', async () => {
    const { url } = await startMirror({
      ...(await release('1.9.6')),
      '/terraform/index.json': JSON.stringify({ versions: { '1.9.6': {}, '1.9.7': {} } }),
    })
    const { directory, engines } = await open(url)
    for (const version of ['1.8.0', '1.9.8']) install(directory, version)
    const off = ['1.9.8', '1.9.7'].map(disabled)
    expect(await engines.resolve('latest', off)).toMatchObject({ version: '1.8.0' })
    expect(await engines.resolve('~> 1.9.0', off)).toMatchObject({ version: '1.9.6' })
    const reason = /^engine version 1\.9\.8 is disabled by the administrators of the site; change the version/
    await expect(engines.resolve('v1.9.8', off)).rejects.toThrow(reason)
    await expect(engines.resolve('> 1.9.7', off)).rejects.toThrow(reason)
    await expect(engines.resolve('1.9.7', off)).rejects.toThrow('engine version 1.9.7 is disabled')
    const archive = special('1.9.8', 'http://127.0.0.1:1/', '0'.repeat(64), { enabled: false })
    await expect(engines.resolve('1.9.8', [archive])).rejects.toThrow(reason)
  })

  test('that are no releases must be named, and those for other machines come from where all do', async () => {
    const { directory, engines } = await open()
    for (const version of ['1.8.0', '1.9.8']) install(directory, version)
    const beta = [{ ...disabled('1.9.8'), enabled: true, beta: true }]
    expect(await engines.resolve('latest', beta)).toMatchObject({ version: '1.8.0' })
    expect(await engines.resolve('1.9.8', beta)).toMatchObject({ version: '1.9.8' })
    const elsewhere = special('1.9.8', 'http://127.0.0.1:1/', '0'.repeat(64))
    const [first] = elsewhere.archives
    const offer = [{ ...elsewhere, archives: first ? [first] : [] }]
    expect(await engines.resolve('latest', offer)).toMatchObject({
      binary: join(directory, '1.9.8/terraform'),
    })
  })
})
