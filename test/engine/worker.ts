import { join } from 'node:path'
import { Runner } from '../../src/engine/runner.ts'
import { BenchRun } from './bench-run.ts'
import { DirectoryChannel } from './directory-channel.ts'
import { runnerOptions } from './runner-options.ts'

// A worker as a process of its own, to be killed: plans and applies one run of a bench.

const [path = '', binary = '', id = ''] = process.argv.slice(2)
const channel = new DirectoryChannel(join(path, 'server'))
new Runner(channel, await runnerOptions(path, binary)).start()
const run = new BenchRun(channel, {}, id)
await run.plan()
await run.apply()
