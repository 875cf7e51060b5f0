import { relative } from 'node:path'
import { inspect } from 'node:util'
import { pino } from 'pino'
import { type RunningServer, start } from './app.ts'
import type { Source } from './backup/backup.ts'
import { FileBlobStore } from './blobs/file.ts'
import { ConfigError, readConfig } from './config/config.ts'
import { readSecrets, readVaultKeys, secretKeyFile } from './config/secrets.ts'
import { OperatorError } from './lib/errors.ts'
import { Vault } from './lib/vault.ts'

// The only reader of process.env. What a person reads goes to standard output, the log to standard error. Commands
// load what they alone need, so that the server starts without it.

const [command = 'start', ...parameters] = process.argv.slice(2)
try {
  await run()
} catch (error) {
  const reason = error instanceof OperatorError ? error.message : inspect(error)
  process.stderr.write(`Plinth cannot ${command}:\n${reason}\n`)
  process.exitCode = 1
}

function run(): Promise<void> {
  const [file, ...more] = parameters
  if (command === 'start' && !file) return serve()
  if (command === 'backup' && file && more.length === 0) return writeBackup(file)
  if (command === 'restore' && file && more.length === 0) return restoreBackup(file)
  if (command === 'rotate-key' && !file) return rotateKey()
  if (command === 'agent' && !file) return work()
  throw new ConfigError('There is: start (or nothing), agent, backup FILE, restore FILE, rotate-key')
}

async function writeBackup(file: string): Promise<void> {
  const { backup } = await import('./backup/backup.ts')
  const { rows, blobs } = await backup(await openData(), file, new Date())
  process.stdout.write(
    `Wrote ${file}: ${rows} rows and ${blobs} files. It holds secrets; keep it where they are safe.\n`,
  )
}

async function restoreBackup(file: string): Promise<void> {
  const { restore } = await import('./backup/restore.ts')
  const { rows, blobs } = await restore(await openData(), file)
  process.stdout.write(`Restored ${rows} rows and ${blobs} files of ${file}. Start Plinth with: npm start\n`)
}

async function rotateKey(): Promise<void> {
  const { rotate } = await import('./rotation/rotation.ts')
  const { database, blobs, vault } = await openData()
  const { texts, files } = await rotate({ database, blobs, vault: vault() })
  process.stdout.write(
    `Sealed ${texts} texts and ${files} files with the current key. PLINTH_OLD_SECRET_KEYS can be removed.\n`,
  )
}

async function openData(): Promise<Source> {
  const config = readConfig(process.env)
  return {
    database: config.database,
    blobs: await FileBlobStore.open(config.blobs.path),
    secretKeyFile: secretKeyFile(process.env, config.dataDir),
    vault: () => new Vault(readVaultKeys(process.env, config.dataDir)),
  }
}

async function serve(): Promise<void> {
  const config = readConfig(process.env)
  const secrets = readSecrets(process.env, config.dataDir)
  const log = newLog()
  const server = await start(config, secrets, log)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info(`${signal}: finishing the requests under way`)
      server.stop().then(
        () => log.info('stopped'),
        (error: unknown) => {
          log.error({ err: error }, 'could not stop cleanly')
          process.exitCode = 1
        },
      )
    })
  }
  greet(server)
}

/** Works as an agent until it is told to end, or cannot go on. */
async function work(): Promise<void> {
  const [{ startAgent }, { readAgentConfig }] = await Promise.all([
    import('./agent/agent.ts'),
    import('./config/agent.ts'),
  ])
  const config = readAgentConfig(process.env)
  const log = newLog()
  const ending = new AbortController()
  let stop = async () => ending.abort()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info(`${signal}: ending what is carried out`)
      stop().catch((error: unknown) => log.error({ err: error }, 'could not stop cleanly'))
    })
  }
  const agent = await startAgent(config, log, ending.signal)
  stop = agent.stop
  process.stdout.write(`Plinth agent ${config.name} (${agent.id}) works for ${config.address}\n`)
  const reason = await agent.ended
  if (reason) throw new ConfigError(`It cannot go on: ${reason}.`)
}

/** Printed once everything works, signals included. */
function greet(server: RunningServer): void {
  const file = server.adminTokenFile && relative('', server.adminTokenFile)
  const token = file ? `$(cat ${file})` : '$PLINTH_ADMIN_TOKEN'
  process.stdout.write(
    [
      `Plinth is ready at ${server.url}`,
      `First admin token: ${file ?? 'the value of PLINTH_ADMIN_TOKEN'}`,
      'Try next:',
      `  curl -H "Authorization: Bearer ${token}" ${server.url}/api/v2/account/details`,
      '',
    ].join('\n'),
  )
}

function newLog() {
  return pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, logDestination())
}

/** Lines are written together, at the latest after a fifth of a second: a write for each would cost more. */
function logDestination() {
  const destination = pino.destination({ dest: 2, sync: false, minLength: 8_192, periodicFlush: 200 })
  process.once('exit', () => destination.flushSync())
  return destination
}
