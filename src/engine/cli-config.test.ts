import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { ProviderMirror } from './channel.ts'
import { makeCliConfig } from './cli-config.ts'

/** Nobody listens there, so nothing can be discovered. */
const NOWHERE = '127.0.0.1:1'

function providersIn(...names: string[]): string {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-providers-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  for (const name of names) mkdirSync(join(directory, name), { recursive: true })
  return directory
}

const configure = (mirror?: ProviderMirror, dirs: { providersDir?: string; bundled?: string } = {}) =>
  makeCliConfig({
    serverUrl: 'https://plinth.example.com:8443',
    token: 'secret',
    mirror,
    plugins: '/plugins',
    providersDir: dirs.providersDir,
    bundled: dirs.bundled,
  })

/** The text from the start of the methods by which providers are installed. */
const installation = (text: string) =>
  text.slice(text.indexOf('provider_installation')).replaceAll(/\s+/g, ' ').trim()

test('providers come from where they are when there is no mirror', async () => {
  const text = await configure()
  expect(text).not.toContain('host "')
  expect(installation(text)).toBe('provider_installation { direct { exclude = [] } }')
})

test('providers of listed hosts come from the mirror, and modules from where they are', async () => {
  const hosts = [
    { host: NOWHERE, providers: 'http://plinth.example.com/storage/x/' },
    { host: 'plinth.example.com:8443', providers: 'http://plinth.example.com/storage/y/' },
  ]
  const text = await configure({ hosts, allowed: [`${NOWHERE}/*/*`], others: true })
  expect(text.match(/^host .*\{$/gm)).toEqual([`host "${NOWHERE}" {`])
  expect(text).toContain(`    "modules.v1" = "https://${NOWHERE}/v1/modules/"\n`)
  expect(text).toContain('    "providers.v1" = "http://plinth.example.com/storage/x/"\n')
  expect(installation(text)).toBe('provider_installation { direct { exclude = [] } }')
})

test('a run that is kept to the list has what is on it, what the operator keeps, and the own registry', async () => {
  const providersDir = providersIn('kept.example.com/acme/kept')
  const bundled = providersIn(
    'registry.example.com/acme/one',
    'registry.example.com/acme/two',
    'registry.example.com/other/three',
  )
  const allowed = ['registry.example.com/acme/one', 'registry.example.com/other/*']
  const text = await configure({ hosts: [], allowed, others: false }, { providersDir, bundled })
  const [kept, own] = [
    '"kept.example.com/acme/kept"',
    '"registry.example.com/acme/one","registry.example.com/other/three"',
  ]
  expect(installation(text)).toBe(
    [
      `provider_installation { filesystem_mirror { path = "${providersDir}" include = [${kept}] }`,
      `filesystem_mirror { path = "${bundled}" include = [${own}] }`,
      `direct { include = ["plinth.example.com:8443/*/*",${allowed.map((each) => `"${each}"`)}]`,
      `exclude = [${kept},${own}] } }`,
    ].join(' '),
  )
})

test('a server without TLS is described by what it says of itself, if that is not too much', async () => {
  let services = JSON.stringify({
    'providers.v1': '/p/',
    'login.v1': {},
    'odd "name"': '/o/',
    'tfe.v2': 'api/',
  })
  const server = createServer((_request, response) => void response.end(services))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  const serverUrl = `http://127.0.0.1:${port}`
  const describe = async () => {
    const none = { mirror: undefined, providersDir: undefined, bundled: undefined }
    const text = await makeCliConfig({ serverUrl, token: 'secret', plugins: '/plugins', ...none })
    return text.match(/^ {4}".*$/gm)
  }
  expect(await describe()).toEqual([
    `    "providers.v1" = "${serverUrl}/p/"`,
    `    "tfe.v2" = "${serverUrl}/.well-known/api/"`,
  ])
  services = JSON.stringify({ 'providers.v1': `/${'p'.repeat(2 ** 20)}/` })
  expect(await describe()).toBeNull()
})
