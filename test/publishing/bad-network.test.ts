import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { TestOrganization } from '../harness.ts'
import { BadNetwork } from './bad-network.ts'
import { callPlinth, environmentOf, startPlinth, withServer } from './plinth.ts'
import { writeRelease } from './releases.ts'

withServer('plinth provider publish, over a network that breaks,', (server) => {
  const network = new BadNetwork()

  beforeAll(async () => {
    await network.start()
    // Upload links have to lead through it.
    const { port } = new URL(server.url)
    network.leadsTo(Number(port))
    await server.restart({ PLINTH_LISTEN: `127.0.0.1:${port}`, PLINTH_URL: network.url })
  })
  afterEach(() => network.heal())
  afterAll(() => network.stop())

  /** Archives do not compress, so that they are in the middle of the network when it breaks. */
  const bigRelease = () =>
    writeRelease({
      platforms: ['linux_amd64', 'darwin_arm64'],
      content: randomBytes(600_000).toString('latin1'),
    })
  const argsOf = (organization: TestOrganization, dist: string, keyFile: string, ...more: string[]) => [
    ...['provider', 'publish', dist, '--organization', organization.name, '--key', keyFile, '--json'],
    ...more,
  ]
  const installable = async ({ name, owner }: TestOrganization) =>
    (await owner.get(`/api/registry/v1/providers/${name}/demo/versions`)).body.versions.length

  test('sends again what was cut off once', async () => {
    const organization = await server.organization()
    const { dist, keyFile } = await bigRelease()
    network.cutAfter(300_000, 1)
    const environment = environmentOf(server, organization.owner.token)
    const [command, ...args] = argsOf(organization, dist, keyFile).filter((arg) => arg !== '--json')
    const { code, stderr } = await callPlinth([command as string, ...args], environment)
    expect(stderr).toMatch(/the connection to .* failed \(.*\); trying again in 0\.\d s/)
    expect(code).toBe(0)
    expect(await installable(organization)).toBe(1)
  })

  test('goes on where it was cut off, when it is run again', async () => {
    const organization = await server.organization()
    const { dist, keyFile, prefix } = await bigRelease()
    network.cutAfter(300_000, 100)
    const environment = environmentOf(server, organization.owner.token)
    const args = argsOf(organization, dist, keyFile)
    const cut = await callPlinth([...args, '--retries', '0'], environment)
    expect(cut.code).toBe(6)
    expect(JSON.parse(cut.stdout)).toMatchObject({
      status: 'failed',
      error: { kind: 'transport', 'exit-code': 6 },
    })
    expect(await installable(organization)).toBe(0)

    network.heal()
    const again = await callPlinth(args, environment)
    expect(again.code).toBe(0)
    const { status, created, uploaded } = JSON.parse(again.stdout)
    expect(status).toBe('published')
    expect(created).toEqual({ provider: false, key: false, version: false })
    expect(uploaded).toEqual([
      `${prefix}_linux_amd64.zip`,
      `${prefix}_darwin_arm64.zip`,
      `${prefix}_SHA256SUMS.sig`,
    ])
    expect(await installable(organization)).toBe(1)
  })

  test('ends at once at Ctrl-C in the middle of an upload', async () => {
    const organization = await server.organization()
    const { dist, keyFile } = await bigRelease()
    const stalled = network.stallAfter(300_000)
    const args = argsOf(organization, dist, keyFile)
    const { child, result } = startPlinth(args, environmentOf(server, organization.owner.token))
    await stalled
    child.kill('SIGINT')
    const { code, stdout } = await result
    expect(code).toBe(130)
    expect(JSON.parse(stdout)).toMatchObject({ error: { kind: 'interrupted', 'exit-code': 130 } })
    expect(await installable(organization)).toBe(0)
  })
})
