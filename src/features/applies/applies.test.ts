import { expect, test } from 'vitest'
import { onEachDialect } from '../../../test/harness.ts'

onEachDialect('applies', (server) => {
  test.each(['', '/errored-state'])('answer 404 at /applies/:id%s, where there is none', async (path) => {
    const { owner } = await server.organization()
    const answer = await owner.get(`/api/v2/applies/apply-47MBvjwzBG8YKc2v${path}`)
    expect(answer).toMatchObject({ status: 404, body: { errors: [{ status: '404', title: 'not found' }] } })
    expect((await server.nobody.get(`/api/v2/applies/apply-47MBvjwzBG8YKc2v${path}`)).status).toBe(401)
  })
})
