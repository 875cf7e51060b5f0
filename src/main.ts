import { relative } from 'node:path'
import { inspect } from 'node:util'
import { pino } from 'pino'
import { type RunningServer, start } from './app.ts'
import { ConfigError, readConfig } from './config/config.ts'
import { readSecrets } from './config/secrets.ts'

// The only reader of process.env. What a person reads goes to standard output, the log to standard error.

try {
  await run()
} catch (error) {
  const message = error instanceof ConfigError ? error.message : inspect(error)
  process.stderr.write(`Plinth cannot start:\n${message}\n`)
  process.exitCode = 1
}

async function run(): Promise<void> {
  const config = readConfig(process.env)
  const secrets = readSecrets(process.env, config.dataDir)
  const log = pino({ base: null, timestamp: pino.stdTimeFunctions.isoTime }, logDestination())
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

/** Lines are written together, at the latest after a fifth of a second: a write for each would cost more. */
function logDestination() {
  const destination = pino.destination({ dest: 2, sync: false, minLength: 8_192, periodicFlush: 200 })
  process.once('exit', () => destination.flushSync())
  return destination
}
