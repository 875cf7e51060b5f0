import { Readable } from 'node:stream'
import { many, type Resource } from '../../http/jsonapi.ts'
import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { About, Nullable } from '../../http/schema.ts'
import { answerFile, answerPage, Exactly, Moment, Shown } from '../../http/shown.ts'
import { AppError } from '../../lib/errors.ts'
import type { LogHeader, LogRecord } from '../../lib/registry-log.ts'
import { Type } from '../../lib/type.ts'
import * as log from './reading.ts'

const TYPE = 'registry-log-records'
const NDJSON = 'application/x-ndjson'
const HASH = '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae'

const Query = Type.Object({
  'filter[provider]': Type.Optional(
    Type.String({ description: 'Only what is about versions of the provider of this name.' }),
  ),
  'filter[module]': Type.Optional(
    Type.String({ description: 'Only what is about versions of this module: its name, or `name/system`.' }),
  ),
})

const ExportQuery = Type.Object({
  from: Type.Optional(
    Type.String({
      description:
        'The number of the first record wanted, such as that of the last one that was checked before.',
      examples: ['1'],
    }),
  ),
})

const Digest = (description: string) => Type.String({ description, examples: [HASH] })

const Texts = (description: string) =>
  Type.Optional(Type.Record(Type.String(), Type.String(), { description }))

const Subject = Exactly({
  kind: Type.String({ examples: ['provider-version'] }),
  namespace: Type.String({ description: 'The organization, by the name that it had.', examples: ['acme'] }),
  name: Type.Optional(Type.String({ examples: ['demo'] })),
  system: Type.Optional(Type.String({ description: 'Of a module.', examples: ['aws'] })),
  version: Type.Optional(Type.String({ examples: ['1.2.3'] })),
  digests: Texts('SHA-256 of each file, by its name.'),
  'key-id': Type.Optional(Type.String({ examples: ['32966F3FB5AC1129'] })),
  fingerprint: Type.Optional(
    Type.String({ description: 'Of the key, or of that which signed the version.' }),
  ),
  details: Texts('What else was put on record.'),
})

const Name = (description: string) => About(description, Nullable(Type.String()))

const Record = Shown('RegistryLogRecord', TYPE, {
  id: HASH,
  attributes: {
    organization: Exactly({ id: Type.String(), name: Type.String() }),
    sequence: Type.Integer({ minimum: 1, description: 'Its place in the log, without gaps.' }),
    time: Moment('When it happened.'),
    action: Type.String({ description: 'What happened.', examples: ['publish'] }),
    subject: Subject,
    actor: Exactly({
      type: Type.String({ examples: ['user'] }),
      id: Name('Null for whoever had a link.'),
      name: Name('As it was then.'),
    }),
    previous: Digest('The hash of the record before it; zeros in the first.'),
    key: Type.String({ description: 'The id of the key that signed it.' }),
    hash: Digest(
      'SHA-256 of the canonical JSON (RFC 8785) of all attributes besides this one and `signature`.',
    ),
    signature: Type.String({
      description: 'Ed25519, in hexadecimal, over “plinth registry log”, a newline and `hash`.',
    }),
  },
})

const Meta = {
  head: About(
    'Where the log ends; null while it has no records.',
    Nullable(Exactly({ sequence: Type.Integer(), hash: Type.String() })),
  ),
  keys: About(
    'What its records are signed with.',
    Type.Array(
      Exactly({
        id: Type.String({ description: 'The first 32 hexadecimal digits of the SHA-256 of the key.' }),
        'public-key': Type.String({ description: 'SubjectPublicKeyInfo in base64.' }),
      }),
    ),
  ),
}

const doc = documents(
  'Registry log',
  'What was published, deprecated, revoked, restored and deleted in the registry of an organization, and what ' +
    'happened to its signing keys: records that nobody can change, remove or add later without being found out.',
)

const docs = {
  list: doc('listRegistryLog', 'List the records of a registry, newest first', {
    200: answerPage(Record, undefined, Meta),
  }),
  export: doc(
    'exportRegistryLog',
    'Export the records of a registry, oldest first, to check them elsewhere',
    {
      200: answerFile(
        'A JSON text on each line: first `organization`, `head` and `keys`, then the attributes of each record.',
        NDJSON,
      ),
    },
    {
      description:
        'Who keeps the `head` of one export can later ask for the records from that number on (`from`): the first ' +
        'of them is the one that they know, or the log was rewound or replaced.',
    },
  ),
}

const toResource = (record: LogRecord): Resource => ({
  id: record.hash,
  type: TYPE,
  attributes: {
    organization: record.organization,
    sequence: record.sequence,
    time: record.time,
    action: record.action,
    subject: record.subject,
    actor: record.actor,
    previous: record.previous,
    key: record.key,
    hash: record.hash,
    signature: record.signature,
  },
})

export const routes: Routes = (app) => {
  const collection = '/api/v2/organizations/:organization_name/registry-log'

  app.get(
    collection,
    { schema: { querystring: Query }, config: { doc: docs.list } },
    async ({ ctx, path, query, page, href }) => {
      const filter = { provider: query['filter[provider]'], module: query['filter[module]'] }
      const { records, head, keys } = await log.list(ctx, path.organization_name, filter, page)
      const document = await many(records, href, toResource)
      return { ...document, meta: { ...document.meta, head, keys } }
    },
  )

  app.get(
    `${collection}/export`,
    { schema: { querystring: ExportQuery }, config: { doc: docs.export } },
    async ({ ctx, path, query }, reply) => {
      const place = () => placeOf(query.from)
      const { header, records } = await log.exportFrom(ctx, path.organization_name, place)
      return reply.type(NDJSON).send(Readable.from(linesOf(header, records), { objectMode: false }))
    },
  )
}

function placeOf(from = '1'): number {
  if (!/^[1-9]\d{0,9}$/.test(from))
    throw new AppError('badRequest', 'from must be the number of a record', { parameter: 'from' })
  return Number(from)
}

async function* linesOf(header: LogHeader, records: AsyncIterable<LogRecord[]>): AsyncGenerator<string> {
  yield `${JSON.stringify(header)}\n`
  for await (const some of records) yield some.map((record) => `${JSON.stringify(record)}\n`).join('')
}
