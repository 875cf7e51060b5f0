import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import { extract } from 'tar-stream'
import { expect, onTestFinished, test } from 'vitest'
import type { TestServer } from '../../../test/harness.ts'
import { environmentOf, startPlinth, withServer } from '../../../test/publishing/plinth.ts'
import { writeRelease } from '../../../test/publishing/releases.ts'

const CLI = join(import.meta.dirname, '../../../cli')

/** Files of the package by path, without the folder that npm takes off. */
async function download(server: TestServer): Promise<Map<string, string>> {
  const response = await fetch(`${server.url}/cli.tgz`)
  expect(response.status).toBe(200)
  const tar = Readable.from([Buffer.from(await response.arrayBuffer())])
    .pipe(createGunzip())
    .pipe(extract())
  const files = new Map<string, string>()
  for await (const entry of tar) files.set(entry.header.name.replace(/^package\//, ''), await text(entry))
  return files
}

/** Where npm would put a package of the client's workspace, so that its dependencies are found. */
function install(files: Map<string, string>): string {
  mkdirSync(join(CLI, 'node_modules'), { recursive: true })
  const directory = mkdtempSync(join(CLI, 'node_modules/.installed-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  for (const [path, content] of files) {
    const file = join(directory, 'node_modules/plinth-cli', path)
    mkdirSync(join(file, '..'), { recursive: true })
    writeFileSync(file, content)
  }
  return join(directory, 'node_modules/plinth-cli')
}

withServer('GET /cli.tgz', (server) => {
  test('is the command that publishes to this server, for Node.js as it is', async () => {
    const organization = await server.organization()
    const installed = install(await download(server))
    const { bin } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
    const { dist, keyFile } = await writeRelease({ platforms: ['linux_amd64'] })
    const { PLINTH_SERVER: _, ...environment } = environmentOf(server, organization.owner.token)
    const args = ['provider', 'publish', dist, '--organization', organization.name, '--key', keyFile]
    const publishing = () => startPlinth(args, environment, join(installed, bin.plinth)).result
    const { code, stdout, stderr } = await publishing()
    expect(stdout).toContain(`Published ${new URL(server.url).host}/${organization.name}/demo 1.2.3`)
    expect(stderr).not.toContain('/cli.tgz')
    expect(code).toBe(0)

    // What npx keeps after the server was upgraded.
    const manifest = join(installed, 'package.json')
    const { build } = JSON.parse(readFileSync(manifest, 'utf8')).plinth
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(build, '0'.repeat(16)))
    const kept = await publishing()
    expect(kept.stderr).toContain(`get it by: npx --yes ${server.url}/cli.tgz?${build}\n`)
    expect(kept.code).toBe(0)
  })

  test('names every package that it needs, and the server that it came from', async () => {
    const files = await download(server)
    const manifest = JSON.parse(files.get('package.json') ?? '')
    const { dependencies } = JSON.parse(readFileSync(join(CLI, 'package.json'), 'utf8'))
    expect(manifest).toMatchObject({
      bin: { plinth: 'cli/src/main.js' },
      dependencies,
      plinth: { server: server.url, build: expect.stringMatching(/^[0-9a-f]{16}$/) },
    })
    const imported = [...files.values()].flatMap((code) =>
      [...code.matchAll(/(?:\bfrom |\bimport\()'([^.'][^']*)'/g)].map(([, specifier]) => specifier),
    )
    const packages = new Set(imported.filter((specifier) => !specifier?.startsWith('node:')))
    expect([...packages].sort()).toEqual(Object.keys(dependencies).sort())
    expect([...files.keys()].filter((path) => path.endsWith('.ts'))).toEqual([])
  })

  test('is public, packed once, and not sent twice', async () => {
    const first = await fetch(`${server.url}/cli.tgz`)
    expect(first.headers.get('content-type')).toBe('application/gzip')
    const etag = first.headers.get('etag') ?? ''
    const again = await fetch(`${server.url}/cli.tgz`, { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
    const address = server.url
    await server.restart({ PLINTH_LISTEN: new URL(address).host })
    expect((await fetch(`${server.url}/cli.tgz`)).headers.get('etag')).toBe(etag)
  })
})
