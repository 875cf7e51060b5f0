import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, test } from 'vitest'
import {
  type Answer,
  DIALECTS,
  type Dialect,
  expectStatus,
  type TestOrganization,
  TestServer,
  type TestUser,
  unique,
} from '../harness.ts'
import { hasPostgres, NEEDS_POSTGRES, PostgresCluster } from '../postgres-cluster.ts'
import {
  addKey,
  createPlatform,
  createProvider,
  createVersion,
  makeArchive,
  makeKey,
  type PublishedRelease,
  publish,
  put,
  sha256,
} from '../registry.ts'
import { document, newWorkspace } from '../resources.ts'
import { announceState, lock, rawState } from '../states.ts'
import { UpstreamRegistry } from '../upstream.ts'
import { NEEDS_MOUNT, SmallDisk } from './small-disk.ts'

const MEGABYTES = { sqlite: 16, postgres: 40 }

/** More than fits into what a database has left over in pages that it has already. */
const WRITES = 60

/** A registry whose providers are mirrored. */
const HOST = 'registry.example.test'
const registry = new UpstreamRegistry()
await registry.start()

const canMount = SmallDisk.isPossible()

describe.each(DIALECTS)('a full disk under files and %s', (dialect) => {
  const options = { meta: { needs: canMount ? NEEDS_POSTGRES : NEEDS_MOUNT } }
  const isPossible = canMount && (dialect === 'sqlite' || hasPostgres())

  test.skipIf(!isPossible)(
    'is answered with 507, leaves nothing half-written, and is forgotten once there is room',
    options,
    async () => {
      const { server, disk, close } = await openOnSmallDisk(dialect)
      try {
        await fillAndRecover(server, disk)
      } finally {
        await close()
      }
    },
  )
})

async function fillAndRecover(server: TestServer, disk: SmallDisk): Promise<void> {
  const organization = await server.organization()
  const { owner, path: organizationPath } = organization
  const whole = await publish(organization, 'whole', '1.0.0')
  const before = await prepareUploads(organization)
  const state = await prepareState(organization)
  const mirrored = await prepareMirror(organization)
  const staging = join(disk.path, 'data', 'blobs', '.staging')
  const staged = () => readdirSync(staging).flatMap((name) => readdirSync(join(staging, name)))

  disk.fill()
  expectFull(await put(before.link, before.archive))
  expectFull(await put(before.shasumsLink, before.shasums))
  expectFull(await put(state.link, state.raw))
  expect(await state.status()).toBe('pending')
  expectFull(await owner.get(mirrored))
  expect(staged()).toEqual([])
  const answers = await Promise.all(writes(owner, organizationPath))
  const refused = answers.filter(({ status }) => status !== 201)
  expect(refused.length).toBeGreaterThan(WRITES / 2)
  // Some share a commit with one that fails, and are told to try again.
  expect(refused.filter(({ status }) => status !== 503 && status !== 507)).toEqual([])
  expectFull(refused.find(({ status }) => status === 507))
  const made = answers.filter(({ status }) => status === 201).map(nameOf)
  // Deleting takes room as well.
  expectFull(await owner.delete(whole.path))

  await expectReadable(server, organization.owner, whole, organization.name)
  expect((await server.nobody.get('/healthz')).status).toBe(200)
  expect((await server.nobody.get('/readyz')).status).toBe(200)

  disk.makeRoom()
  expect((await put(before.link, before.archive)).status).toBe(200)
  expect((await put(before.shasumsLink, before.shasums)).status).toBe(200)
  expect((await put(state.link, state.raw)).status).toBe(200)
  expect(await state.status()).toBe('finalized')
  expect((await owner.get(mirrored)).status).toBe(200)
  const later = await Promise.all(writes(owner, organizationPath))
  expect(new Set(later.map(({ status }) => status))).toEqual(new Set([201]))
  const names = await listNames(owner, organizationPath)
  expect(names.toSorted()).toEqual([...made, ...later.map(nameOf), 'with-state'].toSorted())
  expect(server.logLines.some((line) => JSON.parse(line).level === 50)).toBe(true)
}

async function openOnSmallDisk(dialect: Dialect) {
  const disk = new SmallDisk(MEGABYTES[dialect])
  const cluster = dialect === 'postgres' ? await PostgresCluster.create() : undefined
  const database = cluster && { PLINTH_DATABASE_URL: await createDatabaseOn(disk, cluster) }
  const mirror = { PLINTH_MIRROR_UPSTREAMS: `${HOST}=${registry.url}` }
  const server = new TestServer(dialect, { PLINTH_DATA_DIR: join(disk.path, 'data'), ...mirror, ...database })
  await server.start()
  const close = async () => {
    await server.stop()
    await cluster?.remove()
    disk.remove()
  }
  return { server, disk, close }
}

/** Only the tables lie on the small disk: without room for its log PostgreSQL ends, which is an outage. */
async function createDatabaseOn(disk: SmallDisk, cluster: PostgresCluster): Promise<string> {
  const client = new pg.Client(cluster.url)
  await client.connect()
  await client.query(
    `create tablespace small location '${cluster.directoryFor(join(disk.path, 'postgres'))}'`,
  )
  await client.query('create database plinth tablespace small')
  await client.end()
  return Object.assign(new URL(cluster.url), { pathname: '/plinth' }).href
}

/** One that fails while it is being received, and one that fails when all of it has been. */
async function prepareUploads(organization: TestOrganization) {
  const path = await createProvider(organization, 'demo')
  const key = await addKey(organization, await makeKey())
  const version = await createVersion(organization.owner, path, '1.0.0', key)
  const archive = await makeArchive('demo', '1.0.0', randomBytes(2_000_000).toString('base64'))
  const target = { os: 'linux', arch: 'amd64', filename: 'demo.zip', shasum: sha256(archive) }
  const platform = await createPlatform(organization.owner, path, '1.0.0', target)
  return {
    archive,
    link: platform.links['provider-binary-upload'] as string,
    shasums: `${target.shasum}  ${target.filename}\n`,
    shasumsLink: version.links['shasums-upload'] as string,
  }
}

/** A state that was announced, by who has locked the workspace. */
async function prepareState({ owner, path }: TestOrganization) {
  const workspace = await newWorkspace(owner, path, { name: 'with-state' })
  expectStatus(await lock(owner, workspace.id), 200)
  const raw = rawState({ outputs: { large: { value: 'a'.repeat(100_000), type: 'string' } } })
  const { id, attributes } = expectStatus(await announceState(owner, workspace.id, raw), 201).body.data
  const status = async () => (await owner.get(`/api/v2/state-versions/${id}`)).body.data.attributes.status
  return { raw, status, link: attributes['hosted-state-upload-url'] as string }
}

/** Where an archive is that was verified, and has still to be fetched. */
async function prepareMirror({ owner, path, name }: TestOrganization): Promise<string> {
  await registry.release('demo', '1.0.0', await makeKey(), { platforms: ['linux_amd64'] })
  const settings = document('provider-mirrors', { 'allowed-providers': [`${HOST}/acme/demo`] })
  expectStatus(await owner.patch(`${path}/provider-mirror`, settings), 200)
  const { archives } = expectStatus(await owner.get(`/mirror/${name}/${HOST}/acme/demo/1.0.0.json`), 200).body
  return archives.linux_amd64.url
}

/** Text that does not compress, so that it needs room. */
function writes(owner: TestUser, organizationPath: string): Promise<Answer>[] {
  return Array.from({ length: WRITES }, () => {
    const attributes = { name: `ws-${unique()}`, description: randomBytes(700).toString('hex') }
    return owner.post(`${organizationPath}/workspaces`, document('workspaces', attributes))
  })
}

const nameOf = ({ body }: Answer): string => body.data.attributes.name

async function listNames(owner: TestUser, organizationPath: string): Promise<string[]> {
  const pages = [1, 2].map((number) =>
    owner.get(`${organizationPath}/workspaces?page[size]=100&page[number]=${number}`),
  )
  const answers = await Promise.all(pages)
  return answers.flatMap(({ body }) =>
    body.data.map((one: { attributes: { name: string } }) => one.attributes.name),
  )
}

function expectFull(answer: Answer | undefined): void {
  expect(answer).toMatchObject({
    status: 507,
    body: {
      errors: [
        {
          status: '507',
          title: 'insufficient storage',
          detail: 'The server has no space left to store this. Nothing was changed; reading goes on.',
        },
      ],
    },
  })
}

async function expectReadable(
  server: TestServer,
  owner: TestUser,
  whole: PublishedRelease,
  namespace: string,
): Promise<void> {
  expect((await owner.get('/api/v2/account/details')).status).toBe(200)
  const offer = await owner.get(
    `${server.url}/api/registry/v1/providers/${namespace}/whole/1.0.0/download/linux/amd64`,
  )
  expect(offer.status).toBe(200)
  const download = await fetch(offer.body.download_url)
  expect(Buffer.from(await download.arrayBuffer())).toEqual(whole.archives.get('linux_amd64'))
}
