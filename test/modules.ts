import { type Client, expectStatus, type TestOrganization } from './harness.ts'
import { put } from './registry.ts'
import { document } from './resources.ts'
import { type Entries, makeSlug } from './slugs.ts'

/** A module that does something. */
export const MODULE = {
  'main.tf': `variable "name" {
  type = string
}
output "greeting" {
  value = "Hello, \${var.name}!"
}
`,
}

/** Makes a private module for `aws`; returns its API path. */
export async function createModule({ path, name: organization, owner }: TestOrganization, name = 'vpc') {
  const created = await owner.post(
    `${path}/registry-modules`,
    document('registry-modules', { name, provider: 'aws', 'registry-name': 'private' }),
  )
  expectStatus(created, 201)
  return `${path}/registry-modules/private/${organization}/${name}/aws`
}

/** Announces a version of the module at `path`; returns its resource. */
export async function createModuleVersion(owner: Client, path: string, version = '1.0.0') {
  const body = document('registry-module-versions', { version, 'commit-sha': 'a'.repeat(40) })
  return expectStatus(await owner.post(`${path}/versions`, body), 201).body.data
}

/** Publishes a version of the module at `path`; returns its archive. */
export async function publishModule(
  owner: Client,
  path: string,
  version = '1.0.0',
  entries: Entries = MODULE,
): Promise<Buffer> {
  const { links } = await createModuleVersion(owner, path, version)
  const archive = await makeSlug(entries)
  expectStatus(await put(links.upload, archive), 200)
  return archive
}

/** The body that deprecates a version, or takes that back. */
export function deprecation(status: string, more: object = {}) {
  return document('module-versions', { deprecation: { 'deprecated-status': status, ...more } })
}
