import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { outFile, PLAN_FILE, type ReadyJob } from './job.ts'
import { writeVariables } from './variables.ts'

/** What a configuration with ephemeral variables has somewhere. */
const MARK = /\bephemeral"?\s*[=:]\s*true\b/

const IS_SOURCE = /\.(tf|tofu)(\.json)?$/

interface PlanVariables {
  variables?: Record<string, unknown>
  configuration?: { root_module?: { variables?: Record<string, unknown> } }
}

/**
 * Files with the ephemeral variables, which a plan does not remember and an apply wants again; of the others it wants
 * none. To ask the plan takes a while, so it is asked only when there may be some.
 */
export async function writeEphemeralVariables(job: ReadyJob): Promise<string[]> {
  if (!(await mayBeEphemeral(job.cwd))) return []
  const path = outFile(job, 'planned.json')
  await job.engine.show(['show', '-json', '-no-color', outFile(job, PLAN_FILE)], path)
  const { variables = {}, configuration }: PlanVariables = JSON.parse(await readFile(path, 'utf8'))
  const declared = Object.keys(configuration?.root_module?.variables ?? {})
  const forgotten = new Set(declared.filter((name) => !(name in variables)))
  return writeVariables(job.assignment, job.places.variables, (name) => forgotten.has(name))
}

async function mayBeEphemeral(cwd: string): Promise<boolean> {
  const sources = (await readdir(cwd)).filter((name) => IS_SOURCE.test(name))
  const texts = await Promise.all(sources.map((name) => readFile(join(cwd, name), 'utf8').catch(() => '')))
  return texts.some((text) => MARK.test(text))
}
