import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { quoteHcl } from './hcl.ts'
import { ConfigurationError } from './slug.ts'

/** Overrides are merged in the order of their names, and the last one wins. */
const OVERRIDES = [
  'zzzz_plinth_override.tf',
  '~~~~_plinth_override.tf',
  '\u{10FFFD}\u{10FFFD}_plinth_override.tf',
]

/** Where the engine leaves a state that it cannot write to its place. */
export const ERRORED_STATE = 'errored.tfstate'

const IS_OVERRIDE = /(^|_)override\.(tf|tofu)(\.json)?$/

/**
 * Makes the configuration in `cwd` keep its state in the directory `state`, whatever backend it names; returns the
 * state's file. The path is relative: a plan remembers it, and may be applied on another machine.
 */
export async function useLocalState(cwd: string, state: string, workspace: string): Promise<string> {
  await removeUploadedState(cwd)
  const path = join(state, 'terraform.tfstate')
  const workspaces = join(state, 'workspaces')
  const override = await nameOverride(cwd)
  const settings = [
    `path          = ${quoteHcl(relative(cwd, path))}`,
    `workspace_dir = ${quoteHcl(relative(cwd, workspaces))}`,
  ].map((line) => `    ${line}\n`)
  await writeFile(join(cwd, override), `terraform {\n  backend "local" {\n${settings.join('')}  }\n}\n`, {
    flag: 'wx',
  })
  const file = workspace === 'default' ? path : join(workspaces, workspace, 'terraform.tfstate')
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  return file
}

async function nameOverride(cwd: string): Promise<string> {
  const existing = (await readdir(cwd)).filter((name) => IS_OVERRIDE.test(name))
  const comesLast = (name: string) =>
    existing.every((other) => Buffer.compare(Buffer.from(other), Buffer.from(name)) < 0)
  const name = OVERRIDES.find(comesLast)
  if (name === undefined) {
    throw new ConfigurationError(
      'it has an override file whose name sorts behind all others, so that its backend cannot be replaced; rename it',
    )
  }
  return name
}

/** State that was uploaded with the configuration is not the workspace's; modules that were installed may stay. */
async function removeUploadedState(cwd: string): Promise<void> {
  await rm(join(cwd, 'terraform.tfstate'), { recursive: true, force: true })
  await rm(join(cwd, ERRORED_STATE), { recursive: true, force: true })
  const data = join(cwd, '.terraform')
  const entries = await readdir(data).catch(() => [])
  for (const name of entries.filter((entry) => entry !== 'modules')) {
    await rm(join(data, name), { recursive: true, force: true })
  }
}
