import * as openpgp from 'openpgp'
import { expect, test } from 'vitest'
import { type Client, expectStatus, onEachDialect, pointers, violations } from '../../../test/harness.ts'
import { CERTIFYING_KEY, DSA_KEY, EXPIRED_SUBKEY, SHORT_RSA_KEY } from '../../../test/odd-keys.ts'
import { makeKey } from '../../../test/registry.ts'

const KEYS = '/api/registry/private/v2/gpg-keys'

const body = (namespace: unknown, armor: unknown) => ({
  data: { type: 'gpg-keys', attributes: { namespace, 'ascii-armor': armor } },
})

onEachDialect('signing keys', (server) => {
  const add = async (owner: Client, namespace: string, armor: string) =>
    expectStatus(await owner.post(KEYS, body(namespace, armor)), 201).body.data

  test('are added, shown, listed and deleted', async () => {
    const { owner, name } = await server.organization()
    const key = await makeKey()
    const armor = `\n${key.armor}\n`
    const created = await owner.post(KEYS, body(name, armor))
    expect(created.status).toBe(201)
    expect(created.body.data).toEqual({
      id: expect.stringMatching(/^[1-9]\d*$/),
      type: 'gpg-keys',
      attributes: {
        'ascii-armor': armor,
        'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        'updated-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        'key-id': key.keyId,
        namespace: name,
        source: '',
        'source-url': null,
        'trust-signature': '',
        'expires-at': null,
      },
      links: { self: `/v2/gpg-keys/${created.body.data.id}` },
    })
    const member = `${KEYS}/${name}/${key.keyId}`
    for (const path of [
      member,
      `${KEYS}/${name}/${key.keyId.toLowerCase()}`,
      `${KEYS}/${name}/${key.pair.publicKey.getFingerprint()}`,
      `${KEYS}/${created.body.data.id}`,
    ]) {
      expect((await owner.get(path)).body).toEqual(created.body)
    }
    const deleted = await owner.delete(member)
    expect(deleted).toMatchObject({ status: 201, body: created.body })
    expect((await owner.get(member)).status).toBe(404)
    expect((await owner.delete(member)).status).toBe(404)
  })

  test.each(['rsa', 'ecdsa', 'eddsa'] as const)('can be %s keys', async (kind) => {
    const { owner, name } = await server.organization()
    const { armor, keyId } = await makeKey(kind)
    expect((await add(owner, name, armor)).attributes['key-id']).toBe(keyId)
  })

  test('may have expired, and show when they do', async () => {
    const { owner, name } = await server.organization()
    const expiryOf = async (armor: string) => (await add(owner, name, armor)).attributes['expires-at']
    const expired = await makeKey('eddsa', { date: new Date('2020-01-01'), keyExpirationTime: 60 })
    expect(await expiryOf(expired.armor)).toBe('2020-01-01T00:01:00Z')
    const later = await makeKey('rsa', {
      date: new Date('2020-01-01'),
      keyExpirationTime: 40 * 365 * 24 * 3600,
    })
    expect(await expiryOf(later.armor)).toBe('2059-12-22T00:00:00Z')
    const { body: shown } = await owner.get(`${KEYS}/${name}/${expired.keyId}`)
    expect(shown.data.attributes['expires-at']).toBe('2020-01-01T00:01:00Z')
    // Its primary key does not sign and never expires; the one that signs did.
    expect(await expiryOf(EXPIRED_SUBKEY)).toBe('2020-01-31T00:00:00Z')
  })

  test('come in pages, with relative links', async () => {
    const { owner, name } = await server.organization()
    const keys = [await makeKey(), await makeKey(), await makeKey()]
    for (const key of keys) await add(owner, name, key.armor)
    const list = `${KEYS}?filter%5Bnamespace%5D=${name}`
    const all = await owner.get(list)
    expect(all.body.data.map((item: { attributes: object }) => item.attributes)).toMatchObject(
      keys.map((key) => ({ 'key-id': key.keyId })),
    )
    expect(all.body.meta.pagination['page-size']).toBe(20)
    const second = await owner.get(`${list}&page[number]=2&page[size]=2`)
    expect(second.body.data).toHaveLength(1)
    expect(second.body.meta.pagination).toEqual({
      'current-page': 2,
      'page-size': 2,
      'prev-page': 1,
      'next-page': null,
      'total-pages': 2,
      'total-count': 3,
    })
    const at = (number: number) =>
      `/v2/gpg-keys?filter%5Bnamespace%5D=${name}&page%5Bnumber%5D=${number}&page%5Bsize%5D=2`
    expect(second.body.links).toEqual({ self: at(2), first: at(1), prev: at(1), next: null, last: at(2) })
    const beyond = await owner.get(`${list}&page[number]=999`)
    expect(beyond.body).toMatchObject({
      data: [],
      meta: { pagination: { 'current-page': 999, 'total-count': 3 } },
    })
  })

  test('are listed for several namespaces, of which the authorized ones count', async () => {
    const first = await server.organization()
    const foreign = await server.organization()
    const { owner } = first
    const second = `second-${first.name}`
    await owner.post('/api/v2/organizations', {
      data: { type: 'organizations', attributes: { name: second, email: 'a@b.example' } },
    })
    const { armor } = await makeKey()
    await add(owner, first.name, armor)
    await add(owner, second, armor)
    await add(foreign.owner, foreign.name, armor)
    const namespaces = (query: string) =>
      owner
        .get(`${KEYS}?${query}`)
        .then(({ body }) =>
          body.data.map((key: { attributes: { namespace: string } }) => key.attributes.namespace),
        )
    expect(await namespaces(`filter[namespace]=${first.name},${second}`)).toEqual([first.name, second])
    expect(await namespaces(`filter[namespace]=${first.name}&filter[namespace]=${second}`)).toHaveLength(2)
    expect(await namespaces(`filter[namespace]=${first.name},${foreign.name},none`)).toEqual([first.name])
    expect((await owner.get(`${KEYS}?filter[namespace]=${foreign.name}`)).status).toBe(403)
    for (const query of ['', '?filter[namespace]=', '?filter[namespace]=,%20']) {
      const answer = await owner.get(KEYS + query)
      expect(answer.status).toBe(400)
      expect(answer.body.errors[0]).toMatchObject({
        status: '400',
        source: { parameter: 'filter[namespace]' },
      })
    }
  })

  test('move to another namespace of the caller', async () => {
    const { owner, name } = await server.organization()
    const foreign = await server.organization()
    const target = `target-${name}`
    await owner.post('/api/v2/organizations', {
      data: { type: 'organizations', attributes: { name: target, email: 'a@b.example' } },
    })
    const { armor, keyId } = await makeKey()
    await add(owner, name, armor)
    const move = (from: string, namespace: unknown) =>
      owner.patch(`${KEYS}/${from}/${keyId}`, { data: { type: 'gpg-keys', attributes: { namespace } } })
    const moved = await move(name, target)
    expect(moved).toMatchObject({ status: 201, body: { data: { attributes: { namespace: target } } } })
    expect((await owner.get(`${KEYS}/${name}/${keyId}`)).status).toBe(404)
    for (const namespace of [foreign.name, 'none']) {
      const refused = await move(target, namespace)
      expect(refused.status).toBe(422)
      expect(violations(refused)).toEqual([
        { pointer: '/data/attributes/namespace', detail: 'namespace not authorized' },
      ])
    }
    await add(owner, name, armor)
    expect(violations(await move(target, name))).toEqual([
      { pointer: '/data/attributes/namespace', detail: 'GPG key already exists for namespace' },
    ])
    expect(pointers(await move(target, 7))).toEqual(['/data/attributes/namespace'])
  })

  test('are refused when they are no usable public key, and a private key is neither kept nor logged', async () => {
    const { owner, name } = await server.organization()
    const key = await makeKey()
    const other = await makeKey()
    const both = openpgp.armor(
      openpgp.enums.armor.publicKey,
      Buffer.concat([key.pair.publicKey.write(), other.pair.publicKey.write()]),
    )
    const { publicKey: revoked } = await openpgp.revokeKey({ key: key.pair.privateKey, format: 'object' })
    const { publicKey: version6 } = await openpgp.generateKey({
      userIDs: [{ name: 'Provider Author' }],
      format: 'object',
      config: { v6Keys: true },
    })
    const cases: [string, RegExp][] = [
      [key.privateArmor, /private key/],
      [both, /2 primary keys/],
      [key.armor + other.armor, /exactly one/],
      [revoked.armor(), /revoked/],
      [DSA_KEY, /dsa keys are considered too weak/],
      [SHORT_RSA_KEY, /RSA keys shorter than 2047 bits/],
      [CERTIFYING_KEY, /cannot be used to verify signatures/],
      [version6.armor(), /only OpenPGP version 4/],
      ['garbage', /exactly one/],
      [key.armor.replace(/\n[A-Za-z0-9+/]{20}/, '\n!!!!!!!!!!!!!!!!!!!!'), /not an ASCII-armored public key/],
      [await key.signArmored(Buffer.from('x')), /not an ASCII-armored public key/],
    ]
    for (const [armor, reason] of cases) {
      const answer = await owner.post(KEYS, body(name, armor))
      expect(answer.status).toBe(422)
      expect(violations(answer)).toEqual([
        { pointer: '/data/attributes/ascii-armor', detail: expect.stringMatching(reason) },
      ])
    }
    const secret = key.privateArmor.split('\n').find((line) => line.length > 60) as string
    expect(server.logLines.join('')).not.toContain(secret)
    expect((await owner.get(`${KEYS}?filter[namespace]=${name}`)).body.data).toEqual([])
  })

  test('are refused with every violation and its pointer', async () => {
    const { owner, name } = await server.organization()
    const { armor, keyId } = await makeKey()
    expect(pointers(await owner.post(KEYS, {}))).toEqual([
      '/data/attributes/ascii-armor',
      '/data/attributes/namespace',
      '/data/type',
    ])
    const wrong = { data: { type: 'keys', attributes: { namespace: 1, 'ascii-armor': ['x'] } } }
    expect(pointers(await owner.post(KEYS, wrong))).toHaveLength(3)
    await add(owner, name, armor)
    const duplicate = await owner.post(KEYS, body(name, armor))
    expect(duplicate.status).toBe(422)
    expect(violations(duplicate)).toEqual([
      { pointer: '/data/attributes/ascii-armor', detail: 'GPG key already exists for namespace' },
    ])
    const member = `${KEYS}/${name}/${keyId}`
    expect(pointers(await owner.patch(member, {}))).toEqual(['/data/attributes/namespace', '/data/type'])
    expect(pointers(await owner.delete(member, { data: { type: 'users' } }))).toEqual(['/data/type'])
    const removal = { data: { type: 'gpg-keys', attributes: { namespace: name } } }
    expect((await owner.delete(member, removal)).status).toBe(201)
  })

  test('exist in the private registry only', async () => {
    const { owner, name } = await server.organization()
    const { armor } = await makeKey()
    for (const [registry, status] of [
      ['public', 403],
      ['other', 404],
    ] as const) {
      const path = `/api/registry/${registry}/v2/gpg-keys`
      expect((await owner.get(`${path}?filter[namespace]=${name}`)).status).toBe(status)
      expect((await owner.post(path, body(name, armor))).status).toBe(status)
      expect((await owner.get(`${path}/${name}/0123456789ABCDEF`)).status).toBe(status)
      expect((await owner.patch(`${path}/${name}/0123456789ABCDEF`, {})).status).toBe(status)
      expect((await owner.delete(`${path}/${name}/0123456789ABCDEF`)).status).toBe(status)
    }
  })

  test('do not exist for strangers', async () => {
    const { owner, name } = await server.organization()
    const { armor, keyId } = await makeKey()
    const { id } = await add(owner, name, armor)
    const stranger = await server.user()
    const member = `${KEYS}/${name}/${keyId}`
    const move = { data: { type: 'gpg-keys', attributes: { namespace: name } } }
    for (const answer of [
      await stranger.get(member),
      await stranger.get(`${KEYS}/${id}`),
      await stranger.post(KEYS, body(name, armor)),
      await stranger.patch(member, move),
      await stranger.delete(member),
    ]) {
      expect(answer.status).toBe(404)
    }
    expect((await stranger.get(`${KEYS}?filter[namespace]=${name}`)).status).toBe(403)
    expect((await server.nobody.get(member)).status).toBe(401)
  })

  test('race: of simultaneous uploads of one key exactly one wins', async () => {
    const { owner, name } = await server.organization()
    const { armor } = await makeKey()
    const answers = await Promise.all(Array.from({ length: 5 }, () => owner.post(KEYS, body(name, armor))))
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 422, 422, 422, 422])
  })
})
