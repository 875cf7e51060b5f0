import { expect, test } from 'vitest'
import { EngineVersionError, newest, parseWanted } from './constraints.ts'

const VERSIONS = ['1.8.5', '1.9.0', '1.9.8', '1.10.0-rc1', '1.10.2', '1.11.4', '1.12.0-beta1', '2.0.0']

const wanted: [setting: string, version: string | undefined][] = [
  ['latest', '2.0.0'],
  ['', '2.0.0'],
  ['1.9.8', '1.9.8'],
  ['v1.9.8', '1.9.8'],
  ['1.10.0-rc1', '1.10.0-rc1'],
  ['1.9.9', undefined],
  ['~> 1.9.0', '1.9.8'],
  ['~>1.9', '1.11.4'],
  ['~> 1', '2.0.0'],
  ['>= 1.9, < 1.11', '1.10.2'],
  ['> 1.9.0,<=1.9.8', '1.9.8'],
  ['!= 2.0.0', '1.11.4'],
  ['= 1.8.5', '1.8.5'],
  ['~> 1.12.0', undefined],
]

test.each(wanted)('%s is %s', (setting, version) => {
  expect(newest(VERSIONS, parseWanted(setting))).toBe(version)
})

test.each(['newest', '~> x', '1.2.3.4', '>= 1.0 < 2.0', '../1.0.0'])('%s is nothing', (setting) => {
  expect(() => parseWanted(setting)).toThrow(EngineVersionError)
})
