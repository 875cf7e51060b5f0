import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { cruise } from './boundaries.ts'

// The dependency rule of docs/architecture.md. Every check is also made on sources that break it on purpose:
// a check that cannot fail says nothing.

const ROOT = join(import.meta.dirname, '..')

type Sources = Record<string, string>

/** The files of this repository's src and cli by path, tests left out. */
function readSources(): Sources {
  const paths = globSync('{src,cli/src}/**/*.ts', { cwd: ROOT }).filter((path) => !path.endsWith('.test.ts'))
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(ROOT, path), 'utf8')]))
}

/** A directory of its own with these files; gone after the test. */
function writeTree(sources: Sources): string {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-architecture-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(sources)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  return directory
}

describe('dependencies between modules', () => {
  const importing = (...specifiers: string[]) =>
    specifiers.map((specifier) => `import '${specifier}'`).join('\n') || 'export {}'

  const settings: Sources = {
    'tsconfig.json': readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'),
    'node_modules/kysely/package.json': '{ "name": "kysely", "main": "index.js" }',
    'node_modules/kysely/index.js': '',
    'node_modules/fastify/package.json': '{ "name": "fastify", "main": "index.js" }',
    'node_modules/fastify/index.js': '',
  }

  const sound: Sources = {
    'src/main.ts': importing('./app.ts', './config/config.ts'),
    'src/app.ts': importing('./features/alpha/routes.ts', './features/beta/routes.ts', './http/server.ts'),
    'src/config/config.ts': importing(),
    'src/lib/text.ts': importing(),
    'src/lib/words.ts': importing('./text.ts'),
    'src/db/database.ts': importing('../features/alpha/table.ts', 'kysely'),
    'src/http/server.ts': importing('fastify', '../lib/words.ts'),
    'src/features/alpha/table.ts': importing('kysely'),
    'src/features/alpha/store.ts': importing('./table.ts', '../../db/database.ts', 'kysely'),
    'src/features/alpha/service.ts': importing('./store.ts', '../../lib/text.ts'),
    'src/features/alpha/routes.ts': importing('./service.ts', '../../http/server.ts', 'fastify'),
    'src/features/beta/service.ts': importing('../alpha/service.ts'),
    'src/features/alpha/resource.ts': importing('./service.ts', '../../http/server.ts'),
    'src/features/beta/routes.ts': importing('./service.ts', '../alpha/service.ts', '../alpha/resource.ts'),
    'cli/src/main.ts': importing('./view.ts', '../../src/lib/text.ts'),
    'cli/src/view.ts': importing(),
  }

  test('keep to the rules, and are seen at all', () => {
    const { modules, violations } = cruise(ROOT)
    expect(modules).toBeGreaterThan(Object.keys(readSources()).length)
    expect(violations).toEqual([])
  })

  test('are allowed downwards', () => {
    const { modules, violations } = cruise(writeTree({ ...settings, ...sound }))
    expect(modules).toBe(Object.keys(sound).length + 2)
    expect(violations).toEqual([])
  })

  const broken: [rule: string, from: string, to: string, specifier: string][] = [
    ['lib-imports-nothing', 'src/lib/bad.ts', 'src/config/config.ts', '../config/config.ts'],
    [
      'platform-below-features',
      'src/auth/bad.ts',
      'src/features/alpha/service.ts',
      '../features/alpha/service.ts',
    ],
    [
      'platform-below-features',
      'src/blobs/bad.ts',
      'src/features/alpha/table.ts',
      '../features/alpha/table.ts',
    ],
    [
      'database-takes-row-types-only',
      'src/db/database.ts',
      'src/features/beta/bad.ts',
      '../features/beta/bad.ts',
    ],
    ['nothing-imports-the-top', 'src/jobs/bad.ts', 'src/app.ts', '../app.ts'],
    ['nothing-imports-the-top', 'src/features/beta/top.ts', 'src/main.ts', '../../main.ts'],
    [
      'features-meet-in-services',
      'src/features/beta/sideways.ts',
      'src/features/alpha/store.ts',
      '../alpha/store.ts',
    ],
    ['http-stays-in-routes', 'src/features/beta/speaks.ts', 'src/http/server.ts', '../../http/server.ts'],
    ['http-stays-in-routes', 'src/auth/speaks.ts', 'node_modules/fastify/index.js', 'fastify'],
    ['sql-stays-in-stores', 'src/features/beta/queries.ts', 'node_modules/kysely/index.js', 'kysely'],
    ['sql-stays-in-stores', 'src/http/queries.ts', 'node_modules/kysely/index.js', 'kysely'],
    [
      'routes-use-services',
      'src/features/alpha/more/routes.ts',
      'src/features/alpha/store.ts',
      '../store.ts',
    ],
    [
      'stores-are-the-lowest',
      'src/features/beta/store.ts',
      'src/features/alpha/service.ts',
      '../alpha/service.ts',
    ],
    ['stores-are-the-lowest', 'src/features/gamma/store.ts', 'src/features/gamma/routes.ts', './routes.ts'],
    ['no-cycles', 'src/engine/one.ts', 'src/engine/two.ts', './two.ts'],
    [
      'resources-serve-routes',
      'src/features/beta/shows.ts',
      'src/features/alpha/resource.ts',
      '../alpha/resource.ts',
    ],
    [
      'clients-share-lib-only',
      'cli/src/bad.ts',
      'src/features/alpha/table.ts',
      '../../src/features/alpha/table.ts',
    ],
    ['server-knows-no-client', 'src/features/beta/packs.ts', 'cli/src/view.ts', '../../../cli/src/view.ts'],
  ]

  test('are refused in every other direction', () => {
    const bad: Sources = {
      'src/features/beta/bad.ts': importing(),
      'src/features/gamma/routes.ts': importing(),
      'src/engine/two.ts': importing('./one.ts'),
    }
    for (const [, from, , specifier] of broken) bad[from] = importing(specifier)
    const { violations } = cruise(writeTree({ ...settings, ...sound, ...bad }))
    expect(violations.sort()).toEqual(broken.map(([rule, from, to]) => `${rule}: ${from} → ${to}`).sort())
  })

  test('are refused by every rule there is', () => {
    const { forbidden } = createRequire(import.meta.url)('../.dependency-cruiser.cjs')
    const rules = forbidden.map((rule: { name: string }) => rule.name)
    expect([...new Set(broken.map(([rule]) => rule))].sort()).toEqual(rules.sort())
  })

  test('that nobody saw are no success', () => {
    const directory = writeTree({ ...settings, 'test/some.ts': '', 'src/readme.txt': '' })
    const checked = spawnSync(process.execPath, [join(ROOT, 'test/boundaries.ts')], {
      cwd: directory,
      encoding: 'utf8',
    })
    expect(checked).toMatchObject({ status: 1, stdout: '0 modules, 0 forbidden dependencies\n' })
  })
})

describe('tables', () => {
  /** Where each table's rows are declared, from the imports and the interface of db/database.ts. */
  function readOwners(database: string): Map<string, string> {
    const folders = new Map<string, string>()
    for (const [, types = '', folder = ''] of database.matchAll(
      /import type \{([^}]*)\} from '\.\.\/(.*)\/table\.ts'/g,
    )) {
      for (const type of types.split(',').filter((text) => text.trim() !== ''))
        folders.set(type.trim(), `src/${folder}`)
    }
    const tables = database.matchAll(/^ {2}(\w+): (\w+Table)$/gm)
    return new Map([...tables].map(([, table = '', type = '']) => [table, folders.get(type) ?? '']))
  }

  /** Writes to a table outside of the folder that owns it. */
  function listTrespasses(sources: Sources): string[] {
    const owners = readOwners(sources['src/db/database.ts'] ?? '')
    return Object.entries(sources)
      .filter(([path]) => !path.startsWith('src/db/'))
      .flatMap(([path, text]) => {
        const writes = [
          ...text.matchAll(/\b(?:insertInto|updateTable|deleteFrom|replaceInto|mergeInto)\(\s*([^)\s,]*)/g),
        ]
        return writes
          .map(([, table = '']) => table.replace(/^'|'$/g, ''))
          .filter((table) => owners.get(table) !== dirname(path))
          .map((table) => `${path} writes ${table}`)
      })
  }

  test('are written by the folder that declares them, and by nobody else', () => {
    const owners = readOwners(readFileSync(join(ROOT, 'src/db/database.ts'), 'utf8'))
    expect(owners.size).toBeGreaterThan(15)
    expect([...owners].filter(([, folder]) => folder === '')).toEqual([])
    expect(listTrespasses(readSources())).toEqual([])
  })

  test('a store that writes elsewhere is found', () => {
    const path = 'src/features/tokens/store.ts'
    for (const write of [
      "db.deleteFrom('users').execute()",
      "db\n    .updateTable('users')",
      "db.insertInto(\n      'users',\n)",
      'db.insertInto(table)',
    ]) {
      const sources = readSources()
      expect(listTrespasses({ ...sources, [path]: `${sources[path]}\n${write}` })).toHaveLength(1)
    }
  })
})

describe('sources', () => {
  /** Lines that match `pattern`, as `path: line`. */
  function grep(sources: Sources, pattern: RegExp, inFiles: (path: string) => boolean): string[] {
    return Object.entries(sources)
      .filter(([path]) => inFiles(path))
      .flatMap(([path, text]) => text.split('\n').map((line) => `${path}: ${line.trim()}`))
      .filter((line) => pattern.test(line.slice(line.indexOf(': '))))
  }

  const rules: { name: string; find: (sources: Sources) => string[]; breaks: Sources }[] = [
    {
      name: 'know the dialect in src/db and src/config only',
      find: (sources) =>
        grep(sources, /sqlite|postgres|dialect/i, (path) => !/^src\/(db|config)\//.test(path)),
      breaks: {
        'src/features/a/store.ts': "if (dialect === 'sqlite') return",
        'src/lib/a.ts': '// Postgres',
      },
    },
    {
      name: 'take time and chance from the context and lib/ids in features',
      find: (sources) =>
        grep(
          sources,
          /Date\.now\(|new Date\(\)|Math\.random|randomUUID|randomBytes|performance\.now/,
          (path) => path.startsWith('src/features/'),
        ),
      breaks: {
        'src/features/a/service.ts': 'const now = Date.now()',
        'src/features/a/store.ts': 'randomUUID()',
      },
    },
    {
      name: 'read the environment in main.ts only',
      find: (sources) =>
        grep(sources, /process\.env|from 'node:process'/, (path) => !/^(cli\/)?src\/main\.ts$/.test(path)),
      breaks: {
        'src/config/config.ts': 'process.env.PLINTH_URL',
        'src/lib/a.ts': "process.env['HOME']",
        'cli/src/a.ts': "process.env['PLINTH_TOKEN']",
      },
    },
  ]

  test.each(rules)('$name', ({ find, breaks }) => {
    const sources = readSources()
    expect(find(sources)).toEqual([])
    for (const [path, text] of Object.entries(breaks)) {
      expect(find({ ...sources, [path]: text })).toEqual([`${path}: ${text}`])
    }
  })
})
