import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { LostExecution } from './channel.ts'
import { RunLog } from './log.ts'

const nothing = () => {}

test('a log arrives soon, in order, and each byte once', async () => {
  const pieces: [number, string][] = []
  const log = new RunLog(
    async (start, text) => void pieces.push([start, text]),
    new AbortController().signal,
    nothing,
  )
  await log.write('é')
  await log.write('one\n')
  await expect.poll(() => pieces, { timeout: 200, interval: 10 }).toEqual([[0, 'éone\n']])
  await log.write('𝄞'.repeat(80_000))
  await log.flush()
  expect(pieces.map(([, text]) => text).join('')).toBe(`éone\n${'𝄞'.repeat(80_000)}`)
  let at = 0
  for (const [start, text] of pieces) {
    expect(start).toBe(at)
    expect(text.isWellFormed()).toBe(true)
    at += Buffer.byteLength(text)
  }
})

test('a log waits for a server that is away, and repeats what it is not sure of', async () => {
  const starts: number[] = []
  let text = ''
  const log = new RunLog(
    async (start, piece) => {
      starts.push(start)
      text = text.slice(0, start) + piece
      if (starts.length === 2) throw new Error('the answer was lost')
    },
    new AbortController().signal,
    nothing,
  )
  for (const line of ['one', 'two', 'three']) {
    await log.write(line)
    await log.flush()
  }
  expect(text).toBe('onetwothree')
  expect(starts).toEqual([0, 3, 3, 6])
})

test('a log that is another’s takes no more', async () => {
  let calls = 0
  let lost = 0
  const log = new RunLog(
    async () => {
      calls++
      throw new LostExecution()
    },
    new AbortController().signal,
    () => void lost++,
  )
  await log.write('one')
  await log.flush()
  await log.write('two')
  await log.flush()
  expect([calls, lost]).toEqual([1, 1])
})

test('a log makes its writers wait when too much waits', async () => {
  const { promise: open, resolve } = Promise.withResolvers<void>()
  const log = new RunLog(() => open, new AbortController().signal, nothing)
  await log.write('x'.repeat(2 ** 20))
  let written = false
  const more = log.write('x'.repeat(2 ** 23)).then(() => {
    written = true
  })
  await sleep(150)
  expect(written).toBe(false)
  resolve()
  await more
})
