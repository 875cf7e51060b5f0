import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { CliError } from './errors.ts'
import type { Io } from './io.ts'
import { readOrigin } from './origin.ts'

/** Where a server is, and who is calling. */
export interface Connection {
  server: URL
  token: string
}

export interface ConnectionOptions {
  server?: string | undefined
}

/**
 * The server that the options or the environment name, or else the one that handed this program out, with a token
 * for it. Throws `CliError` that says how to name them.
 */
export async function connectionOf(options: ConnectionOptions, io: Io): Promise<Connection> {
  const server = await serverOf(options, io)
  return { server, token: await tokenOf(server.host, io.env) }
}

async function serverOf({ server }: ConnectionOptions, { env }: Io): Promise<URL> {
  const named =
    server ||
    env['PLINTH_SERVER'] ||
    env['TFE_ADDRESS'] ||
    env['TFE_HOSTNAME'] ||
    (await readOrigin())?.server
  if (!named) {
    throw new CliError('usage', 'no server is named', {
      advice: 'Add --server https://plinth.example.com, or set PLINTH_SERVER.',
    })
  }
  const address = /^[a-z]+:\/\//i.test(named) ? named : `https://${named}`
  const url = URL.parse(address)
  if (!url || !/^https?:$/.test(url.protocol) || url.username !== '') {
    throw new CliError('usage', `"${named}" is not the address of a server`, {
      advice: 'It looks like https://plinth.example.com.',
    })
  }
  return new URL(url.origin)
}

/** The organization that the options or the environment name. */
export function organizationOf({ organization }: { organization?: string | undefined }, { env }: Io): string {
  const named =
    organization || env['PLINTH_ORGANIZATION'] || env['TFE_ORGANIZATION'] || env['TF_CLOUD_ORGANIZATION']
  if (named) return named
  throw new CliError('usage', 'no organization is named', {
    advice: 'Add --organization NAME, or set PLINTH_ORGANIZATION.',
  })
}

async function tokenOf(host: string, env: Io['env']): Promise<string> {
  const token =
    env['PLINTH_TOKEN'] ||
    env['TFE_TOKEN'] ||
    env[`TF_TOKEN_${host.replaceAll('.', '_').replaceAll('-', '__')}`] ||
    env[`TF_TOKEN_${host}`] ||
    (await savedToken(host, env))
  if (!token) {
    throw new CliError('access', `there is no token for ${host}`, {
      advice: `Set PLINTH_TOKEN, or run: terraform login ${host}`,
    })
  }
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new CliError('access', 'the token has characters that no token has', {
      advice: 'Look for line breaks and quotes in the variable that it comes from.',
    })
  }
  return token
}

/** What `terraform login` or `tofu login` saved. */
async function savedToken(host: string, env: Io['env']): Promise<string | undefined> {
  const home = env['HOME'] || env['USERPROFILE'] || homedir()
  const directories = [
    join(home, '.terraform.d'),
    join(env['XDG_CONFIG_HOME'] || join(home, '.config'), 'opentofu'),
    ...(env['APPDATA'] ? [join(env['APPDATA'], 'terraform.d')] : []),
  ]
  for (const directory of directories) {
    const text = await readFile(join(directory, 'credentials.tfrc.json'), 'utf8').catch(() => undefined)
    const token = text && readToken(text, host)
    if (token) return token
  }
  return undefined
}

function readToken(text: string, host: string): string | undefined {
  try {
    const { credentials } = JSON.parse(text) as { credentials?: Record<string, { token?: string }> }
    return credentials?.[host]?.token
  } catch {
    return undefined
  }
}
