import { describe, expect, test } from 'vitest'
import { jsonFilter, textFilter } from './filter.ts'
import { MASK, Masker, maskOf } from './mask.ts'

/** Masks a text that comes in pieces of a size. */
function inPieces(text: string, size: number, values: string[]): string {
  const masker = new Masker(values)
  const pieces = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []
  return pieces.map((piece) => masker.push(piece)).join('') + masker.end()
}

describe('masking', () => {
  const values = ['hunter2', 'hunter2-and-more', 'two\nlong lines of it\n', 'quo"te<d>', 'aab', 'x']
  const texts = [
    'the password is hunter2.',
    'hunter2hunter2-and-morehunter2-and-mor',
    `in JSON ${JSON.stringify('quo"te<d>')} or "quo\\"te\\u003cd\\u003e" or ${JSON.stringify(JSON.stringify('quo"te<d>'))}`,
    `in base64 ${Buffer.from('hunter2-and-more').toString('base64')}`,
    '   | long lines of it',
    'aaaaaab aab aaa',
    'x is too short to be a secret',
  ]

  test('finds values in every spelling, wherever the text is cut', () => {
    expect(maskOf(values)(texts.join('\n'))).toMatchInlineSnapshot(`
      "the password is ***.
      *********-and-mor
      in JSON "***" or "***" or "\\"***\\""
      in base64 ***==
         | ***
      aaaa*** *** aaa
      x is too short to be a secret"
    `)
    for (const text of texts) {
      for (let size = 1; size <= text.length; size++)
        expect(inPieces(text, size, values)).toBe(maskOf(values)(text))
    }
  })

  test('holds back no more than what may be a value', () => {
    const masker = new Masker(['hunter2'])
    expect(masker.push('the hunt')).toBe('the ')
    expect(masker.push('ing hunte')).toBe('hunting ')
    expect(masker.end()).toBe('hunte')
  })
})

describe('what programs print', () => {
  test('becomes valid text, wherever it is cut', () => {
    const bytes = Buffer.concat([Buffer.from('é𝄞\0\x02\x03'), Buffer.from([0xff, 0xc3])])
    for (const size of [1, 2, 3, 99]) {
      const filter = textFilter([])
      let text = ''
      for (let at = 0; at < bytes.length; at += size) text += filter.push(bytes.subarray(at, at + size))
      expect(text + filter.end()).toBe('é𝄞\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD')
    }
  })

  test('stays JSON where it is JSON', () => {
    const events: unknown[] = []
    const filter = jsonFilter(['info', '12345', 'apply', 'a "b"'], (event) => events.push(event))
    const event = {
      '@level': 'info',
      '@message': 'for your info: a "b"',
      type: 'apply_start',
      outputs: { n: { value: 12345, type: 'number' }, m: { value: [{ apply: 'apply' }, null, true] } },
    }
    const line = `${JSON.stringify(event)}\n`
    const written =
      filter.push(Buffer.from(line.slice(0, 20))) +
      filter.push(Buffer.from(`${line.slice(20)}{"info`)) +
      filter.end()
    const [first = '', second] = written.split('\n')
    expect(JSON.parse(first)).toEqual({
      '@level': 'info',
      '@message': `for your ${MASK}: ${MASK}`,
      type: 'apply_start',
      outputs: { n: { value: MASK, type: 'number' }, m: { value: [{ apply: MASK }, null, true] } },
    })
    expect(second).toBe(`{"${MASK}`)
    expect(events).toEqual([event])
  })
})
