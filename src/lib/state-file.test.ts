import { expect, test } from 'vitest'
import { parseOutputs, parseStateFile, StateFileError, withSerial } from './state-file.ts'

const parse = (state: unknown) =>
  parseStateFile(Buffer.from(typeof state === 'string' ? state : JSON.stringify(state)))

test('another serial changes the number of the state, and nothing else that is called so', () => {
  const text =
    '{ "outputs": {"serial": {"value": 1, "serial": 2}}, "a": "\\"serial\\": 3", "b": ["serial", {"serial": 4}],\n  "serial" : 5, "big": 12345678901234567890}'
  expect(withSerial(text, 6)).toBe(text.replace('"serial" : 5', '"serial" : 6'))
})

test.each(['{}', '{"outputs":{"serial":1}}', '{"a":"serial"}', '{"serial":"x"}'])(
  '%s has no serial',
  (text) => {
    expect(() => withSerial(text, 1)).toThrow(StateFileError)
  },
)

test.each([
  ['', 'it is not JSON'],
  ['{', 'it is not JSON'],
  ['[]', 'it is not a JSON object'],
  ['null', 'it is not a JSON object'],
  ['{"version":4,"outputs":[]}', 'its outputs are not an object'],
  ['{"version":4,"outputs":{"a":{"value":1}}}', 'its output "a" has no type'],
  ['{"version":4,"resources":{}}', 'its resources are not a list'],
  ['{"version":4,"resources":[{"mode":"managed","type":"t","name":"n"}]}', 'it has a resource without'],
  [
    '{"version":4,"resources":[{"mode":"managed","type":"t","name":"n","provider":"p","instances":[1]}]}',
    'it has a resource without',
  ],
])('%s is no state', (text, reason) => {
  expect(() => parse(text)).toThrow(reason)
})

test('of other forms, and of states that a client has encrypted, the head is read', () => {
  expect(parse({ version: 3, serial: 7, lineage: 'a', modules: [{}] })).toMatchObject({
    serial: 7,
    lineage: 'a',
    outputs: [],
  })
  const encrypted = { serial: 2, lineage: 'b', encrypted_data: 'x', encryption_version: 'v0' }
  expect(parse(encrypted)).toMatchObject({ serial: 2, lineage: 'b', formatVersion: undefined, objects: [] })
  expect(parse({ serial: -1, lineage: '' })).toMatchObject({ serial: undefined, lineage: undefined })
})

test('objects have the addresses that the engine prints', () => {
  const provider = 'module.a.provider["registry.terraform.io/hashicorp/random"].west'
  const resource = { mode: 'managed', type: 'random_pet', name: 'p', provider }
  const instances = [{ index_key: 0 }, { index_key: 'a "b"' }, { index_key: 1, deposed: 'x' }]
  const { objects, summary } = parse({
    version: 4,
    resources: [{ ...resource, module: 'module.a', instances }],
  })
  expect(objects.map(({ address, nameIndex }) => [address, nameIndex])).toEqual([
    ['module.a.random_pet.p[0]', '0'],
    ['module.a.random_pet.p["a \\"b\\""]', 'a "b"'],
  ])
  expect(objects[0]).toMatchObject({
    provider: 'hashicorp/random',
    providerType: 'random_pet',
    module: 'module.a',
  })
  expect(summary).toMatchObject([{ count: 3, module: 'module.a' }])
})

test('outputs whose names mean something to JavaScript are outputs', () => {
  expect(
    parseOutputs(JSON.parse('{"__proto__":{"type":"string","value":"x"},"constructor":{"type":"bool"}}')),
  ).toEqual([
    { name: '__proto__', type: 'string', value: 'x', sensitive: false },
    { name: 'constructor', type: 'bool', value: null, sensitive: false },
  ])
})
