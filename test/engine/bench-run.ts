import { writeFile } from 'node:fs/promises'
import type { Assignment, Outcome } from '../../src/engine/channel.ts'
import { newId } from '../../src/lib/ids.ts'
import type { DirectoryChannel } from './directory-channel.ts'

/** What differs from a run of the plainest kind. */
export interface Wish {
  run?: Partial<Assignment['run']>
  assignment?: Partial<Omit<Assignment, 'run'>>
}

/** A run, whose phases are queued by `plan` and `apply`. */
export class BenchRun {
  readonly id: string
  readonly #channel: DirectoryChannel
  readonly #wish: Wish

  constructor(channel: DirectoryChannel, wish: Wish, id = newId('run')) {
    this.id = id
    this.#channel = channel
    this.#wish = wish
  }

  async upload(slug: Buffer): Promise<void> {
    await writeFile(this.#channel.file(this.id, 'configuration'), slug)
  }

  plan(): Promise<Outcome> {
    return this.#channel.run(this.#assignment('plan'))
  }

  apply(): Promise<Outcome> {
    return this.#channel.run(this.#assignment('apply'))
  }

  execution(phase: 'plan' | 'apply'): string {
    return `${this.id}-${phase}`
  }

  log(phase: 'plan' | 'apply'): string {
    return this.#channel.log(this.execution(phase))
  }

  json(name: string) {
    return this.#channel.json(this.id, name)
  }

  #assignment(phase: 'plan' | 'apply'): Assignment {
    return {
      executionId: this.execution(phase),
      phase,
      run: {
        id: this.id,
        isDestroy: false,
        refresh: true,
        refreshOnly: false,
        planOnly: false,
        allowConfigGeneration: false,
        debuggingMode: false,
        structuredOutput: true,
        targetAddrs: [],
        replaceAddrs: [],
        variables: [],
        ...this.#wish.run,
      },
      organization: 'acme',
      project: 'Default Project',
      workspace: { id: 'ws-1', name: 'network', workingDirectory: '' },
      terraformVersion: 'latest',
      terraformVariables: [],
      environmentVariables: [],
      sshKey: undefined,
      serverUrl: 'https://plinth.example.com',
      token: 'plinth_token-of-the-run',
      recoveryUrl: 'https://plinth.example.com/recovery',
      applyId: 'apply-1',
      timeout: 120,
      holdFailureUntil: undefined,
      ...this.#wish.assignment,
    }
  }
}
