import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CliError } from '../errors.ts'

/** One line of goreleaser's artifacts.json. */
export interface Artifact {
  name: string
  /** Relative to where goreleaser ran, which is the parent of its directory. */
  path?: string
  type?: string
  goos?: string
  goarch?: string
}

/** A release that was found in a directory; what is in its files is not known yet. */
export interface FoundRelease {
  directory: string
  name: string
  version: string
  /** Undefined where there is none, or none of a name that clients understand. */
  shasumsFile: string | undefined
  files: readonly string[]
  artifacts: readonly Artifact[]
}

export interface FindOptions {
  name?: string | undefined
  version?: string | undefined
}

const SHASUMS = /^terraform-provider-(.+)_v?([0-9][^_]*)_SHA256SUMS$/
const ARCHIVE = /^terraform-provider-(.+)_v?([0-9][^_]*)_[^_]+_[^_]+\.zip$/

/**
 * Finds the release in a directory: by goreleaser's own index where there is one, or else by the names of the files.
 * Throws `CliError` where there is none, or where there are several to choose from.
 */
export async function findRelease(directory: string, options: FindOptions): Promise<FoundRelease> {
  const files = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    throw new CliError('usage', `the directory ${directory} cannot be read (${error.code})`, {
      advice: 'Name the directory that holds the release: plinth provider publish dist/',
    })
  })
  const artifacts = (await readJson<Artifact[]>(join(directory, 'artifacts.json'))) ?? []
  const metadata = await readJson<{ version?: string }>(join(directory, 'metadata.json'))
  const chosen = choose(files, { ...options, version: options.version ?? metadata?.version }, directory)
  return { directory, files: files.toSorted(), artifacts: [artifacts].flat(), ...chosen }
}

async function readJson<T>(path: string): Promise<T | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text) as T
  } catch {
    throw new CliError('release', `${path} is not JSON`, { advice: 'Build the release again.' })
  }
}

function choose(files: readonly string[], options: FindOptions, directory: string) {
  const version = options.version?.replace(/^v(?=\d)/, '')
  const lists = candidates(files, SHASUMS)
  // Without a list of digests the archives tell what the release is; that there is none is a finding.
  const found = lists.length > 0 ? lists : candidates(files, ARCHIVE)
  const fitting = found.filter(
    (each) => (!version || each.version === version) && (!options.name || each.name === options.name),
  )
  const [first, ...others] = fitting
  if (others.length > 0) {
    const names = fitting.map((each) => `${each.name} ${each.version}`).join(', ')
    throw new CliError('usage', `${directory} holds several releases: ${names}`, {
      advice: 'Say which one with --version, and --name where that is not enough.',
    })
  }
  if (first) return { ...first, shasumsFile: lists.length > 0 ? first.file : undefined }
  throw nothingFound(found, directory)
}

function candidates(files: readonly string[], pattern: RegExp) {
  const found = new Map<string, { name: string; version: string; file: string }>()
  for (const file of files) {
    const [, name, version] = pattern.exec(file) ?? []
    if (name && version) found.set(`${name} ${version}`, { name, version, file })
  }
  return [...found.values()]
}

function nothingFound(found: { name: string; version: string }[], directory: string): CliError {
  if (found.length > 0) {
    const names = found.map(({ name, version }) => `${name} ${version}`).join(', ')
    return new CliError('usage', `${directory} holds ${names}, which is not what was asked for`, {
      advice: 'Change --version or --name, or build that release.',
    })
  }
  return new CliError('usage', `there is no release in ${directory}`, {
    advice:
      'It looks for terraform-provider-NAME_VERSION_SHA256SUMS, or with --sign for ' +
      'terraform-provider-NAME_VERSION_OS_ARCH.zip. In .goreleaser.yml: ' +
      "checksum.name_template: '{{ .ProjectName }}_{{ .Version }}_SHA256SUMS'.",
  })
}
