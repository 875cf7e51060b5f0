import {
  appendFileSync,
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Assignment,
  type Channel,
  type Fetched,
  LostExecution,
  type Outcome,
  type Produced,
  type Report,
} from '../../src/engine/channel.ts'

type Calls = Omit<Channel, 'claim'>

/** A server that is a directory: what is queued in it is carried out, and what comes of it lies in it. */
export class DirectoryChannel implements Channel {
  readonly path: string
  readonly #queue: Assignment[] = []
  readonly #outcomes = new Map<string, PromiseWithResolvers<Outcome>>()
  readonly #orders = new Map<string, 'cancel' | 'force'>()
  readonly #lost = new Set<string>()
  readonly reports = new Map<string, Report>()
  /** Asked before each call; what it throws is the call's failure. */
  onCall: (call: keyof Calls, executionId: string) => void = () => {}

  constructor(path: string) {
    this.path = path
    mkdirSync(path, { recursive: true })
  }

  /** Where the files of a run, or of an execution, lie. */
  file(id: string, name: string): string {
    mkdirSync(join(this.path, id), { recursive: true })
    return join(this.path, id, name)
  }

  read(id: string, name: string): string {
    return readFileSync(this.file(id, name), 'utf8')
  }

  json(id: string, name: string) {
    return JSON.parse(this.read(id, name))
  }

  /** The state of the workspace, which all runs of this channel have in common. */
  get statePath(): string {
    return this.file('workspace', 'state')
  }

  state() {
    return existsSync(this.statePath) ? JSON.parse(readFileSync(this.statePath, 'utf8')) : undefined
  }

  /** Queues a phase; resolves with its outcome. */
  run(assignment: Assignment): Promise<Outcome> {
    const outcome = Promise.withResolvers<Outcome>()
    this.#outcomes.set(assignment.executionId, outcome)
    this.#queue.push(assignment)
    return outcome.promise
  }

  order(executionId: string, how: 'cancel' | 'force'): void {
    this.#orders.set(executionId, how)
  }

  /** Gives the execution to somebody else. */
  lose(executionId: string): void {
    this.#lost.add(executionId)
  }

  log(executionId: string): string {
    const path = this.file(executionId, 'log')
    return existsSync(path) ? readFileSync(path, 'utf8') : ''
  }

  async claim(signal: AbortSignal): Promise<Assignment | undefined> {
    for (let tries = 0; tries < 100 && !signal.aborted; tries++) {
      const next = this.#queue.shift()
      if (next) return next
      await sleep(20)
    }
    return undefined
  }

  async heartbeat(id: string) {
    this.#check('heartbeat', id)
    return this.#orders.get(id) ?? null
  }

  async report(id: string, report: Report): Promise<void> {
    this.#check('report', id)
    this.reports.set(id, report)
  }

  async appendLog(id: string, start: number, text: string): Promise<void> {
    this.#check('appendLog', id)
    const path = this.file(id, 'log')
    const size = existsSync(path) ? statSync(path).size : 0
    if (start > size) throw new Error(`the log has ${size} bytes, and not ${start}`)
    if (start < size) truncateSync(path, start)
    appendFileSync(path, text)
  }

  async fetch(id: string, file: Fetched): Promise<Readable | undefined> {
    this.#check('fetch', id)
    const path = file === 'state' ? this.statePath : this.file(runOf(id), file)
    return existsSync(path) ? createReadStream(path) : undefined
  }

  async produce(id: string, file: Produced, path: string): Promise<void> {
    this.#check('produce', id)
    copyFileSync(path, this.file(runOf(id), file))
  }

  async saveState(id: string, path: string, jsonPath: string | undefined): Promise<void> {
    this.#check('saveState', id)
    copyFileSync(path, this.statePath)
    if (jsonPath) copyFileSync(jsonPath, this.file('workspace', 'json'))
  }

  async keepErroredState(assignment: Assignment, path: string): Promise<void> {
    this.onCall('keepErroredState', assignment.executionId)
    copyFileSync(path, this.file(assignment.run.id, 'errored-state'))
  }

  async finish(id: string, outcome: Outcome): Promise<void> {
    this.#check('finish', id)
    writeFileSync(this.file(id, 'outcome'), JSON.stringify(outcome))
    this.#outcomes.get(id)?.resolve(outcome)
  }

  #check(call: keyof Calls, id: string): void {
    this.onCall(call, id)
    if (this.#lost.has(id)) throw new LostExecution()
  }
}

/** Executions of this channel are named after their run. */
function runOf(executionId: string): string {
  return executionId.replace(/-(plan|apply)$/, '')
}
