import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { onEachDialect } from '../../../test/harness.ts'
import { runLater } from '../../../test/jobs.ts'
import {
  addKey,
  createPlatform,
  createProvider,
  createVersion,
  makeArchive,
  makeKey,
  publish,
  put,
  sha256,
} from '../../../test/registry.ts'
import { sweepBlobs } from '../../blobs/jobs.ts'
import { removeAbandonedDrafts } from './jobs.ts'

onEachDialect('background work of the registry', (server) => {
  test('removes drafts that nobody finished, and nothing that can be installed', async () => {
    const organization = await server.organization()
    const { owner } = organization
    await publish(organization, 'whole', '1.0.0')
    const path = await createProvider(organization, 'demo')
    const key = await addKey(organization, await makeKey())
    await createVersion(owner, path, '1.0.0', key)
    const archive = await makeArchive('demo', '1.0.0')
    const target = { os: 'linux', arch: 'amd64', filename: 'demo.zip', shasum: sha256(archive) }
    const { id, links } = await createPlatform(owner, path, '1.0.0', target)
    await put(links['provider-binary-upload'], archive)
    const status = async (address: string) => (await owner.get(address)).status
    const whole = `${organization.path}/registry-providers/private/${organization.name}/whole/versions/1.0.0`

    await runLater(server, removeAbandonedDrafts, 29)
    expect([await status(`${path}/versions/1.0.0`), await status(whole)]).toEqual([200, 200])
    await runLater(server, removeAbandonedDrafts, 31)
    expect([await status(`${path}/versions/1.0.0`), await status(whole)]).toEqual([404, 200])
    expect(existsSync(join(server.dataDir, 'blobs', 'providers', id, sha256(archive)))).toBe(false)
  })

  test('removes files that no row knows once they are old enough, and no others', async () => {
    const organization = await server.organization()
    const { path } = await publish(organization, 'demo', '1.0.0')
    const orphan = join(server.dataDir, 'blobs', 'providers', 'provpltfrm-gone', 'a'.repeat(64))
    mkdirSync(join(orphan, '..'))
    writeFileSync(orphan, 'left behind by a crash')
    await runLater(server, sweepBlobs, 0)
    expect(existsSync(orphan)).toBe(true)
    await runLater(server, sweepBlobs, 1)
    expect(existsSync(orphan)).toBe(false)
    const { links } = (await organization.owner.get(`${path}/versions/1.0.0`)).body.data
    expect((await fetch(links['shasums-download'])).status).toBe(200)
  })

  test('drops half-received uploads of processes that are gone, and not those of this one', async () => {
    const staging = join(server.dataDir, 'blobs', '.staging')
    const made = (name: string) => {
      mkdirSync(join(staging, name))
      writeFileSync(join(staging, name, 'half'), 'an upl')
      return join(staging, name)
    }
    const host = (await import('node:os')).hostname()
    const dead = made(`${host}~999999999~a`)
    const alive = made(`${host}~1~b`)
    const elsewhere = made('another-host~7~c')
    const silent = made('another-host~8~d')
    utimesSync(silent, new Date(0), new Date(0))
    await runLater(server, sweepBlobs, 0)
    expect([dead, alive, elsewhere, silent].map((path) => existsSync(path))).toEqual([
      false,
      true,
      true,
      false,
    ])
  })
})
