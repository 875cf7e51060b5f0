import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { bundledCommand } from '../../../test/bundled.ts'
import { Client, createPostgresDatabase, DIALECTS, expectStatus } from '../../../test/harness.ts'
import { Program } from '../../../test/program.ts'
import { document, newWorkspace } from '../../../test/resources.ts'
import { newRun, untilRun, uploadConfiguration } from '../../../test/runs.ts'
import { scriptedEngine } from '../../../test/runs-engine.ts'

const TOKEN = 'a-token-for-two-servers'
const VERSION = '1.0.0'
const SERVERS = ['one', 'two']
/** Of each server: not enough for all that the organizations may do, so that both servers have to work. */
const WORKERS = 3
const WORKSPACES = ['acme/a', 'acme/b', 'acme/c', 'other/d', 'other/e']
const RUNS_EACH = 4
const CONCURRENCY = 2

/**
 * In the place of the engine, so that phases are short and their beginnings come close together. There is something to
 * do for each run, which adds one to the serial of the state.
 */
const engine = (trace: string) => `command=$1
note() { echo "$1 $SERVER $TFC_WORKSPACE_SLUG $TFC_RUN_ID/$command" >> ${trace}; }
state=$HOME/../state/workspaces/$TFC_WORKSPACE_NAME/terraform.tfstate
case $command in
  plan) note begin; sleep 0.2; touch "$HOME/../out/tfplan"; note end; exit 2 ;;
  apply)
    note begin
    serial=$(sed -n 's/.*"serial":\\([0-9]*\\).*/\\1/p' "$state" 2>/dev/null)
    sleep 0.2
    echo '{"version":4,"terraform_version":"${VERSION}","serial":'$((serial + 1))',"lineage":"it","outputs":{},"resources":[]}' > "$state"
    note end ;;
  show) echo '{"format_version":"1.2","applyable":true}' ;;
  providers) echo '{"format_version":"1.0"}' ;;
esac
`

/** A moment that the engine has written down. */
interface Seen {
  what: string
  /** Run and phase. */
  execution: string
  workspace: string
  server: string
}

/** In the order in which it was written. */
function readTrace(path: string): Seen[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [what = '', server = '', workspace = '', execution = ''] = line.split(' ')
    return { what, execution, workspace, server }
  })
}

/** Two servers, each a process of its own, that share what servers behind one address share. */
async function startServers(directory: string) {
  scriptedEngine(join(directory, 'engines'), VERSION, engine(join(directory, 'trace')))
  const database = await createPostgresDatabase()
  const command = await bundledCommand()
  const programs = SERVERS.map(
    (name) =>
      new Program(
        {
          PLINTH_DATA_DIR: join(directory, name),
          PLINTH_DATABASE_URL: database,
          PLINTH_BLOB_URL: `file:${directory}/blobs`,
          PLINTH_SECRET_KEY: 'a-key-that-both-of-the-servers-know',
          PLINTH_ADMIN_TOKEN: TOKEN,
          PLINTH_RATE_LIMIT: '0',
          PLINTH_ENGINES_DIR: join(directory, 'engines'),
          PLINTH_ORGANIZATION_CONCURRENCY: String(CONCURRENCY),
          PLINTH_RUN_WORKERS: String(WORKERS),
          PLINTH_RUN_ENVIRONMENT: 'SERVER',
          PLINTH_SANDBOX: 'none',
          SERVER: name,
        },
        command,
      ),
  )
  const urls = await Promise.all(programs.map((program) => program.ready()))
  const clients = urls.map((url) => new Client({ url }, TOKEN))
  return { clients, stop: () => Promise.all(programs.map((program) => program.kill())) }
}

describe.runIf(DIALECTS.includes('postgres'))('two servers on one database', () => {
  test('carry out each phase once, one run of a workspace at a time, within the limit of the organization', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'plinth-servers-'))
    const { clients, stop } = await startServers(directory)
    try {
      const [client] = clients as [Client]
      const workspaces = await makeWorkspaces(client)
      const runs = await Promise.all(
        Array.from({ length: WORKSPACES.length * RUNS_EACH }, (_, n) =>
          newRun(clients[n % clients.length] as Client, workspaces[n % WORKSPACES.length] as string),
        ),
      )
      for (const { id } of runs) {
        const { attributes } = await untilRun(client, id, ['applied', 'errored'], 60_000)
        expect(attributes.status).toBe('applied')
      }
      const phases = runs.flatMap(({ id }) => [`${id}/plan`, `${id}/apply`])
      expectInOrder(readTrace(join(directory, 'trace')), phases)
      for (const id of workspaces) {
        const current = await client.get(`/api/v2/workspaces/${id}/current-state-version`)
        expect(current.body.data.attributes.serial).toBe(RUNS_EACH)
      }
    } finally {
      await stop()
      rmSync(directory, { recursive: true, force: true })
    }
  }, 90_000)
})

/** Ids of the workspaces. */
async function makeWorkspaces(client: Client): Promise<string[]> {
  for (const name of ['acme', 'other']) {
    const organization = document('organizations', { name, email: 'a@example.com' })
    expectStatus(await client.post('/api/v2/organizations', organization), 201)
  }
  return Promise.all(
    WORKSPACES.map(async (path) => {
      const [organization, name] = path.split('/')
      const attributes = { name, 'terraform-version': VERSION, 'auto-apply': true }
      const { id } = await newWorkspace(client, `/api/v2/organizations/${organization}`, attributes)
      await uploadConfiguration(client, id)
      return id
    }),
  )
}

/** What the engine has seen of all runs, from the first to the last. */
function expectInOrder(trace: Seen[], phases: string[]): void {
  const of = (kind: string) => trace.filter(({ what }) => what === kind).map(({ execution }) => execution)
  expect(of('begin').toSorted()).toEqual(phases.toSorted())
  expect(of('end').toSorted()).toEqual(phases.toSorted())
  expect(new Set(trace.map(({ server }) => server))).toEqual(new Set(SERVERS))

  for (const organization of ['acme', 'other']) {
    const underWay = new Set<string>()
    const most = trace.map(({ what, execution, workspace }) => {
      if (what === 'begin' && workspace.startsWith(`${organization}/`)) underWay.add(execution)
      else underWay.delete(execution)
      return underWay.size
    })
    expect(Math.max(...most)).toBeLessThanOrEqual(CONCURRENCY)
  }

  for (const workspace of WORKSPACES) {
    const own = trace.filter((seen) => seen.workspace === workspace)
    const runs = [...new Set(own.map(({ execution }) => execution.split('/')[0]))]
    const whole = ['begin plan', 'end plan', 'begin apply', 'end apply']
    expect(own.map(({ what, execution }) => `${what} ${execution}`)).toEqual(
      runs.flatMap((run) => whole.map((step) => step.replace(' ', ` ${run}/`))),
    )
  }
}
