import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sweepBlobs } from '../../src/blobs/jobs.ts'
import { type Config, readConfig } from '../../src/config/config.ts'
import { addSeconds } from '../../src/lib/time.ts'
import { bundledCommand } from '../bundled.ts'
import { runLater } from '../jobs.ts'
import { Program } from '../program.ts'
import { makeArchive, makeKey } from '../registry.ts'
import { document } from '../resources.ts'
import { Publisher } from './publisher.ts'
import { Random } from './random.ts'
import { type Actor, Cut, Session } from './session.ts'
import { Storage } from './storage.ts'
import { TagKeys } from './tag-keys.ts'
import { Workspaces } from './workspaces.ts'

const ORGANIZATION = 'crash'

/** The provider archives: random, so that they do not compress, and large enough to be cut off in the middle. */
const ARCHIVE_BYTES = 250_000

/** A server is left to acknowledge up to so many writes, and to work for up to so many milliseconds after that. */
const WRITES = 8
const WORK_MS = 60

/** Milliseconds that a server which is killed at the start has for it, at most. */
const START_MS = 300

/** Seconds after which the jobs of a dead server are taken up again, the longest lease there is. */
const LEASE_SECONDS = 60

/** Of all rounds, those whose server is killed before it is ready, and those after which files are swept. */
const AT_START = 0.15
const SWEPT = 0.1

export interface Totals {
  rounds: number
  acknowledged: number
  uploadsCut: number
  checks: number
}

/** One server that is killed and started again on the same data, with clients that remember what it said. */
export class Driver {
  readonly #random: Random
  readonly #session: Session
  readonly #directory = mkdtempSync(join(tmpdir(), 'plinth-crash-'))
  readonly #settings: Record<string, string>
  readonly #config: Config
  readonly #storage: Storage
  #program: Program | undefined
  #actors: Actor[] = []
  #rounds = 0

  constructor(seed: number, settings: Record<string, string>) {
    this.#random = new Random(seed)
    this.#session = new Session(this.#random)
    this.#settings = {
      PLINTH_DATA_DIR: this.#directory,
      PLINTH_RATE_LIMIT: '0',
      // Runs are killed in runs.test.ts; here a start that looks for no engine leaves time for more kills.
      PLINTH_RUN_WORKERS: '0',
      ...settings,
    }
    this.#config = readConfig(this.#settings)
    this.#storage = new Storage(this.#config)
  }

  /** Kills the server `rounds` times and checks after each; throws at the first thing that is wrong. */
  async run(rounds: number): Promise<Totals> {
    try {
      // The very first start makes the schema, the secrets and the first token; it is killed as well.
      for (let n = 0; n < 3; n++) await this.#killAtStart()
      await this.#start()
      await this.#prepare()
      while (this.#rounds < rounds) await this.#round()
      await this.#checkSwept()
    } catch (error) {
      const { ending, stderr } = this.#running
      throw new Error(`${error}\nthe server ${ending}: ${stderr.slice(-2_000)}`, { cause: error })
    } finally {
      await this.#program?.kill()
      rmSync(this.#directory, { recursive: true, force: true })
    }
    const { acknowledged, uploadsCut, checks } = this.#session
    return { rounds: this.#rounds, acknowledged, uploadsCut, checks }
  }

  async #round(): Promise<void> {
    await this.#workUntilKilled()
    await this.#checkJobs()
    while (this.#random.happens(AT_START)) await this.#killAtStart()
    await this.#start()
    await this.#check()
    if (this.#random.happens(SWEPT)) await this.#checkSwept()
  }

  async #workUntilKilled(): Promise<void> {
    const program = this.#running
    let killed = false
    const clients = this.#actors.map(async (actor) => {
      while (!killed) {
        await actor.step().catch((error: unknown) => {
          if (!killed || !(error instanceof Cut)) throw error
        })
      }
    })
    const kill = async () => {
      const enough = this.#session.acknowledged + this.#random.between(0, WRITES)
      const latest = performance.now() + 1_000
      while (this.#session.acknowledged < enough && performance.now() < latest) await sleep(1)
      await sleep(this.#random.between(0, WORK_MS))
      killed = true
      await program.kill()
    }
    const results = await Promise.allSettled([...clients, kill()])
    this.#rounds += 1
    const failed = results.find((result) => result.status === 'rejected')
    if (failed) throw failed.reason
  }

  /** What the dead server was working on comes back soon; what is waiting becomes due, for the next to be killed at. */
  async #checkJobs(): Promise<void> {
    const claimed = await this.#storage.query('select name, run_at from jobs where attempts > 0')
    const latest = addSeconds(new Date().toISOString(), LEASE_SECONDS)
    for (const { name, run_at } of claimed) {
      this.#session.check(String(run_at) <= latest, `${name} comes back at ${run_at} only`)
    }
    await this.#storage.query("update jobs set run_at = '2020-01-01T00:00:00.000Z' returning id")
  }

  async #killAtStart(): Promise<void> {
    const program = await this.#spawn()
    await sleep(this.#random.between(0, START_MS))
    await program.kill()
    this.#rounds += 1
  }

  async #start(): Promise<void> {
    this.#program = await this.#spawn()
    this.#session.url = await this.#program.ready()
  }

  async #spawn(): Promise<Program> {
    return new Program(this.#settings, await bundledCommand())
  }

  get #running(): Program {
    if (!this.#program) throw new Error('no server is running')
    return this.#program
  }

  async #prepare(): Promise<void> {
    const session = this.#session
    session.token = readFileSync(join(this.#directory, 'admin-token'), 'utf8').trim()
    const organization = document('organizations', { name: ORGANIZATION, email: 'crash@example.com' })
    await session.change('POST', '/api/v2/organizations', organization, () => {})
    const path = `/api/v2/organizations/${ORGANIZATION}`
    const key = await makeKey()
    const attributes = { namespace: ORGANIZATION, 'ascii-armor': key.armor }
    await session.change(
      'POST',
      '/api/registry/private/v2/gpg-keys',
      document('gpg-keys', attributes),
      () => {},
    )
    this.#actors = [
      new TagKeys(session, this.#random, path),
      new Workspaces(session, this.#random, path, 'one'),
      new Workspaces(session, this.#random, path, 'other'),
    ]
    for (const name of ['first', 'second']) {
      const provider = { name, namespace: ORGANIZATION, 'registry-name': 'private' }
      const body = document('registry-providers', provider)
      await session.change('POST', `${path}/registry-providers`, body, () => {})
      const contents = [0, 1, 2].map(() => this.#random.bytes(ARCHIVE_BYTES).toString('latin1'))
      const archives = await Promise.all(contents.map((content) => makeArchive(name, '1.0.0', content)))
      const address = `${path}/registry-providers/private/${ORGANIZATION}/${name}`
      this.#actors.push(
        new Publisher(session, this.#random, { namespace: ORGANIZATION, name, path: address, key, archives }),
      )
    }
  }

  async #check(): Promise<void> {
    await Promise.all(this.#actors.map((actor) => actor.check()))
    const problems = await this.#storage.listProblems(this.#running.process.pid)
    this.#session.check(problems.length === 0, problems.join('\n'))
  }

  /** Once the grace period of an upload is over, nothing is left on disk that no row knows. */
  async #checkSwept(): Promise<void> {
    await runLater({ config: this.#config, dataDir: this.#directory }, sweepBlobs, 1)
    const orphans = await this.#storage.listOrphans()
    this.#session.check(orphans.length === 0, `not swept: ${orphans}`)
    await this.#check()
  }
}
