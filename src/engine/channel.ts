import type { Readable } from 'node:stream'

/** A variable of a workspace or a set, as a run gets it. */
export interface RunVariable {
  key: string
  value: string
  /** Whether the value is an expression of HCL. */
  hcl: boolean
  /** Whether the value must not be seen in the log. */
  sensitive: boolean
  /** Whether it beats the run's own variables: it is of a set with priority. */
  priority?: boolean
}

/** What site administrators say of a version of the engine. */
export interface EngineVersion {
  version: string
  /** Whether runs may use it. */
  enabled: boolean
  /** Whether it must be named to be used. */
  beta: boolean
  /** Where it is fetched from, by platforms such as `linux_amd64`; `sha` is the SHA-256 of the zip, hexadecimal. */
  archives: { platform: string; url: string; sha: string }[]
}

/** How a run installs providers of other hosts, where its organization has a list of them. */
export interface ProviderMirror {
  /** Hosts with listed providers, and where the mirror speaks the registry protocol for each, with a slash at the end. */
  hosts: { host: string; providers: string }[]
  /** The list: patterns in the form of the engine's own configuration. */
  allowed: string[]
  /** Whether other providers are installed from where they come from, or not at all. */
  others: boolean
}

/** All that a worker has to know to carry out one phase of a run. */
export interface Assignment {
  executionId: string
  phase: 'plan' | 'apply'
  run: {
    id: string
    isDestroy: boolean
    refresh: boolean
    refreshOnly: boolean
    planOnly: boolean
    allowConfigGeneration: boolean
    debuggingMode: boolean
    /** Whether the log is JSON lines. */
    structuredOutput: boolean
    targetAddrs: string[]
    replaceAddrs: string[]
    /** Values are expressions of HCL. */
    variables: { key: string; value: string }[]
  }
  organization: string
  project: string
  workspace: { id: string; name: string; workingDirectory: string }
  /** A version, a constraint, or `latest`. */
  terraformVersion: string
  /** Versions that are not as all others are; there need be none. */
  engineVersions?: EngineVersion[]
  /** Variables of the configuration, the more important ones later. */
  terraformVariables: RunVariable[]
  environmentVariables: RunVariable[]
  /** A private key for fetching modules, if the workspace has one. */
  sshKey: string | undefined
  /** The public address of the server, for the registry. */
  serverUrl: string
  /** What the run may read from the server; it ends with the phase. */
  token: string
  /** Where providers come from; all of them from where they are when there is none. */
  mirror?: ProviderMirror
  /** Where to `PUT` a state that the server cannot accept; needs no token and no database. */
  recoveryUrl: string
  /** The apply whose state that would be. */
  applyId: string
  /** Seconds after which the phase is stopped. */
  timeout: number
  /** A failure must not be told before this moment, so that clients have seen the phase before. */
  holdFailureUntil: string | undefined
}

/** The files of a run that a worker fetches. `state` is the raw state, which there need not be. */
export type Fetched = 'configuration' | 'state' | 'plan' | 'lock-file'

/** The files of a plan that a worker hands over. */
export type Produced = 'plan' | 'lock-file' | 'json-output' | 'json-output-redacted' | 'json-schema'

/** Counts of managed resources. */
export interface Counts {
  additions: number
  changes: number
  destructions: number
  imports: number
}

/** How a phase ended. */
export interface Outcome {
  status: 'finished' | 'errored' | 'canceled'
  /** Why it errored, in one sentence for people; also in the log. */
  error?: string
  /** Of a plan. */
  hasChanges?: boolean
  generatedConfiguration?: boolean
  counts?: Counts
}

/** What a worker tells of itself once it knows. */
export interface Report {
  /** The exact version of the engine. */
  terraformVersion: string
  sandbox: 'bwrap' | 'none'
}

/** The worker no longer holds the execution: it must end everything, and its word counts no more. */
export class LostExecution extends Error {
  override name = 'LostExecution'
}

/** The server will not take a state, now or later; `retryable` failures are other errors. */
export class StateRefused extends Error {
  override name = 'StateRefused'
}

/**
 * How a worker speaks with the server: by calls in the same process, or over HTTPS from anywhere. Every call about an
 * execution throws `LostExecution` once the worker does not hold it any more; other errors may pass, and are tried again.
 */
export interface Channel {
  /** The next phase to carry out; waits a while for one. */
  claim: (signal: AbortSignal) => Promise<Assignment | undefined>
  /** Says that the worker lives; returns whether the execution shall stop, gently or at once. */
  heartbeat: (executionId: string) => Promise<'cancel' | 'force' | null>
  report: (executionId: string, report: Report) => Promise<void>
  /** Appends text that stands at byte `start` of what this worker has written; told twice, it is kept once. */
  appendLog: (executionId: string, start: number, text: string) => Promise<void>
  /** Undefined when there is none. */
  fetch: (executionId: string, file: Fetched) => Promise<Readable | undefined>
  /** `path` is of a file on this machine. */
  produce: (executionId: string, file: Produced, path: string) => Promise<void>
  /** Makes the raw state (and the same as JSON, if there is one) the workspace's. Throws `StateRefused`. */
  saveState: (executionId: string, path: string, jsonPath: string | undefined) => Promise<void>
  /** Keeps a state that could not be saved. */
  keepErroredState: (assignment: Assignment, path: string) => Promise<void>
  finish: (executionId: string, outcome: Outcome) => Promise<void>
}
