import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { resolve } from 'node:path'
import { ConfigError, parseSwitch, type RunConfig, readerOf, readRuns } from './config.ts'
import { type Environment, parseUrl } from './reading.ts'

/** Everything that an operator of an agent can set. */
export interface AgentConfig {
  /** Of the server, without a slash at the end. */
  address: string
  token: string
  name: string
  /** Whether it ends after one run. */
  single: boolean
  /** The file with certificates to trust besides those of the system. */
  ca: string | undefined
  dataDir: string
  runs: RunConfig
}

/** Reads the configuration of an agent. Throws one `ConfigError` that names every variable that is wrong. */
export function readAgentConfig(environment: Environment): AgentConfig {
  const problems: string[] = []
  const read = readerOf(environment, problems)
  const dataDir = resolve(environment['PLINTH_DATA_DIR'] || './data')
  const config = {
    address: read(
      'PLINTH_AGENT_ADDRESS',
      '',
      parseAddress,
      'the https:// address of the server; http:// only on this machine',
    ),
    token: readToken(environment, problems),
    name: read('PLINTH_AGENT_NAME', hostname(), parseName, 'a name of at most 255 characters'),
    single: read('PLINTH_AGENT_SINGLE', 'off', parseSwitch, 'on or off'),
    ca: environment['PLINTH_AGENT_CA'] ? resolve(environment['PLINTH_AGENT_CA']) : undefined,
    dataDir,
    runs: readRuns(environment, dataDir, read),
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'))
  return config
}

/** Tokens and states go to this address: in the clear only where nobody else can hear. */
function parseAddress(text: string): string | undefined {
  const address = parseUrl(text)
  if (!address) return undefined
  const { protocol, hostname: host } = new URL(address)
  const isHere = host === 'localhost' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
  return protocol === 'https:' || isHere ? address : undefined
}

function readToken(environment: Environment, problems: string[]): string {
  const { PLINTH_AGENT_TOKEN: given, PLINTH_AGENT_TOKEN_FILE: file } = environment
  const token = given || (file && readText(resolve(file), problems))
  if (token && /^[\x21-\x7e]{8,256}$/.test(token)) return token
  problems.push(
    'PLINTH_AGENT_TOKEN, or the file PLINTH_AGENT_TOKEN_FILE, must hold a token of a pool of agents',
  )
  return ''
}

function readText(path: string, problems: string[]): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    problems.push('PLINTH_AGENT_TOKEN_FILE must be a file that can be read')
    return ''
  }
}

function parseName(text: string): string | undefined {
  return text.trim() && text.length <= 255 ? text.trim() : undefined
}
