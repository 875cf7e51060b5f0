import type { Caller } from '../../src/auth/callers.ts'
import { GRANTS, type Grant } from '../../src/auth/permissions.ts'
import { newAgentToken, newPool, queueRun, WireAgent } from '../agents.ts'
import {
  type Client,
  expectStatus,
  type TestOrganization,
  type TestServer,
  type TestUser,
  unique,
} from '../harness.ts'
import { addKey, createProvider, makeKey, type SigningKey } from '../registry.ts'
import { document } from '../resources.ts'

/** Somebody who calls operations, and what makes them one of those who may. */
export interface Role {
  name: string
  is: readonly Caller[]
  client: (cast: Cast) => Promise<Client>
}

/** A lease lasts half a minute. */
const HEARTBEAT_MS = 5_000

const isGrant = (caller: Caller): caller is Grant => (GRANTS as readonly string[]).includes(caller)

/**
 * Everybody that an operation is called as when `callers` may call it. Whoever lacks the right that it takes has
 * every other one, so that no two can be mixed up.
 */
export function rolesFor(callers: readonly Caller[]): Role[] {
  const rights = callers.filter(isGrant)
  const others = callers.includes('members') ? [] : GRANTS.filter((grant) => !rights.includes(grant))
  const user: Caller[] = ['everybody', 'tokens', 'users']
  const roles: Role[] = [
    { name: 'nobody', is: ['everybody'], client: async ({ server }) => server.nobody },
    { name: 'a stranger', is: user, client: ({ stranger }) => stranger() },
    {
      name: 'a site administrator',
      is: [...user, 'site-admins'],
      client: async ({ server }) => server.admin,
    },
    {
      name: 'a member without the right',
      is: [...user, 'members', 'colleagues'],
      client: (cast) => cast.member(others),
    },
    {
      name: 'a team’s token without the right',
      is: ['everybody', 'tokens', 'members', 'colleagues'],
      client: (cast) => cast.teamToken(others),
    },
    {
      name: 'an owner',
      is: [...user, 'members', 'colleagues', 'owners'],
      client: async ({ organization }) => organization.owner,
    },
    {
      name: 'an owner’s token that is limited to another provider',
      is: ['everybody', 'limited'],
      client: (cast) => cast.limitedToken(),
    },
    {
      name: 'the organization’s token',
      is: ['everybody', 'tokens', 'colleagues', 'organization'],
      client: (cast) => cast.organizationToken(),
    },
    {
      name: 'an agent',
      is: ['everybody', 'agents'],
      client: async (cast) => (await cast.agent()).client,
    },
    { name: 'the program of a run', is: ['everybody', 'runs'], client: (cast) => cast.program() },
    ...rights.flatMap((right): Role[] => [
      { name: `a member with ${right}`, is: [...user, right], client: (cast) => cast.member([right]) },
      {
        name: `a team’s token with ${right}`,
        is: ['everybody', 'tokens', right],
        client: (cast) => cast.teamToken([right]),
      },
    ]),
  ]
  if (callers.includes('self')) {
    roles.push({ name: 'the user', is: [...user, 'self'], client: (cast) => cast.self() })
  }
  return roles
}

/** An organization and those who call operations about it, each made when needed and then kept. */
export class Cast {
  readonly server: TestServer
  readonly organization: TestOrganization
  readonly #made = new Map<string, Promise<unknown>>()

  constructor(server: TestServer, organization: TestOrganization) {
    this.server = server
    this.organization = organization
  }

  stranger = (): Promise<TestUser> => this.once('stranger', () => this.server.user())

  self(): Promise<TestUser> {
    return this.once('self', () => this.server.member(this.organization))
  }

  member(grants: readonly Grant[]): Promise<Client> {
    return this.once(`member ${grants}`, () => this.server.member(this.organization, grants))
  }

  teamToken(grants: readonly Grant[]): Promise<Client> {
    return this.once(`team ${grants}`, () => this.server.teamToken(this.organization, grants))
  }

  organizationToken(): Promise<Client> {
    return this.once('organization', () => this.server.organizationToken(this.organization))
  }

  /** A token of the owner that may publish a provider which no call is about. */
  limitedToken(): Promise<Client> {
    return this.once('limited', async () => {
      const { owner } = this.organization
      const path = await createProvider(this.organization, `p-${unique()}`)
      const { id } = expectStatus(await owner.get(path), 200).body.data
      const relationships = { 'registry-providers': { data: [{ id, type: 'registry-providers' }] } }
      const body = document('authentication-tokens', {}, relationships)
      const created = await owner.post(`/api/v2/users/${owner.id}/authentication-tokens`, body)
      return this.server.as(expectStatus(created, 201).body.data.attributes.token)
    })
  }

  /** A pool of agents. */
  agentPool(): Promise<string> {
    return this.once('agent pool', () => newPool(this.organization))
  }

  agent(): Promise<WireAgent> {
    return this.once('agent', async () => {
      const { secret } = await newAgentToken(this.organization, await this.agentPool())
      return WireAgent.register(this.server, secret)
    })
  }

  /** What a run has in the middle of its plan, which goes on as long as the test does. */
  program(): Promise<Client> {
    return this.once('program', async () => {
      const poolId = await newPool(this.organization)
      const { secret } = await newAgentToken(this.organization, poolId)
      const agent = await WireAgent.register(this.server, secret)
      await queueRun(this.organization, poolId)
      const { executionId, token } = await agent.claim()
      const timer = setInterval(() => {
        agent.heartbeat(executionId).catch(() => clearInterval(timer))
      }, HEARTBEAT_MS).unref()
      return this.server.as(token)
    })
  }

  signingKey(): Promise<SigningKey> {
    return this.once('key', async () => addKey(this.organization, await makeKey()))
  }

  /** What `make` makes, made once for this organization. */
  once<T>(name: string, make: () => Promise<T>): Promise<T> {
    const known = this.#made.get(name) ?? make()
    this.#made.set(name, known)
    return known as Promise<T>
  }
}
