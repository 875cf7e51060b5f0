import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { run } from '../../cli/src/program.ts'
import { TestServer } from '../harness.ts'
import { testCertificates } from '../tls.ts'

const MAIN = join(import.meta.dirname, '../../cli/src/main.ts')

/** How the client command ended. */
export interface PlinthResult {
  code: number
  stdout: string
  stderr: string
}

/** The environment that a pipeline gives it; nothing of this machine's. */
export function environmentOf(server: { url: string }, token: string | undefined) {
  return {
    PATH: process.env['PATH'],
    HOME: tmpdir(),
    GNUPGHOME: join(tmpdir(), 'no-keyring'),
    NODE_EXTRA_CA_CERTS: testCertificates().ca,
    PLINTH_SERVER: server.url,
    ...(token && { PLINTH_TOKEN: token }),
  }
}

type Environment = Record<string, string | undefined>

/** Starts the command as a program, for who wants to send it a signal. */
export function startPlinth(args: string[], environment: Environment, main = MAIN) {
  const child = spawn(process.execPath, [main, ...args], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const result = Promise.all([
    new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1))),
    text(child.stdout),
    text(child.stderr),
  ]).then(([code, stdout, stderr]) => checked({ code, stdout, stderr }, environment))
  return { child, result }
}

/** The same in this process, which is much faster: all but what main.ts does. */
export async function callPlinth(args: string[], environment: Environment): Promise<PlinthResult> {
  const streams = { stdout: new PassThrough(), stderr: new PassThrough() }
  const code = await run(args, {
    env: environment,
    stdout: streams.stdout as unknown as NodeJS.WriteStream,
    stderr: streams.stderr as unknown as NodeJS.WriteStream,
    signal: new AbortController().signal,
  })
  const [stdout, stderr] = await Promise.all([streams.stdout, streams.stderr].map((each) => text(each.end())))
  return checked({ code, stdout: stdout ?? '', stderr: stderr ?? '' }, environment)
}

/** Nothing that it prints holds a secret. */
function checked(result: PlinthResult, environment: Environment): PlinthResult {
  for (const output of [result.stdout, result.stderr]) {
    expect(output).not.toContain(environment['PLINTH_TOKEN'] ?? 'Bearer')
    expect(output).not.toMatch(/\/storage\//)
  }
  return result
}

/** Declares tests of the client that say nothing of the database; the server runs while they do. */
export function withServer(name: string, declare: (server: TestServer) => void): void {
  describe(name, () => {
    const server = new TestServer('sqlite')
    beforeAll(() => server.start())
    afterAll(() => server.stop())
    declare(server)
  })
}
