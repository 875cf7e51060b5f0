import { expect, test } from 'vitest'
import { canonicalJson } from './canonical-json.ts'
import {
  type LogContent,
  type LogRecord,
  NO_RECORD,
  newLogKey,
  sealRecord,
  verifyExport,
  verifyLog,
} from './registry-log.ts'

const key = newLogKey()
const keys = [{ id: key.id, 'public-key': key.publicKey }]

const sealed = (sequence: number, previous: string, more: Partial<LogContent> = {}, by = key) =>
  sealRecord(
    {
      organization: { id: 'org-1', name: 'acme' },
      sequence,
      time: '2026-11-21T09:30:00.000Z',
      action: 'publish',
      subject: { kind: 'provider-version', name: 'demo', digests: { 'b.zip': 'ff', 'a.zip': '00' } },
      actor: { type: 'user', id: 'user-1', name: 'aïda' },
      previous,
      key: by.id,
      ...more,
    },
    by.privateKey,
  )

function chain(length: number, by = key): LogRecord[] {
  const records: LogRecord[] = []
  for (let n = 1; n <= length; n += 1) records.push(sealed(n, records.at(-1)?.hash ?? NO_RECORD, {}, by))
  return records
}

const five = chain(5)
const headOf = (records: readonly LogRecord[]) => {
  const { sequence, hash } = records.at(-1) as LogRecord
  return { sequence, hash }
}

/** The value with each of its texts and numbers changed a little, one at a time, and without each property. */
function* mutations(value: unknown): Generator<unknown> {
  if (typeof value === 'string') {
    for (const at of [0, value.length - 1])
      yield value.slice(0, at) + String.fromCharCode(value.charCodeAt(at) ^ 1) + value.slice(at + 1)
    if (value !== value.toUpperCase()) yield value.toUpperCase()
  } else if (typeof value === 'number') {
    yield value + 1
  } else {
    for (const [name, property] of Object.entries(value as object)) {
      for (const changed of mutations(property)) yield { ...(value as object), [name]: changed }
      const { [name]: _, ...rest } = value as Record<string, unknown>
      yield rest
    }
    yield { ...(value as object), more: 1 }
  }
}

test('a log that nobody touched is in order, and says where it ends', async () => {
  expect(await verifyLog(five, keys)).toEqual({ ok: true, head: headOf(five) })
  expect(await verifyLog([], keys)).toEqual({ ok: true, head: undefined })
  // The order of properties is not the order in which they are hashed.
  const reversed = five.map((record) => Object.fromEntries(Object.entries(record).reverse()))
  expect(await verifyLog(reversed, keys)).toMatchObject({ ok: true })
})

test('whatever is changed in a record is found', async () => {
  let count = 0
  for (const changed of mutations(five[2])) {
    const verdict = await verifyLog(five.with(2, changed as LogRecord), keys)
    expect([changed, verdict]).toEqual([changed, { ok: false, sequence: 3, why: expect.any(String) }])
    count += 1
  }
  expect(count).toBeGreaterThan(60)
})

test('records that were removed, added, moved or cut off are found', async () => {
  const [one, two, three, four, last] = five as [LogRecord, LogRecord, LogRecord, LogRecord, LogRecord]
  const since = headOf(five)
  const other = chain(5, newLogKey())
  const cases: [string, unknown[], number | undefined, RegExp][] = [
    ['without the second', [one, three, four, last], 2, /record 3 is in its place/],
    ['without the first', [two, three], 2, /begin with number 2/],
    ['turned around', [one, three, two], 2, /record 3 is in its place/],
    ['one twice', [one, two, two], 3, /record 2 is in its place/],
    ['one added', [one, two, sealed(3, one.hash), four], 3, /does not refer/],
    ['another branch', [one, two, sealed(3, two.hash, { action: 'revoke' }), four], 4, /does not refer/],
    [
      'another organization',
      [one, sealed(2, one.hash, { organization: { id: 'x', name: 'acme' } })],
      2,
      /another/,
    ],
    ['signed by somebody', [one, { ...sealed(2, one.hash, {}, newLogKey()) }], 2, /nobody knows the key/],
    ['all of it new', other, 1, /nobody knows the key/],
    ['a first that has a past', [sealed(1, one.hash)], 1, /refers to one before it/],
    ['no record', [one, null], 2, /not a record/],
    ['nothing like it', ['one'], undefined, /not a record/],
  ]
  for (const [name, records, sequence, why] of cases)
    expect([name, await verifyLog(records, keys)]).toEqual([
      name,
      { ok: false, sequence, why: expect.stringMatching(why) },
    ])
  // What is cut off at its end can be known only by who has seen it.
  expect(await verifyLog([one, two], keys)).toMatchObject({ ok: true })
  const ends = { ok: false, why: 'the log ends before record 5, which it had' }
  expect(await verifyLog([one, two], keys, since)).toEqual({ ...ends, sequence: 3 })
  expect(await verifyLog([], keys, since)).toEqual({ ...ends, sequence: undefined })
})

test('a log that was seen before leads on from there, or was rewound', async () => {
  const since = headOf(five.slice(0, 3))
  expect(await verifyLog(five, keys, since)).toMatchObject({ ok: true })
  expect(await verifyLog(five.slice(2), keys, since)).toEqual({ ok: true, head: headOf(five) })
  expect(await verifyLog(five.slice(3), keys, since)).toMatchObject({ ok: false, sequence: 4 })
  // A backup of two records was restored, and others written since.
  const [one, two] = five as [LogRecord, LogRecord]
  const third = sealed(3, two.hash, { action: 'delete' })
  const rewound = [one, two, third, sealed(4, third.hash)]
  expect(await verifyLog(rewound, keys)).toMatchObject({ ok: true })
  for (const records of [rewound, rewound.slice(2)])
    expect(await verifyLog(records, keys, since)).toEqual({
      ok: false,
      sequence: 3,
      why: 'it is another record than the one that was there before',
    })
})

test('a key is known by what it is, not by what it is called', async () => {
  const other = newLogKey()
  const swapped = [{ id: key.id, 'public-key': other.publicKey }]
  expect(await verifyLog(chain(1, other), swapped)).toMatchObject({ ok: false, sequence: 1 })
  const both = [{ id: other.id, 'public-key': other.publicKey }, ...keys]
  const renewed = [...five, sealed(6, headOf(five).hash, {}, other)]
  expect(await verifyLog(renewed, both)).toMatchObject({ ok: true, head: { sequence: 6 } })
})

test('an export is checked line by line, to where it says that it ends', async () => {
  const header = { organization: { id: 'org-1', name: 'acme' }, head: headOf(five), keys }
  const lines = [header, ...five].map((line) => JSON.stringify(line))
  expect(await verifyExport([...lines, ''])).toEqual({ header, verdict: { ok: true, head: headOf(five) } })
  expect((await verifyExport(lines.slice(0, 4))).verdict).toEqual({
    ok: false,
    sequence: 4,
    why: 'the log ends before record 5, where it says that it does',
  })
  const empty = { ...header, head: null }
  expect((await verifyExport([JSON.stringify(empty)])).verdict).toEqual({ ok: true, head: undefined })
  for (const first of ['{}', '[]', 'null', '"x"', 'x', '', '{"organization":{},"keys":[1]}'])
    await expect(verifyExport([first])).rejects.toThrow(SyntaxError)
})

test('canonical JSON is that of RFC 8785, for whole numbers', () => {
  const value = {
    '\u20ac': 'Euro Sign',
    '\r': 'Carriage Return',
    '\ufb33': 'Hebrew Letter Dalet With Dagesh',
    '1': 'One',
    '\ud83d\ude00': 'Emoji: Grinning Face',
    '\u0080': 'Control',
    '\u00f6': 'Latin Small Letter O With Diaeresis',
    literals: [null, true, false, 4],
    absent: undefined,
  }
  expect(canonicalJson(value)).toBe(
    '{"\\r":"Carriage Return","1":"One","literals":[null,true,false,4],"\u0080":"Control",' +
      '"\u00f6":"Latin Small Letter O With Diaeresis","\u20ac":"Euro Sign",' +
      '"\ud83d\ude00":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
  )
  expect(() => canonicalJson(1.5)).toThrow(TypeError)
  expect(() => canonicalJson({ a: '\ud800' })).toThrow(TypeError)
})
