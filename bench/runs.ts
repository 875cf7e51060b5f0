import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { arch, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PostgresCluster } from '../test/postgres-cluster.ts'
import { Program } from '../test/program.ts'
import { SMALL, slug } from '../test/runs.ts'
import { findTerraform } from '../test/terraform.ts'
import { Api } from './api.ts'
import { median } from './load.ts'

// How much longer a run takes than the engine itself. The engine is called through a script that writes down when
// each of its processes began and ended; what is left of the time of a run is the platform's.

const TOKEN = 'a-token-for-the-bench-and-nothing-else'
const ALONE = 7
const WORKSPACES = 10
const QUEUED = 50
const WORKERS = 2
const VERSION = '1.0.0'

/** When a process of the engine began and ended, in milliseconds. */
interface Span {
  from: number
  to: number
}

async function main(): Promise<void> {
  const terraform = findTerraform()
  if (!terraform) throw new Error('no terraform or tofu on PATH, and PLINTH_TERRAFORM is not set')
  process.stdout.write(
    `${new Date().toISOString().slice(0, 10)}, ${cpus()[0]?.model.trim()} (${cpus().length} cores, ${arch()}), Node ${process.version}\n`,
  )
  const cluster = await PostgresCluster.create()
  try {
    await bench('SQLite', terraform, (directory) => `sqlite:${join(directory, 'plinth.db')}`)
    await bench('PostgreSQL', terraform, () => cluster.url)
  } finally {
    await cluster.remove()
  }
}

async function bench(name: string, terraform: string, locate: (directory: string) => string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-bench-'))
  const spans = recordEngine(directory, terraform)
  const plinth = new Program({
    PLINTH_DATA_DIR: directory,
    PLINTH_DATABASE_URL: locate(directory),
    PLINTH_ADMIN_TOKEN: TOKEN,
    PLINTH_RATE_LIMIT: '0',
    PLINTH_ENGINES_DIR: join(directory, 'engines'),
    PLINTH_RUN_WORKERS: String(WORKERS),
    // Otherwise nothing could write down when the engine began.
    PLINTH_SANDBOX: 'none',
  })
  try {
    const api = new Api(await plinth.ready(), TOKEN)
    await api.post('/api/v2/organizations', 'organizations', { name: 'bench', email: 'bench@example.com' })
    const workspaces = await Promise.all(Array.from({ length: WORKSPACES }, (_, n) => makeWorkspace(api, n)))
    // The first run fetches what later ones find.
    await runToTheEnd(api, workspaces[0] as string)
    const alone: number[] = []
    for (let count = 0; count < ALONE; count++) {
      const before = spans().length
      const took = await runToTheEnd(api, workspaces[0] as string)
      alone.push(took - covered(spans().slice(before)))
    }
    const queue = await runQueue(api, workspaces, spans)
    process.stdout.write(`\n| ${name} | result | target |\n| --- | --- | --- |\n`)
    process.stdout.write(
      `| a run alone, beyond the engine's own time (median of ${ALONE}) | ${Math.round(median(alone))} ms | < 400 ms |\n`,
    )
    const rest = (queue.took * WORKERS * (1 - queue.share)) / QUEUED
    process.stdout.write(
      `| ${QUEUED} runs over ${WORKSPACES} workspaces, ${WORKERS} workers: their time beyond the engine's, for each run | ${Math.round(rest)} ms (${(queue.took / 1000).toFixed(1)} s in all, ${Math.round(queue.share * 100)} % of it the engine) | as alone: no worker idle |\n`,
    )
  } finally {
    await plinth.kill()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Puts a script in the place of the engine; returns what reads its notes. */
function recordEngine(directory: string, terraform: string): () => Span[] {
  const home = join(directory, 'engines', VERSION)
  const notes = join(directory, 'spans')
  mkdirSync(home, { recursive: true })
  writeFileSync(notes, '')
  const script = `#!/bin/sh
from=$(date +%s%N)
${terraform} "$@"
code=$?
echo "$from $(date +%s%N)" >> ${notes}
exit $code
`
  writeFileSync(join(home, 'terraform'), script, { mode: 0o755 })
  return () =>
    readFileSync(notes, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const [from = 0, to = 0] = line.split(' ').map((moment) => Number(moment) / 1e6)
        return { from, to }
      })
}

/** Milliseconds during which at least one of the processes ran. */
function covered(spans: readonly Span[]): number {
  let total = 0
  let end = 0
  for (const { from, to } of spans.toSorted((a, b) => a.from - b.from)) {
    total += Math.max(0, to - Math.max(from, end))
    end = Math.max(end, to)
  }
  return total
}

async function makeWorkspace(api: Api, number: number): Promise<string> {
  const attributes = { name: `bench-${number}`, 'auto-apply': true, 'terraform-version': VERSION }
  const { id } = await api.post('/api/v2/organizations/bench/workspaces', 'workspaces', attributes)
  const version = await api.post(
    `/api/v2/workspaces/${id}/configuration-versions`,
    'configuration-versions',
    {
      'auto-queue-runs': false,
    },
  )
  const body = new Uint8Array(await slug(SMALL))
  const uploaded = await fetch(version.attributes['upload-url'] as string, { method: 'PUT', body })
  if (!uploaded.ok) throw new Error(await uploaded.text())
  return id
}

/** Every run changes something: it makes the one resource anew. */
async function startRun(api: Api, workspaceId: string): Promise<string> {
  const relationships = { workspace: { data: { type: 'workspaces', id: workspaceId } } }
  const attributes = { 'allow-empty-apply': true }
  return (await api.post('/api/v2/runs', 'runs', attributes, relationships)).id
}

async function untilApplied(api: Api, id: string): Promise<void> {
  for (;;) {
    const { status } = (await api.get(`/api/v2/runs/${id}`)).attributes
    if (status === 'applied') return
    if (['errored', 'canceled', 'discarded'].includes(status as string))
      throw new Error(`run ${id} ${status}`)
    await sleep(10)
  }
}

/** Milliseconds from the request for a run until it is applied. */
async function runToTheEnd(api: Api, workspaceId: string): Promise<number> {
  const started = performance.now()
  await untilApplied(api, await startRun(api, workspaceId))
  return performance.now() - started
}

async function runQueue(api: Api, workspaces: readonly string[], spans: () => Span[]) {
  const before = spans().length
  const started = performance.now()
  const ids: string[] = []
  for (let count = 0; count < QUEUED; count++)
    ids.push(await startRun(api, workspaces[count % workspaces.length] as string))
  for (const id of ids) await untilApplied(api, id)
  const took = performance.now() - started
  const engine = spans()
    .slice(before)
    .reduce((sum, { from, to }) => sum + to - from, 0)
  return { took, share: engine / (took * WORKERS) }
}

await main()
