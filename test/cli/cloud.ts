import { readFileSync } from 'node:fs'
import tls from 'node:tls'
import { afterAll, beforeAll, expect } from 'vitest'
import type { TestOrganization, TestServer } from '../harness.ts'
import { testCertificates } from '../tls.ts'
import { CliDirectory } from './cli.ts'
import { Terminal } from './terminal.ts'

const { ca, cert, key } = testCertificates()

/** Settings of a server that the CLI can speak with: it takes HTTPS only. */
export const HTTPS = { PLINTH_TLS_CERT: cert, PLINTH_TLS_KEY: key }

/** What the tests of a file have left to remove: those that run beside one another share one end. */
const leftovers: (() => unknown)[] = []

/** Lets this process trust the certificate of the servers under test, and removes what the tests leave. */
export function useClouds(): void {
  beforeAll(() => {
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), readFileSync(ca, 'utf8')])
  })
  afterAll(async () => {
    for (const remove of leftovers.splice(0)) await remove()
  })
}

/** A directory whose configuration has its runs and its state on the server. */
export class CloudDirectory extends CliDirectory {
  readonly #head: string
  readonly #binary: string

  /** `workspaces` is what the block of that name says. */
  constructor(
    binary: string,
    server: TestServer,
    { name, owner }: Pick<TestOrganization, 'name' | 'owner'>,
    workspaces: string,
    block: 'cloud' | 'backend "remote"' = 'cloud',
  ) {
    const { host } = new URL(server.url)
    super(binary, host, owner.token)
    this.#binary = binary
    this.#head = `terraform {
      ${block} {
        hostname     = "${host}"
        organization = "${name}"
        workspaces {
          ${workspaces}
        }
      }
    }\n`
    leftovers.push(() => this.remove())
    this.configure('')
  }

  /** Writes the configuration. */
  configure(body: string): void {
    this.write('main.tf', this.#head + body)
  }

  /** Runs a command that must succeed; returns what it prints. */
  async succeed(...args: string[]): Promise<string> {
    const { code, output } = await this.run(...args)
    expect([args, code, code === 0 ? '' : output]).toEqual([args, 0, ''])
    return output
  }

  /** Runs a command in a terminal, for what needs answers or interruptions. */
  inTerminal(...args: string[]): Terminal {
    const command = `exec ${[this.#binary, ...args, '-no-color'].join(' ')}`
    const terminal = new Terminal(command, {
      cwd: this.path,
      env: {
        PATH: '/usr/local/bin:/usr/bin:/bin',
        HOME: this.path,
        SSL_CERT_FILE: ca,
        TF_CLI_CONFIG_FILE: `${this.path}/cli.tfrc`,
        CHECKPOINT_DISABLE: '1',
        TERM: 'xterm',
      },
    })
    leftovers.unshift(() => terminal.close())
    return terminal
  }
}
