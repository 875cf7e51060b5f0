import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '..')

interface Line {
  text: string
  /** Tests by file, each by the beginning of its name. */
  shownBy: { file: string; titles: string[] }[]
}

/** The lines of docs/compatibility.md that say how something is; the rules above them are no such lines. */
function readLines(text: string): Line[] {
  const body = text.slice(text.indexOf('\n## '))
  return body.split(/\n(?=- )/).flatMap((block) => {
    if (!block.startsWith('- ')) return []
    const [item = ''] = block.split(/\n(?! )/)
    const [first = '', ...references] = item.split(/\n {2}→ /)
    return [{ text: first.replace(/\s+/g, ' '), shownBy: references.map(parseReference) }]
  })
}

function parseReference(text: string): { file: string; titles: string[] } {
  const [, file = '', titles = ''] = /^`([^`]+)`: (.+)$/s.exec(text.replace(/\s+/g, ' ').trim()) ?? []
  return { file: /^(src|test)\//.test(file) ? file : `src/features/${file}`, titles: titles.split('; ') }
}

/** What is wrong with where a line says that it is shown; empty when nothing is. */
function problemsOf({ shownBy }: Line): string[] {
  if (shownBy.length === 0) return ['names no test']
  return shownBy.flatMap(({ file, titles }) => {
    if (!file.endsWith('.test.ts') || !existsSync(join(ROOT, file))) return [`${file} is no file of tests`]
    const source = readFileSync(join(ROOT, file), 'utf8')
    return titles.filter((title) => !hasTest(source, title)).map((title) => `${file} has no test “${title}”`)
  })
}

/** Whether a call in `source` has a text that begins with `title` as its first argument, as tests have. */
function hasTest(source: string, title: string): boolean {
  return title !== '' && new RegExp(`\\(\\s*['"\`]${escaped(title)}`).test(source)
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

describe('docs/compatibility.md', () => {
  const lines = readLines(readFileSync(join(ROOT, 'docs/compatibility.md'), 'utf8'))

  test('has lines', () => {
    expect(lines.length).toBeGreaterThan(70)
  })

  test.each(lines)('names tests that exist: $text', (line) => {
    expect(problemsOf(line)).toEqual([])
  })
})

describe('the check', () => {
  const check = (reference: string) => readLines(`# Title\n\n## Part\n\n- A line\n  of text.${reference}\n`)

  test.each([
    ['', 'names no test'],
    ['\n  → `test/none.test.ts`: a title', 'test/none.test.ts is no file of tests'],
    ['\n  → `none/none.test.ts`: a title', 'src/features/none/none.test.ts is no file of tests'],
    ['\n  → `test/harness.ts`: teamToken', 'test/harness.ts is no file of tests'],
    [
      '\n  → `test/compatibility.test.ts`: has no lines',
      'test/compatibility.test.ts has no test “has no lines”',
    ],
    ['\n  → `test/compatibility.test.ts`:', ' is no file of tests'],
    ['\n  → test/compatibility.test.ts: has lines', ' is no file of tests'],
  ])('finds what is wrong with %j', (reference, problem) => {
    const [line] = check(reference) as [Line]
    expect(line.text).toBe('- A line of text.')
    expect(problemsOf(line)).toEqual([expect.stringContaining(problem)])
  })

  test('takes several tests of several files, also where a line breaks', () => {
    const reference =
      '\n  → `test/compatibility.test.ts`: has lines; names tests\n    that exist\n  → `src/lib/links.test.ts`: links'
    expect(check(reference).map(problemsOf)).toEqual([[]])
  })
})
