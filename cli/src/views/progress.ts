import { MultiBar, type SingleBar } from 'cli-progress'
import type { Io } from '../io.ts'
import type { Observer, Progress } from '../observer.ts'
import { findingLines, sizeText } from './text.ts'

/** Shows progress on standard error. */
export interface ProgressView {
  observe: Observer
  /** Ends what moves on the screen. */
  finish: () => void
}

export const SILENT: ProgressView = { observe: () => undefined, finish: () => undefined }

/** Bars on a terminal, lines elsewhere. */
export function progressOf({ stderr, env }: Io): ProgressView {
  return stderr.isTTY && !env['CI'] && env['TERM'] !== 'dumb' ? bars(stderr) : lines(stderr)
}

function lines(stderr: NodeJS.WriteStream): ProgressView {
  return {
    observe: (progress) => {
      if (progress.type === 'upload' && !progress.isDone) return
      stderr.write(`${lineOf(progress)}\n`)
    },
    finish: () => undefined,
  }
}

function bars(stderr: NodeJS.WriteStream): ProgressView {
  const shown = new Map<string, SingleBar>()
  let multibar: MultiBar | undefined
  const open = () => {
    multibar ??= new MultiBar({
      stream: stderr,
      hideCursor: true,
      clearOnComplete: false,
      format: '  {bar} {percentage}% of {sizeText}  {file}',
      barsize: 24,
    })
    return multibar
  }
  const observe: Observer = (progress) => {
    if (progress.type !== 'upload') {
      // Above the bars, which are drawn again below it.
      if (multibar) multibar.log(`${lineOf(progress)}\n`)
      else stderr.write(`${lineOf(progress)}\n`)
      return
    }
    const { file, size, sent } = progress
    const bar = shown.get(file) ?? open().create(size, 0, { file, sizeText: sizeText(size) })
    shown.set(file, bar)
    bar.update(sent)
  }
  return { observe, finish: () => multibar?.stop() }
}

function lineOf(progress: Progress): string {
  if (progress.type === 'step') return progress.text
  if (progress.type === 'finding') return findingLines(progress.finding)
  if (progress.type === 'upload') return `uploaded ${progress.file} (${sizeText(progress.size)})`
  return `${progress.reason}; trying again in ${(progress.delayMs / 1000).toFixed(1)} s`
}
