// The dependency rule of docs/architecture.md. Each rule is broken on purpose in test/architecture.test.ts.

const FEATURE = '^src/features/'
const HTTP_FILE = '[a-z-]*(routes|resource|schema|pages)\\.ts$'
const PLATFORM = '^src/(agent|backup|config|db|http|auth|jobs|blobs|engine|rotation)/'

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'lib-imports-nothing',
      comment: 'lib holds pure helpers that anything may use; it must not know anything of ours.',
      severity: 'error',
      from: { path: '^src/lib/' },
      to: { path: '^src/', pathNot: '^src/lib/' },
    },
    {
      name: 'platform-below-features',
      comment: 'The platform serves every feature and knows none, except for the row types of their tables.',
      severity: 'error',
      from: { path: PLATFORM, pathNot: '^src/db/database\\.ts$' },
      to: { path: FEATURE },
    },
    {
      name: 'database-takes-row-types-only',
      severity: 'error',
      from: { path: '^src/db/database\\.ts$' },
      to: { path: FEATURE, pathNot: '/table\\.ts$' },
    },
    {
      name: 'nothing-imports-the-top',
      comment: 'main starts app, app mounts the features; nobody imports either.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/(start\\.js|(main|app)\\.ts)$', '\\.test\\.ts$'] },
      to: { path: '^src/(main|app)\\.ts$' },
    },
    {
      name: 'features-meet-in-services',
      comment: 'A feature uses another one through its service, where the permission is checked.',
      severity: 'error',
      from: { path: '^src/features/([^/]+)/', pathNot: '\\.test\\.ts$' },
      to: {
        path: FEATURE,
        pathNot: ['^src/features/$1/', '^src/features/[^/]+/(service|resource|pages)\\.ts$'],
      },
    },
    {
      name: 'resources-serve-routes',
      comment:
        'How a slice looks in JSON:API, or to people, concerns other slices only where they speak HTTP themselves.',
      severity: 'error',
      from: { path: FEATURE, pathNot: `/${HTTP_FILE}` },
      to: { path: '/(resource|pages)\\.ts$' },
    },
    {
      name: 'http-stays-in-routes',
      severity: 'error',
      comment:
        'A slice speaks HTTP in routes.ts, and in lock-routes.ts, resource.ts, schema.ts or pages.ts where one file is too long.',
      from: { path: '^src/', pathNot: [`/${HTTP_FILE}`, '^src/http/', '^src/app\\.ts$'] },
      to: { path: ['^src/http/', 'node_modules/(fastify|@fastify)/'] },
    },
    {
      name: 'sql-stays-in-stores',
      severity: 'error',
      from: { path: '^src/', pathNot: ['/(store|table)\\.ts$', '^src/db/', '\\.test\\.ts$'] },
      to: { path: 'node_modules/(kysely|pg)/' },
    },
    {
      name: 'routes-use-services',
      comment: 'Routes reach stores only through the service.',
      severity: 'error',
      from: { path: `/${HTTP_FILE}` },
      to: { path: '/store\\.ts$' },
    },
    {
      name: 'stores-are-the-lowest',
      comment: 'A store knows tables and the database, no service and no route.',
      severity: 'error',
      from: { path: '/store\\.ts$' },
      to: { path: '/(service|routes)\\.ts$' },
    },
    {
      name: 'clients-share-lib-only',
      comment: 'The client command runs without a server beside it, and knows one by its API.',
      severity: 'error',
      from: { path: '^cli/' },
      to: { path: '^src/', pathNot: '^src/lib/' },
    },
    { name: 'server-knows-no-client', severity: 'error', from: { path: '^src/' }, to: { path: '^cli/' } },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
}
