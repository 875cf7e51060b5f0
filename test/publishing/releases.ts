import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { makeArchive, makeKey, type SigningKey, sha256 } from '../registry.ts'

const MANIFEST = '{"version": 1, "metadata": {"protocol_versions": ["6.0"]}}\n'

/** A directory of a test's own. */
export function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-release-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export interface WrittenRelease {
  /** Where goreleaser wrote to. */
  dist: string
  /** The file with the public key. */
  keyFile: string
  key: SigningKey
  write: (file: string, content: Buffer | string) => void
  /** Writes a file beside that directory, where the source is. */
  writeSource: (file: string, content: Buffer | string) => void
  /** Writes the list of digests, and its signature. */
  sign: (lines: string | Buffer) => Promise<void>
  shasums: string
  prefix: string
}

interface ReleaseOptions {
  name?: string
  version?: string
  platforms?: string[]
  key?: SigningKey
  /** What is in each archive. */
  content?: string
}

/** What goreleaser leaves behind with the configuration of the provider template. */
export async function writeRelease({
  name = 'demo',
  version = '1.2.3',
  platforms = ['linux_amd64', 'linux_armv6', 'windows_amd64'],
  key,
  content,
}: ReleaseOptions = {}): Promise<WrittenRelease> {
  const source = makeDirectory()
  const dist = join(source, 'dist')
  mkdirSync(dist)
  const signer = key ?? (await makeKey())
  const prefix = `terraform-provider-${name}_${version}`
  const write = (file: string, data: Buffer | string) => writeFileSync(join(dist, file), data)
  const writeSource = (file: string, data: Buffer | string) => {
    mkdirSync(dirname(join(source, file)), { recursive: true })
    writeFileSync(join(source, file), data)
  }
  const artifacts: object[] = []
  const lines: string[] = []
  const list = (file: string, data: Buffer | string) => lines.push(`${sha256(data)}  ${file}\n`)
  for (const platform of platforms) {
    const file = `${prefix}_${platform}.zip`
    const archive = await makeArchive(name, version, content ?? `#!/bin/sh\n# ${platform}\n`)
    const [goos, goarch] = platform.replace(/armv\d/, 'arm').split('_')
    artifacts.push({ name: file, path: `dist/${file}`, goos, goarch, type: 'Archive' })
    write(file, archive)
    list(file, archive)
  }
  // The manifest stays where it is in the source, under another name.
  writeFileSync(join(source, 'terraform-registry-manifest.json'), MANIFEST)
  list(`${prefix}_manifest.json`, MANIFEST)
  const sign = async (text: string | Buffer) => {
    write(`${prefix}_SHA256SUMS`, text)
    write(`${prefix}_SHA256SUMS.sig`, await signer.sign(Buffer.from(text)))
  }
  await sign(lines.join(''))
  artifacts.push(
    { name: `${prefix}_SHA256SUMS`, path: `dist/${prefix}_SHA256SUMS`, type: 'Checksum' },
    { name: `${prefix}_SHA256SUMS.sig`, path: `dist/${prefix}_SHA256SUMS.sig`, type: 'Signature' },
  )
  write('artifacts.json', JSON.stringify(artifacts))
  write(
    'metadata.json',
    JSON.stringify({ project_name: `terraform-provider-${name}`, tag: `v${version}`, version }),
  )
  const keyFile = join(source, 'public.asc')
  writeFileSync(keyFile, signer.armor)
  return { dist, keyFile, key: signer, write, writeSource, sign, shasums: lines.join(''), prefix }
}
