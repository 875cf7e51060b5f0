import { expect, test } from 'vitest'
import { expectStatus, onEachDialect, type TestServer } from '../../../test/harness.ts'
import { document, newWorkspace } from '../../../test/resources.ts'
import {
  announcement,
  announceState,
  lock,
  md5,
  postState,
  put,
  rawState,
  saveState,
  unlock,
} from '../../../test/states.ts'

const OUTPUTS = {
  address: { value: '10.0.0.1', type: 'string' },
  password: { value: 'hunter2', type: 'string', sensitive: true },
  zones: { value: ['a', 'b'], type: ['list', 'string'] },
}

async function prepare(server: TestServer) {
  const organization = await server.organization()
  const { owner } = organization
  const workspace = await newWorkspace(owner, organization.path)
  return { ...organization, workspace, at: `/api/v2/workspaces/${workspace.id}` }
}

onEachDialect('states of a workspace', (server) => {
  test('that are pending keep the workspace locked, except from force', async () => {
    const { owner, workspace } = await prepare(server)
    await lock(owner, workspace.id)
    const created = expectStatus(await announceState(owner, workspace.id, rawState()), 201).body.data
    const refused = await unlock(owner, workspace.id)
    expect(refused).toMatchObject({ status: 422 })
    expect(refused.body.errors[0].detail).toContain('latest state version is still pending')
    const path = `/api/v2/workspaces/${workspace.id}/actions/force-unlock`
    expect((await owner.post(path)).status).toBe(200)
    const shown = await owner.get(`/api/v2/state-versions/${created.id}`)
    expect(shown.body.data.attributes.status).toBe('discarded')
    const late = await put(created.attributes['hosted-state-upload-url'], rawState())
    expect(late.status).toBe(409)
    await lock(owner, workspace.id)
    expect((await unlock(owner, workspace.id)).status).toBe(200)
  })

  test('are taken from who has locked the workspace only', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const workspace = await newWorkspace(owner, path)
    const unlocked = await postState(owner, workspace.id, rawState())
    expect(unlocked).toMatchObject({ status: 409 })
    expect(unlocked.body.errors[0].detail).toContain('not locked')

    const other = await server.member(organization, ['manage-workspaces'])
    await lock(other, workspace.id)
    for (const send of [postState, announceState]) {
      const refused = await send(owner, workspace.id, rawState())
      expect(refused).toMatchObject({ status: 409 })
      expect(refused.body.errors[0].detail).toContain(`is locked by User ${other.username}`)
    }
    expect((await postState(other, workspace.id, rawState())).status).toBe(201)
  })

  test('come by a link that ends with the token that asked for it', async () => {
    const { owner, workspace } = await prepare(server)
    const tokens = await owner.post(
      `/api/v2/users/${owner.id}/authentication-tokens`,
      document('authentication-tokens', { description: 'for one state' }),
    )
    const { id, attributes: token } = expectStatus(tokens, 201).body.data
    const client = server.as(token.token)
    await lock(client, workspace.id)
    const { data } = expectStatus(await announceState(client, workspace.id, rawState()), 201).body
    expectStatus(await owner.delete(`/api/v2/authentication-tokens/${id}`), 204)
    expect((await put(data.attributes['hosted-state-upload-url'], rawState())).status).toBe(404)
    // Whoever made the version gets another link.
    const { attributes } = (await owner.get(`/api/v2/state-versions/${data.id}`)).body.data
    expect((await put(attributes['hosted-state-upload-url'], rawState())).status).toBe(200)
  })

  test('announced and overtaken are discarded', async () => {
    const { owner, workspace } = await prepare(server)
    await lock(owner, workspace.id)
    const { data } = expectStatus(await announceState(owner, workspace.id, rawState({ serial: 1 })), 201).body
    await postState(owner, workspace.id, rawState({ serial: 2 }))
    const shown = await owner.get(`/api/v2/state-versions/${data.id}`)
    expect(shown.body.data.attributes).toMatchObject({ status: 'discarded', 'hosted-state-upload-url': null })
    const late = await put(data.attributes['hosted-state-upload-url'], rawState({ serial: 1 }))
    expect([late.status, await late.text()]).toEqual([409, expect.stringContaining('discarded')])
    expect((await unlock(owner, workspace.id)).status).toBe(200)
  })

  test('announced by a holder who has lost the lock are refused when they come', async () => {
    const organization = await server.organization()
    const { owner, path } = organization
    const workspace = await newWorkspace(owner, path)
    const other = await server.member(organization, ['manage-workspaces'])
    await lock(other, workspace.id)
    const raw = rawState({ serial: 5 })
    const { attributes } = expectStatus(await announceState(other, workspace.id, raw), 201).body.data
    await owner.post(`/api/v2/workspaces/${workspace.id}/actions/force-unlock`)
    await lock(owner, workspace.id)
    await postState(owner, workspace.id, rawState({ serial: 6 }))
    expect((await put(attributes['hosted-state-upload-url'], raw)).status).toBe(409)
    const current = await owner.get(`/api/v2/workspaces/${workspace.id}/current-state-version`)
    expect(current.body.data.attributes.serial).toBe(6)
  })

  test('have to follow the current one', async () => {
    const { owner, workspace } = await prepare(server)
    await lock(owner, workspace.id)
    const second = rawState({ serial: 2, lineage: 'a' })
    const { id } = expectStatus(await postState(owner, workspace.id, second), 201).body.data
    const detailOf = async (answer: ReturnType<typeof postState>) => {
      const { errors } = expectStatus(await answer, 409).body
      return errors[0].detail
    }
    for (const send of [postState, announceState]) {
      expect(await detailOf(send(owner, workspace.id, rawState({ serial: 1, lineage: 'a' })))).toMatch(
        /serial.* 1.*2/,
      )
      expect(await detailOf(send(owner, workspace.id, rawState({ serial: 3, lineage: 'b' })))).toMatch(
        /lineage.*b.*a/,
      )
      const other = rawState({ serial: 2, lineage: 'a', outputs: OUTPUTS })
      expect(await detailOf(send(owner, workspace.id, other))).toContain(md5(second))
      // The same again is the same.
      expect((await send(owner, workspace.id, second)).body.data.id).toBe(id)
    }
    const forced = await postState(owner, workspace.id, rawState({ serial: 1, lineage: 'b' }), {
      force: true,
    })
    expect(forced).toMatchObject({ status: 201, body: { data: { attributes: { serial: 1 } } } })
  })

  test('may go back for the CLI, which compares serials itself, but not under one lock', async () => {
    const { owner, workspace } = await prepare(server)
    await saveState(owner, workspace.id, { serial: 5 })
    await lock(owner, workspace.id)
    const push = (serial: number) => {
      const body = document('state-versions', announcement(rawState({ serial, outputs: OUTPUTS })))
      const headers = { 'terraform-version': '1.11.4' }
      return owner.send('POST', `/api/v2/workspaces/${workspace.id}/state-versions`, body, headers)
    }
    expect((await postState(owner, workspace.id, rawState({ serial: 4 }))).status).toBe(409)
    const { attributes } = expectStatus(await push(4), 201).body.data
    const raw = rawState({ serial: 4, outputs: OUTPUTS })
    expect((await put(attributes['hosted-state-upload-url'], raw)).status).toBe(200)
    // A second client with the same lock and an older state is not one that was forced.
    expect((await push(3)).status).toBe(409)
    const current = await owner.get(`/api/v2/workspaces/${workspace.id}/current-state-version`)
    expect(current.body.data.attributes.serial).toBe(4)
  })

  test('uploaded wrongly leave the version pending, so that the right bytes may follow', async () => {
    const { owner, workspace } = await prepare(server)
    await lock(owner, workspace.id)
    const raw = rawState()
    const { attributes, id } = expectStatus(await announceState(owner, workspace.id, raw), 201).body.data
    expect((await put(attributes['hosted-state-upload-url'], raw.slice(0, -9))).status).toBe(412)
    const shown = await owner.get(`/api/v2/state-versions/${id}`)
    expect(shown.body.data.attributes.status).toBe('pending')
    expect((await put(attributes['hosted-state-upload-url'], raw)).status).toBe(200)
  })

  test('are saved once when many try at the same moment', async () => {
    const { owner, workspace } = await prepare(server)
    await lock(owner, workspace.id)
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        postState(owner, workspace.id, rawState({ serial: 1, outputs: { n: { value: n, type: 'number' } } })),
      ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409, 409, 409])
  })
})
