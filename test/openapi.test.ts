import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { CALLERS } from '../src/auth/callers.ts'
import { listChanges } from '../src/features/documentation/changes.ts'
import { collect } from '../src/http/openapi.ts'
import type { OpenApi, OpenApiOperation } from '../src/lib/openapi.ts'
import { committedDocument, currentDocument, historyProblem } from './openapi.ts'

describe('docs/openapi.json', () => {
  const document: OpenApi = JSON.parse(committedDocument())
  const operations: OpenApiOperation[] = Object.values(document.paths).flatMap((path) => Object.values(path))
  const ids = operations.map(({ operationId }) => operationId)

  test('is what the routes say; npm run openapi rewrites it', async () => {
    expect(await currentDocument()).toBe(committedDocument())
  })

  test('is valid OpenAPI', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(committedDocument()))
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined })
  })

  test('names every operation once, and says something of each', () => {
    expect(ids.length).toBeGreaterThan(100)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { operationId, summary, description, tags } of operations) {
      expect(operationId).toMatch(/^[a-z][A-Za-z]+$/)
      expect(summary).toMatch(/^[A-Z].*[^.]$/)
      expect(description).toContain('Allowed: ')
      expect(tags).toHaveLength(1)
    }
  })

  test('says who may call each operation, and of no other', () => {
    expect(Object.keys(CALLERS).sort()).toEqual(ids.sort())
  })

  test('describes every attribute that a request may have', () => {
    const bare: string[] = []
    const visit = (value: unknown, path: string): void => {
      if (typeof value !== 'object' || value === null) return
      const { attributes } = value as { attributes?: { properties?: Record<string, object> } }
      for (const [name, property] of Object.entries(attributes?.properties ?? {})) {
        const said = ['description', 'examples', '$ref', 'enum', 'properties'].some(
          (word) => word in property,
        )
        if (!said) bare.push(`${path} ${name}`)
      }
      for (const part of Object.values(value)) visit(part, path)
    }
    for (const { operationId, requestBody } of operations) visit(requestBody, operationId)
    expect(bare).toEqual([])
  })

  test('cannot miss a route: one that does not say what it does stops the collection', async () => {
    const silent = collect([(app) => void app.get('/silent', async () => ({}))])
    await expect(silent).rejects.toThrow('GET /silent does not say what it does')
  })
})

describe('docs/changes', () => {
  test('has an entry for docs/openapi.json as it is', async () => {
    expect(historyProblem(committedDocument(), await listChanges())).toBeUndefined()
  })

  test('does not let a change pass without an entry, nor with an old one', async () => {
    const [newest, ...older] = await listChanges()
    const document = committedDocument()
    expect(historyProblem(`${document} `, await listChanges())).toMatch(
      /docs\/changes .*openapi: [0-9a-f]{64}$/s,
    )
    const later = { ...newest, date: '2999-01-01', slug: '2999-01-01-later', openapi: 'x' } as typeof newest &
      object
    expect(historyProblem(document, [later, ...older])).toBeDefined()
    expect(historyProblem(document, [])).toBeDefined()
  })
})
