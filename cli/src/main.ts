#!/usr/bin/env node
// The only reader of process: environment, arguments, signals and streams.

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`plinth needs Node.js 22.18 or newer; this is ${process.versions.node}.\n`)
  process.exitCode = 2
} else {
  const { run } = await import('./program.ts')
  const interruption = new AbortController()
  // Once, so that a second Ctrl-C ends the program at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interruption.abort(signal))
  // Whoever reads may have seen enough, as `head` has; what is left to do is done.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
  }
  process.exitCode = await run(process.argv.slice(2), {
    env: process.env,
    stdout: process.stdout,
    stderr: process.stderr,
    signal: interruption.signal,
  })
}
