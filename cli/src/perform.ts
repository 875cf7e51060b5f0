import { inspect } from 'node:util'
import { CliError, EXITS } from './errors.ts'
import type { Io } from './io.ts'
import type { Observer } from './observer.ts'
import { FindingsError } from './release/findings-error.ts'
import { progressOf, SILENT } from './views/progress.ts'
import { errorLines, findingLines } from './views/text.ts'

/** How the result of a command is shown: to people, and as one document to programs. */
export interface ResultView<T> {
  textOf: (result: T) => string
  jsonOf: (result: T) => object
}

/** Runs a command and shows what comes of it; returns the exit code. */
export async function perform<T>(
  io: Io,
  { json = false }: { json?: boolean },
  view: ResultView<T>,
  command: (observe: Observer) => Promise<T>,
): Promise<number> {
  const progress = json ? SILENT : progressOf(io)
  try {
    const result = await command(progress.observe)
    progress.finish()
    io.stdout.write(json ? `${JSON.stringify(view.jsonOf(result), null, 2)}\n` : view.textOf(result))
    return 0
  } catch (thrown) {
    progress.finish()
    const error = io.signal.aborted ? INTERRUPTED : toCliError(thrown)
    if (json) io.stdout.write(`${JSON.stringify(errorDocument(error), null, 2)}\n`)
    else io.stderr.write(errorText(error))
    return EXITS[error.exit]
  }
}

const INTERRUPTED = new CliError('interrupted', 'interrupted', {
  advice: 'The same command again goes on where this one ended.',
})

function toCliError(thrown: unknown): CliError {
  if (thrown instanceof CliError) return thrown
  return new CliError('unexpected', 'something went wrong that should not', {
    details: inspect(thrown).split('\n'),
  })
}

function errorText(error: CliError): string {
  const findings =
    error instanceof FindingsError ? error.findings.map((each) => `${findingLines(each)}\n`) : []
  return `${findings.join('')}${errorLines(error)}\n`
}

function errorDocument(error: CliError): object {
  const { exit, message, details, advice } = error
  return {
    status: 'failed',
    error: { kind: exit, 'exit-code': EXITS[exit], message, details, ...(advice && { advice }) },
    ...(error instanceof FindingsError && { findings: error.findings }),
  }
}
