import { expect, test } from 'vitest'
import { onEachDialect } from '../../../test/harness.ts'
import { asSecondServer } from '../../../test/jobs.ts'
import { newVariable, newVarset, newVarsetVariable, newWorkspace } from '../../../test/resources.ts'
import * as workspaces from '../workspaces/service.ts'
import { variablesOfRun } from './service.ts'

const SECRET = 'not-to-be-found'

onEachDialect('variables of runs', (server) => {
  test('are opened, by category, and say which of them beat those of the run', async () => {
    const { owner, path } = await server.organization()
    const { id } = await newWorkspace(owner, path)
    const given = { workspaces: { data: [{ id, type: 'workspaces' }] } }
    const plain = await newVarset(owner, path, {}, given)
    const strong = await newVarset(owner, path, { priority: true }, given)
    await newVariable(owner, id, { key: 'own', value: '[1]', hcl: true })
    await newVariable(owner, id, { key: 'both', value: 'weaker' })
    await newVariable(owner, id, { key: 'TOKEN', value: SECRET, category: 'env', sensitive: true })
    await newVarsetVariable(owner, plain.id, { key: 'plain', value: '' })
    await newVarsetVariable(owner, plain.id, { key: 'TOKEN', value: 'weaker', category: 'env' })
    await newVarsetVariable(owner, strong.id, { key: 'both', value: SECRET, sensitive: true })
    await newVarsetVariable(owner, strong.id, { key: 'STRONG', value: 'x', category: 'env' })

    await asSecondServer(server, async (ctx) => {
      const plainly = { hcl: false, sensitive: false, priority: false }
      expect(await variablesOfRun(ctx, await workspaces.reread(ctx, id))).toEqual({
        terraform: [
          { ...plainly, key: 'both', value: SECRET, sensitive: true, priority: true },
          { ...plainly, key: 'own', value: '[1]', hcl: true },
          { ...plainly, key: 'plain', value: '' },
        ],
        environment: [
          { ...plainly, key: 'STRONG', value: 'x', priority: true },
          { ...plainly, key: 'TOKEN', value: SECRET, sensitive: true },
        ],
      })
    })
  })

  test('are sealed where they are stored, sensitive or not', async () => {
    const { owner, path } = await server.organization()
    const { id: workspaceId } = await newWorkspace(owner, path)
    const { id: varsetId } = await newVarset(owner, path)
    for (const sensitive of [true, false]) {
      const own = await newVariable(owner, workspaceId, { value: 'first', sensitive })
      await owner.patch(own.links.self, {
        data: { type: 'vars', attributes: { value: SECRET } },
      })
      await newVarsetVariable(owner, varsetId, { value: SECRET, sensitive })
    }
    await asSecondServer(server, async ({ db, vault }) => {
      const own = await db.selectFrom('vars').select('value').where('workspaceId', '=', workspaceId).execute()
      const sets = await db
        .selectFrom('varsetVars')
        .select('value')
        .where('varsetId', '=', varsetId)
        .execute()
      expect([...own, ...sets]).toHaveLength(4)
      for (const { value } of [...own, ...sets]) {
        expect(value).toMatch(/^sealed:/)
        expect(Buffer.from(value.slice(7), 'base64url').includes(SECRET)).toBe(false)
        expect(vault.open(value)).toBe(SECRET)
      }
    })
  })
})
