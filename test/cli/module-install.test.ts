import { readFileSync } from 'node:fs'
import tls from 'node:tls'
import { beforeAll, expect, onTestFinished } from 'vitest'
import { expectStatus, onEachDialect, type TestOrganization, type TestServer } from '../harness.ts'
import { createModule, deprecation, MODULE, publishModule } from '../modules.ts'
import { newWorkspace } from '../resources.ts'
import { newRun, readLog, untilRun, uploadConfiguration } from '../runs.ts'
import { testWithTerraform } from '../terraform.ts'
import { testCertificates } from '../tls.ts'
import { CliDirectory } from './cli.ts'

const { ca, cert, key } = testCertificates()

const HTTPS = { PLINTH_TLS_CERT: cert, PLINTH_TLS_KEY: key }

const RUNS = {
  PLINTH_SANDBOX: 'none',
  PLINTH_RUN_WORKERS: '1',
  PLINTH_RUN_ENVIRONMENT: 'SSL_CERT_FILE',
  SSL_CERT_FILE: ca,
}

const FILES = {
  ...MODULE,
  'modules/inner/main.tf': 'output "inner" {\n  value = "from inside"\n}\n',
}

/** Configuration that uses the module, and the one in it. */
function using(server: TestServer, { name }: TestOrganization, version: string): string {
  const source = `${new URL(server.url).host}/${name}/vpc/aws`
  return `module "it" {
  source  = "${source}"
  version = "${version}"
  name    = "World"
}
module "inner" {
  source  = "${source}//modules/inner"
  version = "${version}"
}
output "greeting" {
  value = "\${module.it.greeting} \${module.inner.inner}"
}
`
}

const GREETING = 'Hello, World! from inside'

const published = async (server: TestServer) => {
  const organization = await server.organization()
  const path = await createModule(organization)
  await publishModule(organization.owner, path, '1.0.0', FILES)
  return { organization, owner: organization.owner, path }
}

/** A run takes the module with the token that it was given. */
async function runs(server: TestServer): Promise<void> {
  const { organization, owner } = await published(server)
  const workspace = await newWorkspace(owner, organization.path, { 'auto-apply': true })
  await uploadConfiguration(owner, workspace.id, { 'main.tf': using(server, organization, '1.0.0') })
  const { id } = await newRun(owner, workspace.id)
  const { attributes, relationships } = await untilRun(owner, id, ['applied', 'errored'])
  const log = await readLog(owner, 'plans', relationships.plan.data.id)
  expect([attributes.status, log]).toEqual(['applied', expect.stringContaining(GREETING)])
  const requests = server.logLines.map((line) => JSON.parse(line))
  const asked = requests.filter(({ path }) => path?.endsWith('/vpc/aws/1.0.0/download'))
  expect(new Set(asked.map(({ subject }) => subject))).toEqual(new Set([`run:${id}`]))
}

onEachDialect(
  'modules, over HTTPS,',
  (server) => {
    beforeAll(() => {
      tls.setDefaultCACertificates([...tls.getCACertificates('default'), readFileSync(ca, 'utf8')])
    })

    const directory = (binary: string, token: string | undefined) => {
      const made = new CliDirectory(binary, new URL(server.url).host, token)
      onTestFinished(() => made.remove())
      return made
    }

    testWithTerraform('are installed and used by the CLI, also when deprecated', async (binary) => {
      const { organization, owner, path } = await published(server)
      await publishModule(owner, path, '1.1.0', FILES)
      await publishModule(owner, path, '2.0.0', FILES)
      expectStatus(await owner.patch(`${path}/1.1.0`, deprecation('Deprecated', { reason: 'Old' })), 200)
      const cli = directory(binary, owner.token)
      cli.write('main.tf', using(server, organization, '~> 1.0'))
      const init = await cli.run('init', '-input=false')
      expect([init.code, init.output]).toEqual([0, expect.stringContaining('vpc/aws 1.1.0 for it')])
      const apply = await cli.run('apply', '-auto-approve', '-input=false')
      expect([apply.code, apply.output]).toEqual([0, expect.stringContaining(`greeting = "${GREETING}"`)])
      for (const [token, message] of [
        [undefined, '401 Unauthorized'],
        [(await server.user()).token, 'cannot be found in the module registry'],
      ] as const) {
        const other = directory(binary, token)
        other.write('main.tf', using(server, organization, '1.0.0'))
        const { code, output } = await other.run('init', '-input=false')
        expect([code, output]).toEqual([1, expect.stringContaining(message)])
      }
    })

    testWithTerraform('are installed by runs', () => runs(server))
  },
  { ...HTTPS, ...RUNS },
)

onEachDialect(
  'modules, over HTTP,',
  (server) => {
    testWithTerraform('are installed by runs', () => runs(server))
  },
  RUNS,
)
