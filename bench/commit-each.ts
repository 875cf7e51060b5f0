import { pino } from 'pino'
import { start } from '../src/app.ts'
import { readConfig } from '../src/config/config.ts'
import { readSecrets } from '../src/config/secrets.ts'

// Plinth on SQLite, but with a commit for each transaction: what sharing commits is compared with.

const config = readConfig(process.env)
if (config.database.kind !== 'sqlite') throw new Error('only SQLite shares commits')
const log = pino(pino.destination({ dest: 2, sync: false, minLength: 8_192, periodicFlush: 200 }))
const database = { ...config.database, transactionsPerCommit: 1 }
const { url } = await start({ ...config, database }, readSecrets(process.env, config.dataDir), log)
process.stdout.write(`Plinth is ready at ${url}\naccount/details\n`)
