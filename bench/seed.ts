import { pino } from 'pino'
import { start } from '../src/app.ts'
import { readConfig } from '../src/config/config.ts'
import { readSecrets } from '../src/config/secrets.ts'
import { connect } from '../src/db/connect.ts'
import { newId } from '../src/lib/ids.ts'
import { Api } from './api.ts'

export const ORGANIZATION = 'bench'

const BATCH = 500

/** Makes organizations by the API, and fills one with `count` reserved keys behind its back: it is only a list. */
export async function seed(
  settings: Record<string, string>,
  count: number,
): Promise<{ workspaceId: string }> {
  const config = readConfig({ ...settings, PLINTH_LISTEN: '127.0.0.1:0' })
  const server = await start(config, readSecrets(settings, config.dataDir), pino({ level: 'silent' }))
  const api = new Api(server.url, settings['PLINTH_ADMIN_TOKEN'] as string)
  const ids: Record<string, string> = {}
  for (const suffix of ['small', 'large', 'writes']) {
    const attributes = { name: `${ORGANIZATION}-${suffix}`, email: 'bench@example.com' }
    ids[suffix] = (await api.post('/api/v2/organizations', 'organizations', attributes)).attributes[
      'external-id'
    ] as string
  }
  const workspace = await api.post(`/api/v2/organizations/${ORGANIZATION}-small/workspaces`, 'workspaces', {
    name: 'bench',
  })
  await server.stop()
  await fill(config.database, ids['small'] as string, 100)
  await fill(config.database, ids['large'] as string, count)
  return { workspaceId: workspace.id }
}

async function fill(
  location: Parameters<typeof connect>[0],
  organizationId: string,
  count: number,
): Promise<void> {
  const connection = await connect(location, () => {})
  await connection.writes.transaction().execute(async (tx) => {
    for (let from = 0; from < count; from += BATCH) {
      const rows = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => {
        const at = new Date(Date.UTC(2024, 0, 1) + from + index).toISOString()
        const key = `key ${from + index}`
        return {
          id: newId('rtk'),
          organizationId,
          key,
          disableOverrides: false,
          createdAt: at,
          updatedAt: at,
        }
      })
      await tx.insertInto('reservedTagKeys').values(rows).execute()
    }
  })
  await connection.close()
}
