import type { FastifyRequest } from 'fastify'
import { authorizeAgent } from '../../auth/authorize.ts'
import { JSON_TYPE } from '../../http/bodies.ts'
import { documents } from '../../http/operation.ts'
import type { App } from '../../http/routes.ts'
import { About, OneOf, Text } from '../../http/schema.ts'
import { Exactly } from '../../http/shown.ts'
import { Type } from '../../lib/type.ts'

// What agents and the server say to each other (src/engine/channel.ts), as JSON, and what its routes have in common.

export const AGENTS = '/api/agent/v1/agents'
export const AGENT = `${AGENTS}/:id`
export const EXECUTION = `${AGENT}/executions/:execution_id`

export const doc = documents(
  'Agent protocol',
  'What `plinth agent` and the server say to each other. Plain JSON; only the tokens of pools are taken.',
)

export const LOST = { gone: 'The agent does not hold the execution any more.' }

/** Only agents are let in, before a body is read. */
export const config = {
  agents: true,
  access: async (ctx: FastifyRequest['ctx']) => authorizeAgent(ctx),
} as const

/** Each answer may hold what is secret, and none is of use later. */
export function seal(app: App): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.type(JSON_TYPE).header('cache-control', 'no-store')
  })
}

const Flag = Type.Boolean()
const Words = Type.Array(Type.String())
const Count = Type.Integer({ minimum: 0 })

export const Registration = Type.Object({
  name: Text({ maxLength: 255, description: 'What the agent is called.', examples: ['build-7'] }),
  version: Text({ maxLength: 64, description: 'Of the agent’s program.', examples: ['0.1.0'] }),
})

export const Registered = Exactly(
  { id: Type.String({ description: 'What the agent is known by from now on.' }) },
  { title: 'RegisteredAgent' },
)

const Variable = Exactly({
  key: Type.String(),
  value: Type.String(),
  hcl: Flag,
  sensitive: Flag,
  priority: Type.Optional(Flag),
})

const EngineVersion = Exactly({
  version: Type.String(),
  enabled: About('Whether runs may use it.', Type.Boolean()),
  beta: About('Whether it must be named to be used.', Type.Boolean()),
  archives: Type.Array(Exactly({ platform: Type.String(), url: Type.String(), sha: Type.String() }), {
    description: 'Where it is fetched from, with the SHA-256 of the archive; elsewhere when there are none.',
  }),
})

const Run = Exactly({
  id: Type.String(),
  isDestroy: Flag,
  refresh: Flag,
  refreshOnly: Flag,
  planOnly: Flag,
  allowConfigGeneration: Flag,
  debuggingMode: Flag,
  structuredOutput: Flag,
  targetAddrs: Words,
  replaceAddrs: Words,
  variables: Type.Array(Exactly({ key: Type.String(), value: Type.String() })),
})

export const ShownAssignment = Type.Object(
  {
    executionId: Type.String({ description: 'What the agent carries out, and reports on.' }),
    phase: OneOf('plan', 'apply'),
    run: Run,
    organization: Type.String(),
    project: Type.String(),
    workspace: Exactly({ id: Type.String(), name: Type.String(), workingDirectory: Type.String() }),
    terraformVersion: Type.String({ description: 'A version, a constraint, or `latest`.' }),
    engineVersions: Type.Optional(
      Type.Array(EngineVersion, { description: 'Versions of the engine that are not as all others are.' }),
    ),
    terraformVariables: Type.Array(Variable),
    environmentVariables: Type.Array(Variable),
    sshKey: Type.Optional(Type.String({ description: 'A private key for fetching modules.' })),
    serverUrl: Type.String(),
    token: Type.String({
      description: 'What the run may read from the server with; it ends with the phase.',
    }),
    mirror: Type.Optional(
      Exactly({
        hosts: Type.Array(Exactly({ host: Type.String(), providers: Type.String() }), {
          description: 'Where the providers of a host are installed from, by the registry protocol.',
        }),
        allowed: About('Patterns of the providers that are.', Words),
        others: About('Whether others are installed from where they come from, or not at all.', Flag),
      }),
    ),
    recoveryUrl: Type.String({ description: 'Where to `PUT` a state that the server does not accept.' }),
    timeout: Type.Integer({ description: 'Seconds after which the phase is stopped.' }),
    holdFailureUntil: Type.Optional(Type.String()),
  },
  { title: 'Assignment', description: 'All that an agent has to know to carry out one phase of a run.' },
)

export const Stop = Exactly(
  {
    cancel: About(
      'Whether the agent is to end it: as the engine ends by itself, or at once.',
      Type.Union([OneOf('cancel', 'force'), Type.Null()]),
    ),
  },
  { title: 'AgentOrders' },
)

export const Report = Type.Object({
  terraformVersion: Text({ maxLength: 64, description: 'The exact version of the engine.' }),
  sandbox: OneOf('bwrap', 'none'),
})

export const Outcome = Type.Object({
  status: OneOf('finished', 'errored', 'canceled'),
  error: Type.Optional(Type.String({ maxLength: 10_000 })),
  hasChanges: Type.Optional(Flag),
  generatedConfiguration: Type.Optional(Flag),
  counts: Type.Optional(
    Type.Object({ additions: Count, changes: Count, destructions: Count, imports: Count }),
  ),
})

export const LogQuery = Type.Object({
  start: Type.String({
    pattern: '^\\d{1,15}$',
    description: 'At which byte of what the agent has written of this log the text stands.',
  }),
})

export const StateQuery = Type.Object({
  raw: Type.String({
    pattern: '^\\d{1,15}$',
    description:
      'How many bytes of the body are the raw state; what follows is the same as JSON, if there is any.',
  }),
})

export const FETCHED = ['configuration', 'state', 'plan', 'lock-file'] as const

export const PRODUCED = ['plan', 'lock-file', 'json-output', 'json-output-redacted', 'json-schema'] as const
