import { randomInt } from 'node:crypto'
import { type Client, expectStatus, unique } from './harness.ts'

/** A request body with one resource object. */
export function document(type: string, attributes: object, relationships?: object) {
  return { data: { type, attributes, ...(relationships && { relationships }) } }
}

/** Bindings as a request body or a relationship; a key without a value has none. */
export function bindings(values: Record<string, string | undefined>) {
  return {
    data: Object.entries(values).map(([key, value]) => ({
      type: 'tag-bindings',
      attributes: { key, value },
    })),
  }
}

/** Flat tags as a request body or a relationship. */
export function tags(...names: string[]) {
  return { data: names.map((name) => ({ type: 'tags', attributes: { name } })) }
}

/** A relationship to one project. */
export function inProject(id: string) {
  return { project: { data: { type: 'projects', id } } }
}

/** The resource object of a new project. */
export async function newProject(client: Client, organizationPath: string, relationships?: object) {
  const body = document('projects', { name: `project ${unique()}` }, relationships)
  return expectStatus(await client.post(`${organizationPath}/projects`, body), 201).body.data
}

/** The resource object of a new workspace. */
export async function newWorkspace(
  client: Client,
  organizationPath: string,
  attributes: object = {},
  relationships?: object,
) {
  const body = document('workspaces', { name: `ws-${unique()}`, ...attributes }, relationships)
  return expectStatus(await client.post(`${organizationPath}/workspaces`, body), 201).body.data
}

/** The body of a request that adds a version of the engine which no other test has. */
export function newVersionOfEngine() {
  return document('terraform-versions', { version: `9.${randomInt(1e9)}.${randomInt(1e9)}` })
}

/** The resource object of a new variable of a workspace, which is of the configuration unless `attributes` differ. */
export async function newVariable(client: Client, workspaceId: string, attributes: object = {}) {
  const body = document('vars', {
    key: `key_${unique()}`,
    value: 'value',
    category: 'terraform',
    ...attributes,
  })
  return expectStatus(await client.post(`/api/v2/workspaces/${workspaceId}/vars`, body), 201).body.data
}

/** The resource object of a new variable set. */
export async function newVarset(
  client: Client,
  organizationPath: string,
  attributes: object = {},
  relationships?: object,
) {
  const body = document(
    'varsets',
    { name: `varset ${unique()}`, global: false, ...attributes },
    relationships,
  )
  return expectStatus(await client.post(`${organizationPath}/varsets`, body), 200).body.data
}

/** The resource object of a new variable of a set. */
export async function newVarsetVariable(client: Client, varsetId: string, attributes: object = {}) {
  const body = document('vars', {
    key: `key_${unique()}`,
    value: 'value',
    category: 'terraform',
    ...attributes,
  })
  const created = await client.post(`/api/v2/varsets/${varsetId}/relationships/vars`, body)
  return expectStatus(created, 200).body.data
}

/** Every permission that a workspace shows, with one value. */
export function workspacePermissions(value: boolean): Record<string, boolean> {
  const shown = [
    'can-create-state-versions',
    'can-destroy',
    'can-force-delete',
    'can-force-unlock',
    'can-lock',
    'can-manage-assessments',
    'can-manage-ephemeral-workspaces',
    'can-manage-hyok',
    'can-manage-run-tasks',
    'can-manage-tags',
    'can-queue-apply',
    'can-queue-destroy',
    'can-queue-run',
    'can-read-assessment-results',
    'can-read-run',
    'can-read-settings',
    'can-read-state-outputs',
    'can-read-state-versions',
    'can-read-variable',
    'can-unlock',
    'can-update',
    'can-update-variable',
  ]
  return Object.fromEntries(shown.map((name) => [name, value]))
}
