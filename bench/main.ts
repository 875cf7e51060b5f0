import { mkdtempSync, rmSync } from 'node:fs'
import { arch, cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { PostgresCluster } from '../test/postgres-cluster.ts'
import { Program } from '../test/program.ts'
import { measureFiles } from './files.ts'
import { type Measured, measure, median, residentMegabytes } from './load.ts'
import { ORGANIZATION, seed } from './seed.ts'

// Ratios in one run: each scenario is measured on Plinth and on a bare server in turn, several times, and the
// medians are compared. Rates alone say more about the machine and its neighbours.

const ROUNDS = 3
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 3)
const LARGE = 100_000

/** Starts of which the median is told, and how long a server has had nothing to do. */
const STARTS = 7
const IDLE_MS = 3_000
const TOKEN = 'a-token-for-the-bench-and-nothing-else'

interface Row {
  scenario: string
  result: string
  target: string
}

async function main(): Promise<void> {
  const cluster = await PostgresCluster.create()
  const databases = {
    SQLite: (directory: string) => `sqlite:${join(directory, 'plinth.db')}`,
    PostgreSQL: () => cluster.url,
  }
  print(
    `${new Date().toISOString().slice(0, 10)}, ${cpus()[0]?.model.trim()} (${cpus().length} cores, ${arch()}), Node ${process.version}\n`,
  )
  try {
    for (const [name, location] of Object.entries(databases)) await benchDatabase(name, location)
  } finally {
    await cluster.remove()
  }
}

async function benchDatabase(name: string, location: (directory: string) => string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-bench-'))
  const url = location(directory)
  const settings = settingsOf(directory, url)
  try {
    const { workspaceId } = await seed(settings, LARGE)
    // The first start of an installation compiles; what is measured is every other.
    const first = new Program(settings)
    await first.ready()
    first.process.kill()
    await first.exit()
    const starts: number[] = []
    for (let n = 0; n < STARTS; n++) starts.push(await timeStart(settings))
    const plinth = new Program(settings)
    const base = await plinth.ready()
    await sleep(IDLE_MS)
    const idle = residentMegabytes(plinth.process.pid as number)
    const rows: Row[] = [
      ...(await benchRequests(plinth, base, workspaceId, name)),
      ...(name === 'SQLite' ? [await benchSharedCommits(plinth, base)] : []),
      ...(await measureFiles(base, TOKEN, directory)),
      { scenario: 'first answer after start', result: `${Math.round(median(starts))} ms`, target: '500 ms' },
      { scenario: 'memory when idle', result: `${Math.round(idle)} MB`, target: '110 MB' },
    ]
    await plinth.kill()
    report(name, rows)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Milliseconds from the start of the program until it has answered a request. */
async function timeStart(settings: Record<string, string>): Promise<number> {
  const started = performance.now()
  const plinth = new Program(settings)
  await fetch(`${await plinth.ready()}/healthz`)
  const time = performance.now() - started
  await plinth.kill()
  return time
}

function settingsOf(directory: string, url: string) {
  return {
    PLINTH_DATA_DIR: directory,
    PLINTH_DATABASE_URL: url,
    PLINTH_ADMIN_TOKEN: TOKEN,
    PLINTH_RATE_LIMIT: '0',
  }
}

let made = 0

/** The body of a create: no two are the same. */
function newKey(): string {
  const attributes = { key: `bench ${made++}`, 'disable-overrides': false }
  return JSON.stringify({ data: { type: 'reserved-tag-keys', attributes } })
}

async function benchRequests(
  plinth: Program,
  base: string,
  workspaceId: string,
  name: string,
): Promise<Row[]> {
  const show = `${base}/api/v2/workspaces/${workspaceId}`
  const body = await (await fetch(show, { headers: { authorization: `Bearer ${TOKEN}` } })).text()
  const bare = new Program({ BODY: body }, [process.execPath, join(import.meta.dirname, 'bare.ts')])
  const bareUrl = await bare.ready()
  const on = (program: Program, url: string, connections: number, write?: (n: number) => string) =>
    measure({
      url,
      connections,
      seconds: SECONDS,
      pid: program.process.pid as number,
      token: program === plinth ? TOKEN : undefined,
      ...(write && { method: 'POST', body: write }),
    })
  const keys = (suffix: string) => `${base}/api/v2/organizations/${ORGANIZATION}-${suffix}/reserved-tag-keys`
  const results = await inTurn({
    bare: () => on(bare, bareUrl, 32),
    get: () => on(plinth, show, 32),
    small: () => on(plinth, `${keys('small')}?page[size]=20`, 32),
    large: () => on(plinth, `${keys('large')}?page[size]=20`, 32),
    write1: () => on(plinth, keys('writes'), 1, newKey),
    write32: () => on(plinth, keys('writes'), 32, newKey),
    // Reads beside a writer: nothing that a read remembers lasts longer than a few writes.
    mixed: async () => {
      const writing = on(plinth, keys('writes'), 1, newKey)
      const reading = await on(plinth, show, 32)
      await writing
      return reading
    },
  })
  await bare.kill()
  const { get, small, large, write1, write32, mixed } = results
  const target = name === 'SQLite' ? '≥ 0.5' : '≥ 0.14'
  return [
    row('GET a workspace, to a bare server', results.bare, get, target),
    row('… while another client writes', results.bare, mixed, ''),
    row('page of 20 out of 100, to a bare server', results.bare, small, ''),
    row(`page of 20 out of ${LARGE}, to one out of 100`, small, large, 'flat'),
    {
      scenario: 'creates of 32 clients, to those of one (each commits alone)',
      result: `${(write32.rate / write1.rate).toFixed(1)} × (${rate(write32)} to ${rate(write1)})`,
      target: name === 'SQLite' ? '≥ 4 ×' : '',
    },
  ]
}

/** Creates of 32 clients, beside the same program with a commit for each, on a database of its own. */
async function benchSharedCommits(plinth: Program, base: string): Promise<Row> {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-bench-'))
  const settings = settingsOf(directory, `sqlite:${join(directory, 'plinth.db')}`)
  await seed(settings, 100)
  const each = new Program(settings, [process.execPath, join(import.meta.dirname, 'commit-each.ts')])
  const eachBase = await each.ready()
  const on = (program: Program, url: string) => () =>
    measure({
      url: `${url}/api/v2/organizations/${ORGANIZATION}-writes/reserved-tag-keys`,
      connections: 32,
      seconds: SECONDS,
      pid: program.process.pid as number,
      token: TOKEN,
      method: 'POST',
      body: newKey,
    })
  const { shared, apart } = await inTurn({ shared: on(plinth, base), apart: on(each, eachBase) })
  await each.kill()
  rmSync(directory, { recursive: true, force: true })
  return {
    scenario: '… to those of 32 clients with a commit each',
    result: `${(shared.rate / apart.rate).toFixed(1)} × (${rate(shared)} to ${rate(apart)})`,
    target: '≥ 4 ×',
  }
}

/** Measures each in turn, several times, so that what the machine does beside it hits all of them alike. */
async function inTurn<K extends string>(
  runs: Record<K, () => Promise<Measured>>,
): Promise<Record<K, Measured>> {
  const all = Object.fromEntries(Object.keys(runs).map((name) => [name, [] as Measured[]])) as Record<
    K,
    Measured[]
  >
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, run] of Object.entries<() => Promise<Measured>>(runs)) all[name as K].push(await run())
  }
  const middle = (measured: Measured[]): Measured => ({
    rate: median(measured.map((each) => each.rate)),
    cpu: median(measured.map((each) => each.cpu)),
    p50: median(measured.map((each) => each.p50)),
    p99: median(measured.map((each) => each.p99)),
  })
  return Object.fromEntries(
    Object.entries<Measured[]>(all).map(([name, measured]) => [name, middle(measured)]),
  ) as Record<K, Measured>
}

function row(scenario: string, base: Measured, measured: Measured, target: string): Row {
  const ratio = (base.cpu / measured.cpu).toFixed(2)
  return {
    scenario,
    result: `${ratio} (${measured.cpu.toFixed(0)} µs to ${base.cpu.toFixed(0)} µs; ${rate(measured)} to ${rate(base)})`,
    target,
  }
}

function rate({ rate }: Measured): string {
  return `${Math.round(rate)}/s`
}

function report(name: string, rows: Row[]): void {
  print(`\n| ${name} | result | target |\n| --- | --- | --- |\n`)
  for (const { scenario, result, target } of rows) print(`| ${scenario} | ${result} | ${target} |\n`)
}

function print(text: string): void {
  process.stdout.write(text)
}

await main()
