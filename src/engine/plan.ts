import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import type { Outcome } from './channel.ts'
import { EngineError } from './engine.ts'
import { outFile, PLAN_FILE, produce, type ReadyJob } from './job.ts'
import { maskOf } from './mask.ts'
import {
  countChanges,
  generatesConfiguration,
  type PlanJson,
  redactPlan,
  type SchemaJson,
  usedSchemas,
} from './plan-json.ts'
import { lockFileOf } from './prepare.ts'
import { asArguments, writeVariables } from './variables.ts'

/** Codes of `plan -detailed-exitcode`. */
const NO_CHANGES = 0
const CHANGES = 2

/** Plans, and hands over the plan and everything that is said about it. */
export async function plan(job: ReadyJob): Promise<Outcome> {
  const { engine, stop, assignment, places } = job
  const variableFiles = await writeVariables(assignment, places.variables)
  const { code, tally } = await engine.work(['plan', ...planArguments(job), ...asArguments(variableFiles)])
  stop.check()
  if (code === NO_CHANGES || code === CHANGES) {
    const described = await describe(job)
    await produce(job, 'plan', outFile(job, PLAN_FILE))
    if (existsSync(lockFileOf(job))) await produce(job, 'lock-file', lockFileOf(job))
    return { status: 'finished', ...described, hasChanges: described.hasChanges ?? code === CHANGES }
  }
  // Since Terraform 1.6 a plan that failed tells what it came to.
  const described = existsSync(outFile(job, PLAN_FILE)) ? await describe(job).catch(forget) : {}
  const error = tally.error ? `the plan failed: ${tally.error}` : 'the plan failed'
  return { status: 'errored', error, ...described }
}

/** It is not worth another error. */
function forget(error: unknown): Partial<Outcome> {
  if (error instanceof EngineError || error instanceof SyntaxError) return {}
  throw error
}

function planArguments(job: ReadyJob): string[] {
  const { run } = job.assignment
  return [
    `-out=${outFile(job, PLAN_FILE)}`,
    '-detailed-exitcode',
    ...(run.isDestroy ? ['-destroy'] : []),
    ...(run.refreshOnly ? ['-refresh-only'] : []),
    ...(run.refresh ? [] : ['-refresh=false']),
    ...run.targetAddrs.map((address) => `-target=${address}`),
    ...run.replaceAddrs.map((address) => `-replace=${address}`),
    ...(run.allowConfigGeneration ? [`-generate-config-out=${outFile(job, 'generated.tf')}`] : []),
  ]
}

/** Hands over the plan as JSON, in all its forms; returns what it says. */
async function describe(job: ReadyJob): Promise<Partial<Outcome>> {
  const { engine, secrets } = job
  const planPath = outFile(job, 'plan.json')
  const schemaPath = outFile(job, 'schema.json')
  await Promise.all([
    engine.show(['show', '-json', '-no-color', outFile(job, PLAN_FILE)], planPath),
    engine.show(['providers', 'schema', '-json', '-no-color'], schemaPath),
  ])
  const planJson = await readJson<PlanJson>(planPath)
  const schemas = await readJson<SchemaJson>(schemaPath)
  const redactedPath = outFile(job, 'redacted.json')
  await writeFile(redactedPath, JSON.stringify(redactPlan(planJson, schemas, maskOf(secrets))), {
    mode: 0o600,
  })
  await writeFile(schemaPath, JSON.stringify(usedSchemas(schemas, planJson)))
  await produce(job, 'json-output', planPath)
  await produce(job, 'json-output-redacted', redactedPath)
  await produce(job, 'json-schema', schemaPath)
  return {
    ...(planJson.applyable !== undefined && { hasChanges: planJson.applyable }),
    generatedConfiguration: generatesConfiguration(planJson),
    counts: countChanges(planJson),
  }
}

async function readJson<T>(path: string): Promise<T> {
  return JSON.parse(await readFile(path, 'utf8'))
}
