import type { Reporter, SerializedError, TestModule } from 'vitest/node'

/** Ends a run with what was left out and why, and one plain line for machines: `N passed, N failed`. */
export class Summary implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    const failed = count('failed') + unhandledErrors.length + countSetUpErrors(modules)
    const skipped = tests.length - count('passed') - count('failed')

    const reasons = tests
      .filter((test) => test.result().state === 'skipped')
      .map((test) => test.meta().needs)
      .filter((reason) => reason !== undefined)
    const lines = [...new Set(reasons)].map(
      (reason) => `left out: ${reasons.filter((other) => other === reason).length} tests ${reason}`,
    )
    if (process.env['PLINTH_TEST_DIALECTS'] === 'sqlite') {
      lines.push('left out: the tests on PostgreSQL: PLINTH_TEST_DIALECTS is sqlite')
    }
    lines.push(`${count('passed')} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
    process.stdout.write(`${lines.join('\n')}\n`)
  }
}

/** Errors outside of tests (a file that does not load, a hook that fails) make a run fail as well. */
function countSetUpErrors(modules: readonly TestModule[]): number {
  const suites = modules.flatMap((module) => [...module.children.allSuites()])
  return [...modules, ...suites].reduce((sum, part) => sum + part.errors().length, 0)
}
