import { beforeAll, describe, expect, test } from 'vitest'
import { CALLERS, type Caller } from '../../src/auth/callers.ts'
import type { OpenApi, OpenApiOperation } from '../../src/lib/openapi.ts'
import { type Client, DIALECTS, onEachDialect } from '../harness.ts'
import { MIRROR } from '../mirrors.ts'
import { committedDocument } from '../openapi.ts'
import { newWorkspace } from '../resources.ts'
import { makeBody, STATE } from './bodies.ts'
import { Cast, type Role, rolesFor } from './cast.ts'
import { makeObject, type Params } from './objects.ts'

interface Call {
  id: string
  method: string
  path: string
  /** What the body is, if there is one. */
  mediaType: string | undefined
  responses: OpenApiOperation['responses']
  callers: readonly Caller[]
}

const { paths }: OpenApi = JSON.parse(committedDocument())

const CALLS: Call[] = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId: id, responses, requestBody }]) => {
    const callers = CALLERS[id]
    if (!callers) throw new Error(`src/auth/callers.ts does not say who may call ${id}`)
    const [mediaType] = Object.keys(requestBody?.content ?? {})
    return { id, method: method.toUpperCase(), path, mediaType, responses, callers }
  }),
)

/** They end what other calls need: the organization, or its token. Each gets an organization of its own. */
const HARMFUL = ['removeOrganization', 'removeOrganizationToken', 'replaceOrganizationToken']

/** Operations whose query has to say something. */
const QUERIES: Record<string, (cast: Cast) => string | Promise<string>> = {
  appendExecutionLog: () => '?start=0',
  saveExecutionState: () => `?raw=${Buffer.byteLength(STATE)}`,
  listGpgKeys: ({ organization: { name } }) => `?filter[namespace]=${name}`,
  listStateVersions: async ({ organization: { name, owner, path } }) => {
    const { attributes } = await newWorkspace(owner, path)
    return `?filter[organization][name]=${name}&filter[workspace][name]=${attributes.name}`
  },
  findModuleVersion: () => '?module_version=1.2.3',
  listRunTriggers: () => '?filter[run-trigger][type]=inbound',
}

/** What those get who may not; 404 unless the public API answers otherwise. */
const REFUSALS: Record<string, number> = { listGpgKeys: 403 }

/** What those get who may, where it takes time until more can be done: a run may be forced seconds after a cancel. */
const ANSWERS: Record<string, number> = { forceCancelRun: 409 }

function mayCall({ callers }: Call, { is }: Role): boolean {
  return is.some((caller) => callers.includes(caller))
}

function expectedStatus(call: Call, role: Role): number {
  const { id, responses } = call
  if (mayCall(call, role)) return ANSWERS[id] ?? Number(Object.keys(responses)[0])
  return role.name === 'nobody' ? 401 : (REFUSALS[id] ?? 404)
}

/** A call that is ready to be sent. */
interface Request {
  address: string
  body: unknown
}

async function prepare({ id, path }: Call, cast: Cast, caller: Client): Promise<Request> {
  const params = await makeObject(path, cast, caller)
  const body = await makeBody(id, cast, params, caller)
  const address = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => valueIn(params, name))
  return { address: address + ((await QUERIES[id]?.(cast)) ?? ''), body }
}

async function send(
  { method, mediaType }: Call,
  { address, body }: Request,
  caller: Client,
): Promise<number> {
  const headers = body !== undefined && mediaType ? { 'content-type': mediaType } : undefined
  const { status } = await caller.send(method, address, body, headers)
  return status
}

function valueIn(params: Params, name: string): string {
  const value = params[name]
  if (value === undefined) throw new Error(`test/callers/objects.ts makes no ${name}`)
  return value
}

onEachDialect(
  'every operation',
  (server) => {
    let shared: Cast
    beforeAll(async () => {
      shared = new Cast(server, await server.organization())
    })

    /**
     * Those who may not call first: nothing that they did may be in the way of the others. Of those who may, one is
     * enough on the second database: what they need made takes most of the time, and no database decides who may.
     */
    const inOrder = (call: Call) => {
      const roles = rolesFor(call.callers).sort((a, b) => expectedStatus(call, b) - expectedStatus(call, a))
      const first = roles.find((role) => mayCall(call, role))
      const isFirstDatabase = server.dialect === DIALECTS[0]
      return roles.filter((role) => isFirstDatabase || role === first || !mayCall(call, role))
    }

    const ours = CALLS.filter(
      ({ callers }) => !callers.some((who) => ['everybody', 'link', 'metrics'].includes(who)),
    )

    test.each(ours)('$id answers each kind of caller as it should', async (call) => {
      const isHarmful = HARMFUL.includes(call.id)
      const castFor = async () => (isHarmful ? new Cast(server, await server.organization()) : shared)
      const actual: Record<string, number> = {}
      const expected: Record<string, number> = {}
      // Whoever may not call changes nothing: all of them can ask for the same.
      let refused: Request | undefined
      for (const role of inOrder(call)) {
        const cast = await castFor()
        if (isHarmful) await cast.organizationToken()
        const client = await role.client(cast)
        const request = (!mayCall(call, role) && refused) || (await prepare(call, cast, client))
        if (!mayCall(call, role) && !isHarmful) refused = request
        expected[role.name] = expectedStatus(call, role)
        actual[role.name] = await send(call, request, client)
      }
      expect(actual).toEqual(expected)
    })

    test.each(CALLS.filter(({ callers }) => callers.includes('everybody')))(
      '$id answers without a token',
      async (call) => {
        const request = await prepare(call, shared, server.nobody)
        expect([401, 404]).not.toContain(await send(call, request, server.nobody))
      },
    )

    test.each(CALLS.filter(({ callers }) => callers.includes('link') || callers.includes('metrics')))(
      '$id answers no token of ours',
      async (call) => {
        for (const client of [server.nobody, server.admin, shared.organization.owner]) {
          const request = await prepare(call, shared, client)
          expect(await send(call, request, client)).toBe(404)
        }
      },
    )
  },
  { PLINTH_RUN_WORKERS: '0', ...MIRROR },
)

describe('the roles', () => {
  test('are at least one who may and one who may not, wherever that differs', () => {
    const one = CALLS.filter(({ callers }) => !callers.includes('everybody') && callers.length > 0)
    for (const call of one.filter(
      ({ callers }) => !callers.includes('link') && !callers.includes('metrics'),
    )) {
      const may = rolesFor(call.callers).map(({ is }) => is.some((caller) => call.callers.includes(caller)))
      expect(may).toContain(true)
      expect(may).toContain(false)
    }
  })
})
