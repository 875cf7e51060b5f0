/** How the program ends; scripts can tell these apart. docs/publishing.md lists them. */
export const EXITS = {
  unexpected: 1,
  usage: 2,
  release: 3,
  access: 4,
  conflict: 5,
  transport: 6,
  interrupted: 130,
} as const

export type Exit = keyof typeof EXITS

/** A failure that the person who called the program can do something about. */
export class CliError extends Error {
  override name = 'CliError'
  readonly exit: Exit
  /** One line each. */
  readonly details: readonly string[]
  readonly advice: string | undefined

  constructor(
    exit: Exit,
    message: string,
    { details = [], advice, cause }: { details?: readonly string[]; advice?: string; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.exit = exit
    this.details = details
    this.advice = advice
  }
}
