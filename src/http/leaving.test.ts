import { setTimeout as sleep } from 'node:timers/promises'
import fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { atLength, leaving } from './leaving.ts'

const app = fastify({ connectionTimeout: 50 })
let url: string
let signal: AbortSignal | undefined

beforeAll(async () => {
  app.get('/hasty', async () => sleep(300, 'done'))
  app.get('/patient', (request) => atLength(request, () => sleep(300, 'done')))
  app.get('/left', async (_request, reply) => {
    signal = leaving(reply)
    await new Promise((resolve) => signal?.addEventListener('abort', resolve))
    return 'nobody'
  })
  app.get('/answered', async (_request, reply) => {
    signal = leaving(reply)
    return 'somebody'
  })
  url = await app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => app.close())

test('a connection may be silent for as long as what is announced to take long', async () => {
  await expect(fetch(`${url}/hasty`)).rejects.toThrow()
  expect(await (await fetch(`${url}/patient`)).text()).toBe('done')
})

test('a client that leaves is told of, and one that was answered is not', async () => {
  await expect(fetch(`${url}/left`, { signal: AbortSignal.timeout(30) })).rejects.toThrow()
  await expect.poll(() => signal?.aborted).toBe(true)
  expect(signal?.reason.message).toBe('The client left before it was answered.')
  await (await fetch(`${url}/answered`)).text()
  await sleep(20)
  expect(signal?.aborted).toBe(false)
})
