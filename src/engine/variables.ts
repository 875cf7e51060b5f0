import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Assignment, RunVariable } from './channel.ts'
import { isIdentifier } from './hcl.ts'

/**
 * Writes the variables of the configuration into files, or those of them that are wanted; returns the files, the more
 * important ones later. Values are literal in files of JSON, and expressions in others.
 */
export async function writeVariables(
  assignment: Assignment,
  directory: string,
  isWanted: (name: string) => boolean = () => true,
): Promise<string[]> {
  const terraformVariables = assignment.terraformVariables.filter(({ key }) => isWanted(key))
  const ofTheRun = assignment.run.variables.filter(({ key }) => isWanted(key))
  const groups = [
    ...split('workspace', unique(terraformVariables.filter(({ priority }) => !priority))),
    { name: 'run.tfvars', text: expressions(ofTheRun) },
    ...split('priority', unique(terraformVariables.filter(({ priority }) => priority))),
  ]
  const paths: string[] = []
  for (const { name, text } of groups.filter((group) => group.text !== '')) {
    const path = join(directory, name)
    await writeFile(path, text, { mode: 0o600 })
    paths.push(path)
  }
  return paths
}

/** How the engine is told to read the files. */
export function asArguments(files: readonly string[]): string[] {
  return files.map((path) => `-var-file=${path}`)
}

function split(name: string, variables: readonly RunVariable[]): { name: string; text: string }[] {
  const literal = variables.filter(({ hcl }) => !hcl)
  return [
    { name: `${name}.tfvars.json`, text: literal.length > 0 ? literals(literal) : '' },
    { name: `${name}.tfvars`, text: expressions(variables.filter(({ hcl }) => hcl)) },
  ]
}

/** The last one of each name. */
function unique(variables: readonly RunVariable[]): RunVariable[] {
  return [...new Map(variables.map((variable) => [variable.key, variable])).values()]
}

function literals(variables: readonly RunVariable[]): string {
  return JSON.stringify(Object.fromEntries(variables.map(({ key, value }) => [key, value])))
}

/** In parentheses, an expression cannot set another variable by accident. */
function expressions(variables: readonly { key: string; value: string }[]): string {
  return variables
    .filter(({ key }) => isIdentifier(key))
    .map(({ key, value }) => `${key} = (\n${value}\n)\n`)
    .join('')
}
