import { type ChildProcess, execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { testCertificates } from '../tls.ts'

/** The platform that the CLI on this machine asks for. */
export const THIS_PLATFORM = `${process.platform}_${{ x64: 'amd64', ia32: '386' }[process.arch as string] ?? process.arch}`

/** How the CLI ended. */
export interface CliResult {
  code: number
  output: string
}

/** A directory of Terraform configuration, and a CLI that knows one host's token and nothing of this machine. */
export class CliDirectory {
  readonly path = mkdtempSync(join(tmpdir(), 'plinth-cli-'))
  readonly #binary: string
  readonly #environment: Record<string, string>

  constructor(
    binary: string,
    host: string,
    token: string | undefined,
    environment: Record<string, string> = {},
  ) {
    this.#binary = binary
    const config = this.write('cli.tfrc', token ? `credentials "${host}" {\n  token = "${token}"\n}\n` : '')
    this.#environment = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.path,
      SSL_CERT_FILE: testCertificates().ca,
      TF_CLI_CONFIG_FILE: config,
      CHECKPOINT_DISABLE: '1',
      TF_IN_AUTOMATION: '1',
      ...environment,
    }
  }

  /** Writes a file of the directory; returns its path. */
  write(name: string, content: string, mode = 0o644): string {
    const path = join(this.path, name)
    writeFileSync(path, content, { mode })
    return path
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), 'utf8')
  }

  /** Runs the CLI; what it prints is without colours and joined, as a person sees it. */
  run(...args: string[]): Promise<CliResult> {
    return this.start(...args).result
  }

  /** Starts the CLI, for who wants to send it a signal. */
  start(...args: string[]): { child: ChildProcess; result: Promise<CliResult> } {
    const { promise: result, resolve } = Promise.withResolvers<CliResult>()
    const child = execFile(
      this.#binary,
      [...args, '-no-color'],
      { cwd: this.path, env: this.#environment, timeout: 60_000 },
      (error, stdout, stderr) => {
        // Long messages are wrapped at the terminal's width, inside a frame.
        const output = (stdout + stderr).replace(/^[│╷╵ ]+/gm, '').replace(/\s+/g, ' ')
        resolve({ code: error ? Number(error.code ?? 1) : 0, output })
      },
    )
    return { child, result }
  }

  /** Forgets what was installed, keeping the lock file. */
  forgetInstalled(): void {
    rmSync(join(this.path, '.terraform'), { recursive: true, force: true })
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** Configuration that needs one provider, called `local` in it. */
export function requireProvider(source: string, version: string, local = 'it'): string {
  return `terraform {\n  required_providers {\n    ${local} = {\n      source  = "${source}"\n      version = "${version}"\n    }\n  }\n}\n`
}
