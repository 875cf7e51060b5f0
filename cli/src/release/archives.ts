import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ArchiveError, checkProviderArchive } from '../../../src/lib/provider-archive.ts'
import { inParallel } from '../parallel.ts'
import type { Artifact, FoundRelease } from './find.ts'
import type { Archive, Finding } from './release.ts'

/** Archives that are read at the same time. */
const AT_ONCE = 4

export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** The archives that the list of digests names, checked as the server and clients will check them. */
export async function readArchives(
  found: FoundRelease,
  digests: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<{ archives: Archive[]; findings: Finding[] }> {
  const listed = [...digests].filter(([filename]) => filename.endsWith('.zip'))
  const read = await inParallel(listed, AT_ONCE, signal, ([filename, digest]) =>
    readArchive(found, filename, digest),
  )
  const archives = read.flatMap(({ archive }) => archive ?? [])
  const findings = read.flatMap((each) => each.findings)
  if (listed.length === 0) {
    findings.push({
      severity: 'error',
      code: 'no-archives',
      file: found.shasumsFile ?? found.directory,
      message: 'it lists no zip archive',
      fix: "Let goreleaser make zip archives (archives.formats: ['zip']) and list them.",
    })
  }
  const targets = read.flatMap(({ target }) => target ?? [])
  return { archives, findings: [...findings, ...unlisted(found, digests), ...platformFindings(targets)] }
}

async function readArchive(found: FoundRelease, filename: string, digest: string) {
  const findings: Finding[] = []
  const report = (code: string, message: string, fix: string) => {
    findings.push({ severity: 'error', code, file: filename, message, fix })
  }
  const target = targetOf(filename, found.artifacts)
  if (!target) {
    report(
      'platform-unknown',
      'its name does not tell the platform',
      `Name it terraform-provider-${found.name}_${found.version}_OS_ARCH.zip.`,
    )
  }
  const path = join(found.directory, filename)
  const size = await stat(path).then(
    (file) => (file.isFile() ? file.size : undefined),
    () => undefined,
  )
  if (size === undefined) {
    report('archive-missing', 'it is listed, but is not there', REBUILD)
    return { findings, target }
  }
  const sha256 = await hashFile(path)
  if (sha256 !== digest) {
    report('archive-changed', `it has SHA-256 ${sha256}, but ${digest} is listed`, REBUILD)
  }
  await checkContent(path, found.name, target?.os, report)
  return { findings, target, archive: target && { path, size, sha256, ...target } }
}

const REBUILD =
  'Build the release again, or list the digests of the files as they are, and sign the list anew.'

async function checkContent(
  path: string,
  name: string,
  os: string | undefined,
  report: (code: string, message: string, fix: string) => void,
): Promise<void> {
  try {
    const { executable } = await checkProviderArchive(path, name)
    if (executable.isExecutable || os === 'windows') return
    report(
      'not-executable',
      `${executable.name} in it is not marked as executable, so that terraform could not start it`,
      'Run chmod +x before zipping, on a system that knows such a mark.',
    )
  } catch (error) {
    if (!(error instanceof ArchiveError)) throw error
    report(
      'archive-refused',
      error.message,
      `Zip nothing but terraform-provider-${name}_vVERSION and plain files beside it.`,
    )
  }
}

type Target = Pick<Archive, 'filename' | 'os' | 'arch'>

/** Which platform an archive is for: as goreleaser says, or else as it is named. */
function targetOf(filename: string, artifacts: readonly Artifact[]): Target | undefined {
  const artifact = artifacts.find(({ name, type }) => name === filename && type === 'Archive')
  if (artifact?.goos && artifact.goarch) return { filename, os: artifact.goos, arch: artifact.goarch }
  const [, os, arch] = /_([a-z0-9]+)_([a-z0-9]+)\.zip$/.exec(filename) ?? []
  // Clients know one arm.
  return os && arch ? { filename, os, arch: arch.replace(/^armv[5-7]$/, 'arm') } : undefined
}

function unlisted({ files, name, version }: FoundRelease, digests: ReadonlyMap<string, string>): Finding[] {
  const prefix = `terraform-provider-${name}_${version}_`
  return files
    .filter((file) => file.startsWith(prefix) && file.endsWith('.zip') && !digests.has(file))
    .map((file) => ({
      severity: 'error',
      code: 'archive-unlisted',
      file,
      message: 'the list of digests does not name it, so that nobody could install it',
      fix: 'Add it to the list and sign the list anew, or remove the file.',
    }))
}

function platformFindings(archives: readonly Target[]): Finding[] {
  const findings: Finding[] = []
  const seen = new Map<string, string>()
  for (const { filename, os, arch } of archives) {
    const platform = `${os}_${arch}`
    const other = seen.get(platform)
    if (other) {
      findings.push({
        severity: 'error',
        code: 'platform-twice',
        file: filename,
        message: `${other} is for ${platform} as well`,
        fix: 'Build each platform once: for arm, choose one goarm.',
      })
    }
    seen.set(platform, filename)
  }
  if (archives.length > 0 && !seen.has('linux_amd64')) {
    findings.push({
      severity: 'warning',
      code: 'no-linux-amd64',
      file: archives[0]?.filename ?? '',
      message: 'there is no archive for linux_amd64, on which most pipelines and remote runs work',
      fix: 'Add linux and amd64 to the builds.',
    })
  }
  return findings
}
