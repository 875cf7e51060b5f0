import { describe, expect, test } from 'vitest'
import { maskOf } from './mask.ts'
import { countChanges, generatesConfiguration, type PlanJson, redactPlan, usedSchemas } from './plan-json.ts'

const change = (type: string, actions: string[], more: object = {}, mode = 'managed') => ({
  mode,
  type,
  provider_name: 'registry/a/b',
  change: { actions, ...more },
})

const plan = (changes: PlanJson['resource_changes'], more: object = {}): PlanJson => ({
  format_version: '1.2',
  ...(changes && { resource_changes: changes }),
  ...more,
})

const SCHEMAS = {
  format_version: '1.0',
  provider_schemas: {
    'registry/a/b': {
      provider: { version: 0 },
      resource_schemas: { one: { version: 1 }, two: { version: 2 } },
      data_source_schemas: { one: { version: 3 } },
      functions: { f: {} },
    },
    'registry/a/unused': { resource_schemas: { one: {} } },
  },
}

describe('a plan as JSON', () => {
  test('is counted, replacements twice and what is only read not at all', () => {
    const counted = plan([
      change('one', ['create']),
      change('one', ['create', 'delete']),
      change('one', ['delete', 'create']),
      change('one', ['update']),
      change('one', ['no-op'], { importing: { id: 'x' } }),
      change('one', ['forget']),
      change('one', ['read'], {}, 'data'),
    ])
    expect(countChanges(counted)).toEqual({ additions: 3, changes: 1, destructions: 2, imports: 1 })
    expect(countChanges(plan(undefined))).toEqual({ additions: 0, changes: 0, destructions: 0, imports: 0 })
  })

  test('says whether it has written configuration', () => {
    expect(generatesConfiguration(plan([change('one', ['create'])]))).toBe(false)
    expect(generatesConfiguration(plan([change('one', ['no-op'], { generated_config: 'x' })]))).toBe(true)
  })

  test('needs the schemas of what is in it only', () => {
    const used = plan([change('two', ['create'])], {
      resource_drift: [change('one', ['update'], {}, 'data')],
    })
    expect(usedSchemas(SCHEMAS, used)).toEqual({
      format_version: '1.0',
      provider_schemas: {
        'registry/a/b': {
          provider: { version: 0 },
          resource_schemas: { two: { version: 2 } },
          data_source_schemas: { one: { version: 3 } },
        },
      },
    })
    expect(usedSchemas(SCHEMAS, plan(undefined)).provider_schemas).toEqual({})
  })

  test('shows of what is sensitive no more than whether it is the same', () => {
    const before = { a: 's', b: { c: 1, d: null }, e: ['s', 't'], f: 'plain', g: true }
    const marks = { a: true, b: true, e: [true, false], g: true }
    const sensitive = change('one', ['update'], {
      before,
      after: { ...before, a: 'new', g: false },
      before_sensitive: marks,
      after_sensitive: marks,
    })
    const redact = () =>
      JSON.parse(
        JSON.stringify(
          redactPlan(
            plan([sensitive], {
              resource_drift: [sensitive],
              deferred_changes: [{ resource_change: sensitive }],
              output_changes: { o: { actions: ['create'], before: null, after: 's', after_sensitive: true } },
            }),
            SCHEMAS,
            maskOf([]),
          ),
        ),
      )
    const redacted = redact()
    const digest = expect.stringMatching(/^[0-9a-f]{64}$/)
    const [{ change: seen }] = redacted.resource_changes
    expect(seen.before).toEqual({
      a: digest,
      b: { c: digest, d: null },
      e: [digest, 't'],
      f: 'plain',
      g: digest,
    })
    expect(seen.before.a).toBe(seen.before.e[0])
    expect(seen.after.a).not.toBe(seen.before.a)
    expect(seen.after.g).not.toBe(seen.before.g)
    expect(seen.after.b).toEqual(seen.before.b)
    expect(redacted.resource_drift[0].change).toEqual(seen)
    expect(redacted.deferred_changes[0].resource_change.change).toEqual(seen)
    expect(redacted.output_changes.o).toMatchObject({ before: null, after: seen.before.a })
    // Another plan has another key, so that nobody can try values.
    expect(redact().output_changes.o.after).not.toBe(seen.before.a)
  })
})
