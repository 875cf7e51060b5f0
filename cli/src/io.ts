/** What the program has of the world around it. */
export interface Io {
  env: Readonly<Record<string, string | undefined>>
  /** For results. */
  stdout: NodeJS.WriteStream
  /** For progress and errors. */
  stderr: NodeJS.WriteStream
  /** Aborted by Ctrl-C. */
  signal: AbortSignal
}
