import type { Finding } from './release/release.ts'

/** What happens while a command works; views show it. */
export type Progress =
  | { type: 'step'; text: string }
  | { type: 'finding'; finding: Finding }
  | { type: 'upload'; file: string; size: number; sent: number; isDone?: boolean }
  | { type: 'retry'; reason: string; delayMs: number }

export type Observer = (progress: Progress) => void
