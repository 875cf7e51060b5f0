import { expect, test } from 'vitest'
import { expectStatus, onEachDialect, violations } from '../../../test/harness.ts'
import { document, newWorkspace } from '../../../test/resources.ts'
import { lock, postState, rawState, saveState, stateResource } from '../../../test/states.ts'

const BIG = '12345678901234567890'

onEachDialect('rolling back', (server) => {
  const toVersion = (id: string) =>
    document('state-versions', {}, { 'rollback-state-version': { data: { type: 'state-versions', id } } })

  test('makes an earlier state the current one again, by a new version with a higher serial', async () => {
    const { owner, path } = await server.organization()
    const { id } = await newWorkspace(owner, path)
    const at = `/api/v2/workspaces/${id}/state-versions`
    await lock(owner, id)
    const resources = [stateResource('kept'), stateResource('gone')]
    // A number that no JavaScript parser gives back as it was.
    const raw = rawState({ serial: 4, resources, outputs: { big: { value: 'B', type: 'number' } } }).replace(
      '"B"',
      BIG,
    )
    const first = expectStatus(
      await postState(owner, id, raw, { 'json-state': Buffer.from('{}').toString('base64') }),
      201,
    )
    const second = rawState({ serial: 9, lineage: 'another', resources: [stateResource('kept')] })
    expectStatus(await postState(owner, id, second, { force: true }), 201)

    const answer = await owner.patch(at, toVersion(first.body.data.id))
    expect(answer).toMatchObject({ status: 201 })
    const { data } = answer.body
    expect(data.attributes).toMatchObject({ serial: 10, status: 'finalized' })
    expect(data.relationships).toMatchObject({
      'rollback-state-version': { data: { id: first.body.data.id, type: 'state-versions' } },
      'created-by': { data: { id: owner.id } },
    })
    const restored = await (await fetch(data.attributes['hosted-state-download-url'])).text()
    expect(restored).toBe(raw.replace('"serial": 4', '"serial": 10'))
    expect(await (await fetch(data.attributes['hosted-json-state-download-url'])).text()).toBe('{}')
    const current = await owner.get(`/api/v2/workspaces/${id}/current-state-version`)
    expect(current.body.data.id).toBe(data.id)
    const kept = await owner.get(`/api/v2/workspaces/${id}/resources`)
    expect(kept.body.data).toHaveLength(2)
    // The engine goes on from there.
    const next = rawState({ serial: 11, lineage: JSON.parse(raw).lineage })
    expect(await postState(owner, id, next)).toMatchObject({ status: 201 })
  })

  test('needs the lock, and a finalized version of the same workspace', async () => {
    const { owner, path } = await server.organization()
    const [workspace, other] = [await newWorkspace(owner, path), await newWorkspace(owner, path)]
    const at = `/api/v2/workspaces/${workspace.id}/state-versions`
    const { id } = await saveState(owner, workspace.id)
    const foreign = await saveState(owner, other.id)
    expect(await owner.patch(at, toVersion(id))).toMatchObject({ status: 409 })
    await lock(owner, workspace.id)
    for (const wrong of [foreign.id, 'sv-g4rqST72reoHMM5a']) {
      expect(violations(await owner.patch(at, toVersion(wrong)))).toMatchObject([
        { pointer: '/data/relationships/rollback-state-version/data/id' },
      ])
    }
    expect(violations(await owner.patch(at, document('state-versions', {})))).toMatchObject([
      { pointer: '/data/relationships/rollback-state-version' },
    ])
    const stranger = await server.user()
    expect(await stranger.patch(at, toVersion(id))).toMatchObject({ status: 404 })
  })
})
