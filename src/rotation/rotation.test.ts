import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eachRow } from '../../test/at-rest.ts'
import { TestDatabase } from '../../test/databases.ts'
import { DIALECTS, expectStatus, type TestOrganization, TestServer, unique } from '../../test/harness.ts'
import { addKey, makeKey } from '../../test/registry.ts'
import { document, newVariable, newVarset, newVarsetVariable, newWorkspace } from '../../test/resources.ts'
import { newRun, uploadConfiguration } from '../../test/runs.ts'
import { announceState, base64, lock, postState, put, rawState, saveState } from '../../test/states.ts'
import { backup } from '../backup/backup.ts'
import { restore } from '../backup/restore.ts'
import { FileBlobStore } from '../blobs/file.ts'
import { SealedBlobs } from '../blobs/sealed.ts'
import { readVaultKeys } from '../config/secrets.ts'
import { SEALED_COLUMNS } from '../db/sealed.ts'
import { verifyExport } from '../lib/registry-log.ts'
import { Vault, VaultError } from '../lib/vault.ts'
import { rotate } from './rotation.ts'

const [OLD, NEW] = ['old-'.padEnd(40, 'a'), 'new-'.padEnd(40, 'b')]
const BEFORE = { PLINTH_SECRET_KEY: OLD, PLINTH_RUN_WORKERS: '0' }
const BETWEEN = { PLINTH_SECRET_KEY: NEW, PLINTH_OLD_SECRET_KEYS: OLD }
const AFTER = { PLINTH_SECRET_KEY: NEW, PLINTH_OLD_SECRET_KEYS: '' }

const vaultOf = (settings: Record<string, string>) => new Vault(readVaultKeys(settings, '/nowhere'))

/** No row knows of it. */
const ERRORED = 'errored-states/apply-47MBvjwzBG8YKc2v'

const SECRET = { s: { value: 'correct horse', type: 'string', sensitive: true } }

async function openBlobs(server: TestServer) {
  return FileBlobStore.open(server.config.blobs.path)
}

async function run(server: TestServer, settings: Record<string, string>) {
  return rotate({
    database: server.config.database,
    blobs: await openBlobs(server),
    vault: vaultOf(settings),
  })
}

/** Makes something of everything that is sealed; returns how to see it again. */
async function fill(server: TestServer, organization: TestOrganization) {
  const { owner, path } = organization
  const workspace = await newWorkspace(owner, path)
  const pending = await newWorkspace(owner, path)
  const raw = rawState({ outputs: SECRET })
  await newVariable(owner, workspace.id)
  const varset = await newVarset(owner, path)
  await newVarsetVariable(owner, varset.id)
  expectStatus(
    await owner.post(`${path}/ssh-keys`, document('ssh-keys', { name: 'k', value: 'secret' })),
    201,
  )
  await addKey(organization, await makeKey())
  const configuration = await uploadConfiguration(owner, workspace.id)
  await newRun(owner, workspace.id, { variables: [{ key: 'a', value: '"b"' }] })
  await saveState(owner, pending.id)
  await lock(owner, pending.id)
  const next = rawState({ serial: 2 })
  const announced = await announceState(owner, pending.id, next, {
    'json-state-outputs': base64(JSON.stringify(SECRET)),
  })
  const { attributes } = expectStatus(announced, 201).body.data
  const third = await newWorkspace(owner, path)
  await lock(owner, third.id)
  const version = expectStatus(await postState(owner, third.id, raw), 201).body.data
  return {
    /** Uploads the state that was announced before the key changed. */
    async continue() {
      const url = new URL(attributes['hosted-state-upload-url'])
      return put(server.url + url.pathname, next)
    },
    async check() {
      const outputs = expectStatus(await owner.get(`/api/v2/state-versions/${version.id}/outputs`), 200).body
        .data
      const revealed = await owner.get(`/api/v2/state-version-outputs/${outputs[0].id}`)
      expect(revealed.body.data.attributes.value).toBe('correct horse')
      const shown = expectStatus(await owner.get(`/api/v2/state-versions/${version.id}`), 200).body.data
      expect(await (await fetch(shown.attributes['hosted-state-download-url'])).text()).toBe(raw)
      const archive = await owner.get(`/api/v2/configuration-versions/${configuration}/download`)
      expect((await fetch(archive.headers.get('location') as string)).status).toBe(200)
    },
  }
}

describe.each(DIALECTS)('the secret key on %s', (dialect) => {
  const server = new TestServer(dialect, BEFORE)
  const directory = mkdtempSync(join(tmpdir(), 'plinth-rotation-'))
  beforeAll(() => server.start())
  afterAll(async () => {
    await server.stop()
    rmSync(directory, { recursive: true })
  })

  /** Sealed texts that the vault opens, and does not. */
  const survey = async (vault: Vault) => {
    const columns = new Set<string>()
    const closed: string[] = []
    await eachRow(server, (table, row) => {
      for (const [column, value] of Object.entries(row)) {
        if (!String(value).startsWith('sealed:')) continue
        columns.add(`${table}.${column}`)
        try {
          vault.open(String(value))
        } catch (error) {
          expect(error).toBeInstanceOf(VaultError)
          closed.push(`${table}.${column}`)
        }
      }
    })
    return { columns, closed }
  }

  test('is replaced while the server runs, and the old one is needed no more', async () => {
    const organization = await server.organization()
    const filled = await fill(server, organization)
    const blobs = await openBlobs(server)
    const errored = Readable.from([Buffer.from('a state that could not be saved')], { objectMode: false })
    const staged = await new SealedBlobs(blobs, vaultOf(BEFORE)).stage(errored, 1000)
    await staged.store(ERRORED)
    await server.restart(BETWEEN)
    await filled.check()

    const known = new Set(SEALED_COLUMNS.map(({ table, column }) => `${table}.${column}`))
    expect((await survey(vaultOf(BETWEEN))).columns).toEqual(known)
    const [rotated] = await Promise.all([run(server, BETWEEN), filled.check(), saveSome(organization)])
    expect(rotated.texts).toBeGreaterThan(6)
    expect(rotated.files).toBeGreaterThanOrEqual(3)
    expect(await run(server, BETWEEN)).toEqual({ texts: 0, files: 0 })
    expect((await survey(vaultOf(AFTER))).closed).toEqual([])

    // Links hold as long as the key that signed them is known.
    expect((await filled.continue()).status).toBe(200)
    await server.restart(AFTER)
    await filled.check()
    // The key of the log signs on.
    await addKey(organization, await makeKey())
    const log = await organization.owner.get(`${organization.path}/registry-log/export`)
    const { verdict } = await verifyExport(log.text.split('\n'))
    expect(verdict).toMatchObject({ ok: true, head: { sequence: 2 } })
    expect((await filled.continue()).status).toBe(404)
  })

  test('is not left behind before everything is sealed with the new one', async () => {
    await fill(server, await server.organization())
    const other = { PLINTH_SECRET_KEY: 'x'.repeat(40), PLINTH_OLD_SECRET_KEYS: '' }
    await expect(run(server, other)).rejects.toThrow(/neither the secret key nor an old one/)
    expect((await survey(vaultOf(AFTER))).closed).toEqual([])
  })

  test('is not made where there is none', () => {
    expect(() => readVaultKeys({}, directory)).toThrow(/There is no secret key/)
    expect(existsSync(join(directory, 'secret-key'))).toBe(false)
  })

  test('opens what is backed up, so that damage is noticed, and is needed again where it is restored', async () => {
    const blobs = await openBlobs(server)
    const source = {
      database: server.config.database,
      blobs,
      secretKeyFile: undefined,
      vault: () => vaultOf(AFTER),
    }
    const file = join(directory, `${unique()}.tar`)
    const written = await backup(source, file, new Date())
    const target = new TestDatabase(dialect)
    await target.open()
    const home = mkdtempSync(join(directory, 'home-'))
    const restored = await FileBlobStore.open(join(home, 'blobs'))
    const into = { database: target.location, blobs: restored, secretKeyFile: undefined }
    expect(await restore(into, file)).toEqual(written)
    await target.close()
    const errored = await new SealedBlobs(restored, vaultOf(AFTER)).read(ERRORED)
    expect(await text(errored)).toBe('a state that could not be saved')
    const wrong = { ...source, vault: () => vaultOf(BEFORE) }
    await expect(backup(wrong, join(directory, 'wrong.tar'), new Date())).rejects.toThrow(
      /neither the secret key/,
    )
  })
})

async function saveSome({ owner, path }: TestOrganization) {
  for (let n = 0; n < 5; n++)
    await saveState(owner, (await newWorkspace(owner, path)).id, { outputs: SECRET })
}
