import { expect, test } from 'vitest'
import { Flights } from './flights.ts'

test('work that several want is done once, and anew once it has ended', async () => {
  const flights = new Flights()
  let done = 0
  const work = async () => {
    done += 1
    return done
  }
  const both = [flights.join('a', undefined, work), flights.join('a', undefined, work)]
  expect(await Promise.all(both)).toEqual([1, 1])
  expect(await flights.join('a', undefined, work)).toBe(2)
  expect(await flights.join('b', undefined, work)).toBe(3)
})

test('everybody is told why it failed', async () => {
  const flights = new Flights()
  const work = () => Promise.reject(new Error('broken'))
  const both = [flights.join('a', undefined, work), flights.join('a', undefined, work)]
  for (const each of both) await expect(each).rejects.toThrow('broken')
})

test('it is given up when the last has left, and not before', async () => {
  const flights = new Flights()
  const [first, second] = [new AbortController(), new AbortController()]
  let given: AbortSignal | undefined
  const work = (signal: AbortSignal) => {
    given = signal
    return new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(new Error('given up')))
    })
  }
  const waiting = [flights.join('a', first.signal, work), flights.join('a', second.signal, work)]
  first.abort(new Error('left'))
  await expect(waiting[0]).rejects.toThrow('left')
  expect(given?.aborted).toBe(false)
  second.abort(new Error('left too'))
  await expect(waiting[1]).rejects.toThrow('left too')
  expect(given?.aborted).toBe(true)
  // Whoever comes now is not told of what was given up.
  expect(await flights.join('a', undefined, async () => 'new')).toBe('new')
  await expect(flights.join('a', first.signal, work)).rejects.toThrow('left')
})
