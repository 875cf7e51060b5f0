import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConfigError, readConfig } from './config.ts'
import { readSecrets } from './secrets.ts'

describe('the configuration', () => {
  test('is complete when nothing is set', () => {
    const data = resolve('data')
    expect(readConfig({})).toEqual({
      listen: { host: '127.0.0.1', port: 8080 },
      url: undefined,
      dataDir: data,
      database: { kind: 'sqlite', path: join(data, 'plinth.db') },
      blobs: { kind: 'file', path: join(data, 'blobs') },
      tls: undefined,
      trustedProxies: [],
      rateLimit: 30,
      publicProviderCuration: false,
      maxModuleBytes: 67_108_864,
      maxUploadBytes: 524_288_000,
      abandonedDraftDays: 30,
      registryQuotaBytes: 0,
      mirror: { upstreams: new Map(), timeout: 8 },
      metricsListen: undefined,
      maxStateBytes: 268_435_456,
      maxLogBytes: 67_108_864,
      runs: {
        workers: 2,
        organizationConcurrency: 10,
        sandbox: 'auto',
        workDir: join(data, 'runs'),
        enginesDir: join(data, 'engines'),
        engineMirror: undefined,
        enginePath: '',
        environment: {},
        planTimeout: 7200,
        applyTimeout: 86_400,
      },
    })
  })

  test('takes an empty variable for one that is not set', () => {
    const names = [
      'LISTEN',
      'URL',
      'DATA_DIR',
      'DATABASE_URL',
      'BLOB_URL',
      'RATE_LIMIT',
      'TLS_CERT',
      'TLS_KEY',
    ]
    expect(readConfig(Object.fromEntries(names.map((name) => [`PLINTH_${name}`, ''])))).toEqual(
      readConfig({}),
    )
  })

  test('keeps database and blobs in the data directory', () => {
    expect(readConfig({ PLINTH_DATA_DIR: '/srv/plinth/' })).toMatchObject({
      dataDir: '/srv/plinth',
      database: { path: '/srv/plinth/plinth.db' },
      blobs: { path: '/srv/plinth/blobs' },
    })
  })

  const good: [variable: string, text: string, part: object][] = [
    ['PLINTH_TRUSTED_PROXIES', '10.0.0.0/8, ::1,', { trustedProxies: ['10.0.0.0/8', '::1'] }],
    ['PLINTH_LISTEN', '0.0.0.0:80', { listen: { host: '0.0.0.0', port: 80 } }],
    ['PLINTH_LISTEN', '[::1]:65535', { listen: { host: '::1', port: 65535 } }],
    ['PLINTH_LISTEN', 'localhost:0', { listen: { host: 'localhost', port: 0 } }],
    ['PLINTH_URL', 'https://plinth.example.com', { url: 'https://plinth.example.com' }],
    ['PLINTH_URL', 'http://example.com:8080/infra//', { url: 'http://example.com:8080/infra' }],
    [
      'PLINTH_DATABASE_URL',
      'postgres://me@host/db',
      { database: { kind: 'postgres', url: 'postgres://me@host/db' } },
    ],
    [
      'PLINTH_DATABASE_URL',
      'postgresql://host/db',
      { database: { kind: 'postgres', url: 'postgresql://host/db' } },
    ],
    ['PLINTH_DATABASE_URL', 'sqlite:/tmp/a.db', { database: { kind: 'sqlite', path: '/tmp/a.db' } }],
    ['PLINTH_DATABASE_URL', 'sqlite:a.db', { database: { kind: 'sqlite', path: resolve('a.db') } }],
    ['PLINTH_BLOB_URL', 'file:/tmp/blobs', { blobs: { kind: 'file', path: '/tmp/blobs' } }],
    ['PLINTH_RATE_LIMIT', '0', { rateLimit: 0 }],
    ['PLINTH_RATE_LIMIT', '1000', { rateLimit: 1000 }],
    ['PLINTH_PUBLIC_PROVIDER_CURATION', 'on', { publicProviderCuration: true }],
    ['PLINTH_PUBLIC_PROVIDER_CURATION', 'true', { publicProviderCuration: true }],
    ['PLINTH_PUBLIC_PROVIDER_CURATION', '1', { publicProviderCuration: true }],
    ['PLINTH_PUBLIC_PROVIDER_CURATION', 'off', { publicProviderCuration: false }],
    ['PLINTH_PUBLIC_PROVIDER_CURATION', 'false', { publicProviderCuration: false }],
    ['PLINTH_PUBLIC_PROVIDER_CURATION', '0', { publicProviderCuration: false }],
    ['PLINTH_MAX_UPLOAD_BYTES', '1048576', { maxUploadBytes: 1_048_576 }],
    ['PLINTH_MAX_MODULE_BYTES', '1048576', { maxModuleBytes: 1_048_576 }],
    ['PLINTH_RUN_WORKERS', '0', { runs: { workers: 0 } }],
    ['PLINTH_ORGANIZATION_CONCURRENCY', '3', { runs: { organizationConcurrency: 3 } }],
    ['PLINTH_SANDBOX', 'bwrap', { runs: { sandbox: 'bwrap' } }],
    [
      'PLINTH_ENGINE_MIRROR',
      'https://mirror.example.com/terraform',
      { runs: { engineMirror: 'https://mirror.example.com/terraform' } },
    ],
    ['PLINTH_RUN_ENVIRONMENT', 'HTTPS_PROXY, SSL_CERT_FILE', { runs: { environment: {} } }],
    ['PLINTH_MAX_STATE_BYTES', '1024', { maxStateBytes: 1024 }],
    ['PLINTH_MAX_LOG_BYTES', '4096', { maxLogBytes: 4096 }],
    ['PLINTH_REGISTRY_QUOTA_BYTES', '5368709120', { registryQuotaBytes: 5_368_709_120 }],
    [
      'PLINTH_MIRROR_UPSTREAMS',
      'Registry.example.com, registry.terraform.io=https://proxy.example.com/v1/providers/\nlocalhost:8443',
      {
        mirror: {
          upstreams: new Map([
            ['registry.example.com', undefined],
            ['registry.terraform.io', 'https://proxy.example.com/v1/providers/'],
            ['localhost:8443', undefined],
          ]),
        },
      },
    ],
    ['PLINTH_MIRROR_TIMEOUT', '20', { mirror: { timeout: 20 } }],
  ]
  test.each(good)('reads %s=%s', (variable, text, part) => {
    expect(readConfig({ [variable]: text })).toMatchObject(part)
  })

  const bad: [variable: string, ...texts: string[]][] = [
    ['PLINTH_LISTEN', '8080', 'host-x7q', 'host-x7q:', 'host-x7q:65536', 'host-x7q:-1', ':8080', '::1:8080'],
    [
      'PLINTH_URL',
      'plinth-x7q',
      'ftp://plinth-x7q',
      'https://x7q/?a=b',
      'https://x7q/#a',
      'https://me:pw-x7q@host',
    ],
    ['PLINTH_DATABASE_URL', 'mysql://root:pw-x7q@host/db', 'postgres://', 'sqlite:', 'x7q.db'],
    ['PLINTH_BLOB_URL', 's3://key-x7q', 'file:', '/tmp/x7q'],
    ['PLINTH_TRUSTED_PROXIES', 'x7q', 'true', '1', '10.0.0.1/33', '::/129', '10.0.0.1/', '10.0.0.1 10.0.0.2'],
    ['PLINTH_RATE_LIMIT', '-1x7q', 'fast-x7q', '1.5', '1e3', ' 7'],
    ['PLINTH_PUBLIC_PROVIDER_CURATION', 'yes-x7q', 'ON', '2'],
    ['PLINTH_REGISTRY_QUOTA_BYTES', '5GB-x7q', '-1'],
    ['PLINTH_MAX_MODULE_BYTES', '64MB-x7q', '-5'],
    ['PLINTH_RUN_WORKERS', '-1', '1.5', 'many-x7q'],
    ['PLINTH_ORGANIZATION_CONCURRENCY', '0', '-1', 'many-x7q'],
    ['PLINTH_SANDBOX', 'docker-x7q', 'BWRAP'],
    ['PLINTH_ENGINE_MIRROR', 'ftp://x7q', 'x7q'],
    ['PLINTH_RUN_ENVIRONMENT', 'A-B-x7q', 'PLINTH_SECRET_KEY', '1A'],
    ['PLINTH_MAX_UPLOAD_BYTES', '500MB-x7q', '-5', '9'.repeat(16)],
    ['PLINTH_MIRROR_UPSTREAMS', 'x7q_', 'x7q=ftp://x7q', 'x7q=', 'https://x7q/', 'x7q/*'],
    ['PLINTH_MIRROR_TIMEOUT', '0', '1.5', 'x7q'],
  ]
  const cases = bad.flatMap(([variable, ...texts]) => texts.map((text) => [variable, text] as const))
  test.each(cases)('refuses %s=%s, naming the variable and not the value', (variable, text) => {
    const error = failure(() => readConfig({ [variable]: text }))
    expect(error).toBeInstanceOf(ConfigError)
    expect(error.message).toMatch(new RegExp(`^${variable} must be `))
    expect(error.message).not.toContain('x7q')
    expect(error.message.split('\n')).toHaveLength(1)
  })

  test('reads certificate and key together only', () => {
    expect(readConfig({ PLINTH_TLS_CERT: '/a.pem', PLINTH_TLS_KEY: 'b.pem' }).tls).toEqual({
      cert: '/a.pem',
      key: resolve('b.pem'),
    })
    for (const name of ['PLINTH_TLS_CERT', 'PLINTH_TLS_KEY']) {
      expect(failure(() => readConfig({ [name]: '/a.pem' })).message).toBe(
        'PLINTH_TLS_CERT and PLINTH_TLS_KEY must be set together',
      )
    }
  })

  test('reports everything that is wrong at once', () => {
    const error = failure(() => readConfig(Object.fromEntries(bad.map(([variable]) => [variable, '?']))))
    expect(error.message.split('\n').map((line) => line.split(' ')[0])).toEqual(
      bad.map(([variable]) => variable),
    )
  })
})

describe('the secrets', () => {
  let directory: string
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'plinth-secrets-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  test('come from a key that is made once and that its owner alone can read', () => {
    const data = join(directory, 'data')
    const first = readSecrets({}, data)
    const path = join(data, 'secret-key')
    const key = readFileSync(path, 'utf8')
    expect(key).toMatch(/^[\w-]{43}\n$/)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(data).mode & 0o777).toBe(0o700)
    expect(readSecrets({}, data).derive('links')).toEqual(first.derive('links'))
    expect(readFileSync(path, 'utf8')).toBe(key)
    expect(readSecrets({}, join(directory, 'other')).derive('links')).not.toEqual(first.derive('links'))
  })

  test('leave no draft of a process that was killed before it could remove it', () => {
    const left = ['secret-key.999999999', `secret-key.${process.pid}`].map((name) => join(directory, name))
    const kept = ['secret-key.1', 'secret-key.backup'].map((name) => join(directory, name))
    for (const path of [...left, ...kept]) writeFileSync(path, 'a secret')
    const { derive } = readSecrets({}, directory)
    expect(left.map((path) => existsSync(path))).toEqual([false, false])
    expect(kept.map((path) => existsSync(path))).toEqual([true, true])
    writeFileSync(join(directory, 'secret-key.999999999'), 'a secret')
    expect(readSecrets({}, directory).derive('links')).toEqual(derive('links'))
    expect(existsSync(join(directory, 'secret-key.999999999'))).toBe(false)
  })

  test('differ by purpose', () => {
    const { derive } = readSecrets({}, directory)
    expect(derive('links')).toHaveLength(32)
    expect(derive('links')).not.toEqual(derive('others'))
  })

  test('come from the configured key, and no file is made', () => {
    const key = 'k'.repeat(32)
    const { derive } = readSecrets({ PLINTH_SECRET_KEY: key }, directory)
    expect(existsSync(join(directory, 'secret-key'))).toBe(false)
    writeFileSync(join(directory, 'secret-key'), 'another')
    expect(readSecrets({ PLINTH_SECRET_KEY: key }, directory).derive('links')).toEqual(derive('links'))
    expect(readSecrets({ PLINTH_SECRET_KEY: `${key}!` }, directory).derive('links')).not.toEqual(
      derive('links'),
    )
  })

  test.each([
    ['PLINTH_SECRET_KEY', 'too-short-x7q'],
    ['PLINTH_ADMIN_TOKEN', 'sh-x7q'],
    ['PLINTH_ADMIN_TOKEN', 'with a space in it x7q'],
    ['PLINTH_ADMIN_TOKEN', `line\nbreak-${'x7q'.repeat(9)}`],
    ['PLINTH_ADMIN_TOKEN', 'x7q'.repeat(100)],
    ['PLINTH_MIRROR_TOKENS', 'x7q'],
    ['PLINTH_MIRROR_TOKENS', 'registry.example.com=x7q other='],
  ])('refuse a bad %s without showing it', (variable, text) => {
    const error = failure(() => readSecrets({ [variable]: text }, directory))
    expect(error).toBeInstanceOf(ConfigError)
    expect(error.message).toMatch(new RegExp(`^${variable} must `))
    expect(error.message).not.toContain('x7q')
  })

  test('hold the admin token that the operator chose', () => {
    const token = 'a-token-of-the-operator'
    expect(readSecrets({ PLINTH_ADMIN_TOKEN: token }, directory).adminToken).toBe(token)
    expect(readSecrets({}, directory).adminToken).toBeUndefined()
  })
})

function failure(run: () => unknown): Error {
  try {
    run()
  } catch (error) {
    return error as Error
  }
  throw new Error('it did not fail')
}
