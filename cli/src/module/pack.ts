import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { Readable } from 'node:stream'
import ignore, { type Ignore } from 'ignore'
import { isConfiguration } from '../../../src/lib/module-archive.ts'
import { checkSlug, SlugError } from '../../../src/lib/slug.ts'
import { CliError } from '../errors.ts'
import type { Finding } from '../release/release.ts'
import { type Entry, packArchive } from '../tar.ts'

/** A module as it is published. */
export interface PackedModule {
  bytes: Buffer
  /** Relative paths, sorted. */
  files: readonly string[]
  findings: Finding[]
}

/** What is of no use to others, whatever .terraformignore says. */
const NEVER = ['.git/', '.terraform/']

/** What may hold secrets. */
const SECRET = /(^|\/)([^/]*\.tfstate(\.[^/]*)?|[^/]*\.tfvars(\.json)?|\.env)$/

/**
 * Packs what is in a directory, as a gzipped tar that depends on names, contents and the mark of executables only, and
 * leaves out what .terraformignore says. Throws `CliError` for a directory that cannot be read.
 */
export async function packModule(directory: string): Promise<PackedModule> {
  const ignored = await readIgnored(directory)
  const files = await listFiles(directory, directory, ignored)
  const bytes = await packArchive(readEntries(directory, files))
  return { bytes, files, findings: await findingsOf(directory, files, bytes) }
}

async function readIgnored(directory: string): Promise<Ignore> {
  const rules = await readFile(join(directory, '.terraformignore'), 'utf8').catch(() => '')
  return ignore().add(rules).add(NEVER)
}

async function listFiles(root: string, directory: string, ignored: Ignore): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    throw new CliError('usage', `the directory ${directory} cannot be read (${error.code})`)
  })
  const files: string[] = []
  for (const entry of entries) {
    const path = join(directory, entry.name)
    const name = relative(root, path).split(sep).join('/')
    if (ignored.ignores(entry.isDirectory() ? `${name}/` : name)) continue
    if (entry.isDirectory()) files.push(...(await listFiles(root, path, ignored)))
    else if (entry.isFile() || entry.isSymbolicLink()) files.push(name)
  }
  // By bytes, which is the same everywhere.
  return files.sort((a, b) => (a < b ? -1 : 1))
}

async function* readEntries(directory: string, files: readonly string[]): AsyncGenerator<Entry> {
  for (const name of files) {
    const path = join(directory, name)
    const file = await lstat(path)
    if (file.isSymbolicLink()) yield { name, linkname: await readlink(path) }
    else yield { name, content: await readFile(path), isExecutable: (file.mode & 0o111) !== 0 }
  }
}

async function findingsOf(directory: string, files: readonly string[], bytes: Buffer): Promise<Finding[]> {
  const findings: Finding[] = []
  if (!files.some((file) => !file.includes('/') && isConfiguration(file))) {
    findings.push({
      severity: 'error',
      code: 'no-configuration',
      file: directory,
      message: 'there is no .tf file in it',
      fix: 'Name the directory of the module itself.',
    })
  }
  for (const file of files.filter((each) => SECRET.test(each))) {
    findings.push({
      severity: 'warning',
      code: 'may-hold-secrets',
      file,
      message: 'everybody who may use the module can read it',
      fix: 'Name it in .terraformignore, unless it is an example.',
    })
  }
  await checkSlug(Readable.from([bytes]), bytes.length).catch((error: unknown) => {
    if (!(error instanceof SlugError)) throw error
    const fix = 'Remove it, or name it in .terraformignore.'
    findings.push({
      severity: 'error',
      code: 'archive-refused',
      file: directory,
      message: error.message,
      fix,
    })
  })
  return findings
}
