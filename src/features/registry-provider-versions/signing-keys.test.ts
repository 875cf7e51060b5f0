import { expect, test } from 'vitest'
import { expectStatus, onEachDialect, pointers } from '../../../test/harness.ts'
import {
  addKey,
  createProvider,
  createVersion,
  makeKey,
  publish,
  versionBody,
} from '../../../test/registry.ts'
import { document } from '../../../test/resources.ts'

const KEYS = '/api/registry/private/v2/gpg-keys'

onEachDialect('the keys of registry provider versions', (server) => {
  const provider = async () => {
    const organization = await server.organization()
    return { organization, owner: organization.owner, path: await createProvider(organization, 'demo') }
  }

  test('can be signed by a key that has expired, and say so', async () => {
    const { organization, owner, path } = await provider()
    const options = { date: new Date('2020-01-01'), keyExpirationTime: 60 }
    const key = await addKey(organization, await makeKey('eddsa', options))
    const attributes = { version: '1.0.0', 'key-id': key.keyId, protocols: ['5.0'] }
    const created = expectStatus(await owner.post(`${path}/versions`, versionBody(attributes)), 201)
    const expired = {
      'key-expires-at': '2020-01-01T00:01:00.000Z',
      warnings: [`signed by key ${key.keyId}, which expired on 2020-01-01`],
    }
    expect(created.body.data.attributes).toMatchObject(expired)
    expect((await owner.get(`${path}/versions/1.0.0`)).body.data.attributes).toMatchObject(expired)
  })

  test('say nothing of a key that will expire', async () => {
    const { organization, owner, path } = await provider()
    const key = await addKey(organization, await makeKey('eddsa', { keyExpirationTime: 3600 }))
    const { attributes } = await createVersion(owner, path, '1.0.0', key)
    expect(Date.parse(attributes['key-expires-at'])).toBeGreaterThan(Date.now())
    expect(attributes.warnings).toEqual([])
  })

  test('keep working after their key is deleted, which no new version can use', async () => {
    const organization = await server.organization()
    const { path, key } = await publish(organization, 'kept', '1.0.0')
    const { owner, name } = organization
    expectStatus(await owner.delete(`${KEYS}/${name}/${key.keyId}`), 201)
    const download = `/api/registry/v1/providers/${name}/kept/1.0.0/download/linux/amd64`
    expect((await owner.get(download)).body.signing_keys.gpg_public_keys).toMatchObject([
      { key_id: key.keyId, ascii_armor: key.armor },
    ])
    const attributes = { version: '1.0.1', 'key-id': key.keyId, protocols: ['5.0'] }
    expect(pointers(await owner.post(`${path}/versions`, versionBody(attributes)))).toEqual([
      '/data/attributes/key-id',
    ])
  })

  test('keep working after their key has moved to another namespace', async () => {
    const organization = await server.organization()
    const { path, key } = await publish(organization, 'kept', '1.0.0')
    const { owner, name } = organization
    const target = `target-${name}`
    const body = document('organizations', { name: target, email: 'owner@example.com' })
    expectStatus(await owner.post('/api/v2/organizations', body), 201)
    const move = document('gpg-keys', { namespace: target })
    expectStatus(await owner.patch(`${KEYS}/${name}/${key.keyId}`, move), 201)
    const download = `/api/registry/v1/providers/${name}/kept/1.0.0/download/linux/amd64`
    expect((await owner.get(download)).body.signing_keys.gpg_public_keys).toMatchObject([
      { key_id: key.keyId, ascii_armor: key.armor },
    ])
    const attributes = { version: '1.0.1', 'key-id': key.keyId, protocols: ['5.0'] }
    expect(pointers(await owner.post(`${path}/versions`, versionBody(attributes)))).toEqual([
      '/data/attributes/key-id',
    ])
  })
})
