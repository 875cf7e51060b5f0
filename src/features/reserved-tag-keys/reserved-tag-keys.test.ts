import { expect, test } from 'vitest'
import { type Client, expectStatus, onEachDialect, pointers, violations } from '../../../test/harness.ts'

const body = (attributes: object) => ({ data: { type: 'reserved-tag-keys', attributes } })

onEachDialect('reserved tag keys', (server) => {
  const reserve = async (owner: Client, path: string, key: string, disableOverrides = false) => {
    const answer = await owner.post(
      `${path}/reserved-tag-keys`,
      body({ key, 'disable-overrides': disableOverrides }),
    )
    return expectStatus(answer, 201).body.data
  }

  test('are created, listed, updated and deleted', async () => {
    const { owner, path } = await server.organization()
    const created = await reserve(owner, path, 'cost center', true)
    expect(created).toEqual({
      id: expect.stringMatching(/^rtk-[1-9A-HJ-NP-Za-km-z]{16}$/),
      type: 'reserved-tag-keys',
      attributes: {
        key: 'cost center',
        'disable-overrides': true,
        'created-at': expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        'updated-at': created.attributes['created-at'],
      },
    })
    expect((await owner.get(`${path}/reserved-tag-keys`)).body.data).toEqual([created])

    const changed = await owner.patch(
      `/api/v2/reserved-tags/${created.id}`,
      body({ key: 'team', 'disable-overrides': false, 'created-at': '2000-01-01T00:00:00.000Z' }),
    )
    expect(changed.status).toBe(200)
    expect(changed.body.data.attributes).toMatchObject({
      key: 'team',
      'disable-overrides': false,
      'created-at': created.attributes['created-at'],
    })
    expect(changed.body.data.attributes['updated-at'] > created.attributes['updated-at']).toBe(true)

    const deleted = await owner.delete(`/api/v2/reserved-tags/${created.id}`)
    expect(deleted).toMatchObject({ status: 204, text: '' })
    expect((await owner.delete(`/api/v2/reserved-tags/${created.id}`)).status).toBe(404)
    expect((await owner.get(`${path}/reserved-tag-keys`)).body.data).toEqual([])
  })

  test('answer to the path of the Go client too', async () => {
    const { owner, path } = await server.organization()
    const { id } = await reserve(owner, path, 'env')
    const changed = await owner.patch(
      `/api/v2/reserved-tag-keys/${id}`,
      body({ key: 'stage', 'disable-overrides': true }),
    )
    expect(changed.body.data.attributes.key).toBe('stage')
    expect((await owner.delete(`/api/v2/reserved-tag-keys/${id}`)).status).toBe(204)
  })

  test('come in pages', async () => {
    const { owner, path } = await server.organization()
    for (const key of ['a', 'b', 'c']) await reserve(owner, path, key)
    const list = `${path}/reserved-tag-keys`
    const second = await owner.get(`${list}?page%5Bnumber%5D=2&page[size]=2`)
    expect(second.body.data.map((item: { attributes: { key: string } }) => item.attributes.key)).toEqual([
      'c',
    ])
    expect(second.body.meta.pagination).toEqual({
      'current-page': 2,
      'page-size': 2,
      'prev-page': 1,
      'next-page': null,
      'total-pages': 2,
      'total-count': 3,
    })
    const at = (number: number) => `${server.url}${list}?page%5Bnumber%5D=${number}&page%5Bsize%5D=2`
    expect(second.body.links).toEqual({ self: at(2), first: at(1), prev: at(1), next: null, last: at(2) })

    const beyond = await owner.get(`${list}?page[number]=9&page[size]=2`)
    expect(beyond).toMatchObject({ status: 200, body: { data: [] } })
    expect(beyond.body.meta.pagination).toMatchObject({
      'current-page': 9,
      'next-page': null,
      'total-count': 3,
    })
    expect((await owner.get(`${list}?page[size]=1000`)).body.meta.pagination['page-size']).toBe(100)
    for (const bad of ['page[number]=0', 'page[number]=x', 'page[size]=-1']) {
      const answer = await owner.get(`${list}?${bad}`)
      expect(answer.status).toBe(400)
      expect(answer.body.errors[0].source.parameter).toBe(bad.split('=')[0])
    }
  })

  test('are refused with every violation and its pointer', async () => {
    const { owner, path } = await server.organization()
    const { id } = await reserve(owner, path, 'taken')
    const empty = await owner.post(`${path}/reserved-tag-keys`, { data: {} })
    expect(empty.status).toBe(422)
    expect(violations(empty)).toEqual([
      { pointer: '/data/attributes/disable-overrides', detail: "Disable overrides can't be blank" },
      { pointer: '/data/attributes/key', detail: "Key can't be blank" },
      { pointer: '/data/type', detail: "Type can't be blank" },
    ])
    for (const error of empty.body.errors) {
      expect(error).toMatchObject({ status: '422', title: 'invalid attribute' })
    }
    for (const [attributes, missing] of [
      [{ key: 'kept' }, 'disable-overrides'],
      [{ 'disable-overrides': true }, 'key'],
    ] as const) {
      const partial = await owner.patch(`/api/v2/reserved-tags/${id}`, body(attributes))
      expect(pointers(partial)).toEqual([`/data/attributes/${missing}`])
    }
    const wrong = await owner.patch(`/api/v2/reserved-tags/${id}`, {
      data: { type: 'tags', attributes: { key: '! / nope', 'disable-overrides': 'yes' } },
    })
    expect(violations(wrong)).toEqual([
      { pointer: '/data/attributes/disable-overrides', detail: 'Disable overrides must be a boolean' },
      { pointer: '/data/attributes/key', detail: expect.stringContaining('Key is invalid') },
      { pointer: '/data/type', detail: 'Type must be reserved-tag-keys' },
    ])
    for (const key of ['', ' ', 'x'.repeat(129), 'hc:internal', 'hcp:internal', 7, null]) {
      const answer = await owner.post(`${path}/reserved-tag-keys`, body({ key, 'disable-overrides': true }))
      expect([key, answer.status, pointers(answer)]).toEqual([key, 422, ['/data/attributes/key']])
    }
    // Case makes another key.
    await reserve(owner, path, 'Taken')
    const other = await reserve(owner, path, 'other')
    const attributes = { key: 'taken', 'disable-overrides': true }
    for (const answer of [
      await owner.post(`${path}/reserved-tag-keys`, body(attributes)),
      await owner.patch(`/api/v2/reserved-tags/${other.id}`, body(attributes)),
    ]) {
      expect(answer.status).toBe(422)
      expect(violations(answer)).toEqual([
        { pointer: '/data/attributes/key', detail: 'Key has already been taken' },
      ])
    }
  })

  test('are checked in order: token, resource, media type, body', async () => {
    const { owner, path } = await server.organization()
    const stranger = await server.user()
    const list = `${path}/reserved-tag-keys`
    expect((await server.nobody.post('/api/v2/organizations/none/reserved-tag-keys', {})).status).toBe(401)
    expect((await stranger.post(list, {})).status).toBe(404)
    expect((await stranger.send('POST', list, 'x', { 'content-type': 'text/plain' })).status).toBe(404)
    expect((await owner.post('/api/v2/organizations/none/reserved-tag-keys', {})).status).toBe(404)
    expect((await owner.get('/api/v2/organizations/none/reserved-tag-keys?page[size]=x')).status).toBe(404)
    expect((await owner.send('POST', list, '{}', { 'content-type': 'application/json' })).status).toBe(415)
    expect((await owner.send('POST', list, '{')).status).toBe(400)
    expect((await owner.post(list, {})).status).toBe(422)
    expect((await owner.patch('/api/v2/reserved-tags/rtk-none', {})).status).toBe(404)
  })

  test('do not exist for strangers', async () => {
    const { owner, path } = await server.organization()
    const { id } = await reserve(owner, path, 'secret')
    const stranger = await server.user()
    for (const answer of [
      await stranger.get(`${path}/reserved-tag-keys`),
      await stranger.post(`${path}/reserved-tag-keys`, body({ key: 'x', 'disable-overrides': true })),
      await stranger.patch(`/api/v2/reserved-tags/${id}`, body({ key: 'x', 'disable-overrides': true })),
      await stranger.delete(`/api/v2/reserved-tags/${id}`),
    ]) {
      expect(answer.status).toBe(404)
    }
  })

  test('race: of two creates of one key exactly one wins', async () => {
    const { owner, path } = await server.organization()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () =>
        owner.post(`${path}/reserved-tag-keys`, body({ key: 'race', 'disable-overrides': false })),
      ),
    )
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, ...Array(7).fill(422)])
  })
})
