import { expect, test } from 'vitest'
import { listIn } from './query.ts'

test('a list in the query is read in the order of its numbers, whatever else the query holds', () => {
  const query = {
    'filter[tagged][10][key]': 'last',
    'filter[tagged][2][value]': 'dev',
    'filter[tagged][2][key]': 'env',
    'filter[tagged][x][key]': 'no number',
    'filter[tagged][3]': 'no member',
    'filter[tagged][4][key]': ['one', 'two'],
    'filter[tagged]more[5][key]': 'another list',
    TagBindings: '{+env+dev}',
  }
  expect(listIn(query, 'filter[tagged]')).toEqual([{ key: 'env', value: 'dev' }, { key: 'last' }])
})
