import { readFileSync } from 'node:fs'
import tls from 'node:tls'
import { afterEach, beforeAll, expect } from 'vitest'
import { onEachDialect, type TestOrganization } from '../harness.ts'
import { bindings, newWorkspace, tags } from '../resources.ts'
import { testWithTerraform } from '../terraform.ts'
import { testCertificates } from '../tls.ts'
import { CliDirectory } from './cli.ts'

const { ca, cert, key } = testCertificates()

onEachDialect(
  'terraform with a cloud block',
  (server) => {
    const directories: CliDirectory[] = []
    beforeAll(() => {
      tls.setDefaultCACertificates([...tls.getCACertificates('default'), readFileSync(ca, 'utf8')])
    })
    afterEach(() => {
      for (const directory of directories.splice(0)) directory.remove()
    })

    /** A directory whose configuration keeps its state in the organization, in the workspaces chosen. */
    const cloud = (binary: string, { name, owner }: TestOrganization, workspaces: string) => {
      const { host } = new URL(server.url)
      const directory = new CliDirectory(binary, host, owner.token)
      directories.push(directory)
      directory.write(
        'main.tf',
        `terraform {
          cloud {
            hostname     = "${host}"
            organization = "${name}"
            workspaces {
              ${workspaces}
            }
          }
        }`,
      )
      return directory
    }

    const succeed = async (cli: CliDirectory, ...args: string[]) => {
      const { code, output } = await cli.run(...args)
      expect([args, code, code === 0 ? '' : output]).toEqual([args, 0, ''])
      return output
    }

    testWithTerraform('makes the workspace it names, and the project it names', async (binary) => {
      const organization = await server.organization()
      const { owner, path } = organization
      const cli = cloud(binary, organization, 'name = "app"\nproject = "Networks"')
      await succeed(cli, 'init', '-input=false')
      const { data } = (await owner.get(`${path}/workspaces/app?include=project`)).body
      expect(data.attributes['terraform-version']).toMatch(/^\d+\.\d+\.\d+/)
      const project = await owner.get(`/api/v2/projects/${data.relationships.project.data.id}`)
      expect(project.body.data.attributes.name).toBe('Networks')
      await succeed(cli, 'init', '-input=false')
      expect(await succeed(cli, 'workspace', 'show')).toContain('app')
    })

    testWithTerraform('makes, lists, selects and deletes workspaces by tags', async (binary) => {
      const organization = await server.organization()
      const { owner, path } = organization
      await newWorkspace(owner, path, { name: 'untagged' })
      const ways = {
        'tags = ["net", "prod"]': { tags: tags('net', 'prod') },
        'tags = { env = "dev", team = "net" }': { 'tag-bindings': bindings({ env: 'dev', team: 'net' }) },
      }
      for (const [index, [block, relationships]] of Object.entries(ways).entries()) {
        const [first, second] = [`first-${index}`, `second-${index}`]
        await newWorkspace(owner, path, { name: first }, relationships)
        const cli = cloud(binary, organization, block)
        await succeed(cli, 'init', '-input=false')
        await succeed(cli, 'workspace', 'new', second)
        expect((await succeed(cli, 'workspace', 'list')).match(/[\w-]+/g)).toEqual([first, second])
        await succeed(cli, 'workspace', 'select', first)
        await succeed(cli, 'init', '-input=false')
        await succeed(cli, 'workspace', 'delete', second)
        expect((await owner.get(`${path}/workspaces/${second}`)).status).toBe(404)
      }
    })

    testWithTerraform('breaks a lock', async (binary) => {
      const organization = await server.organization()
      const { owner, path, name } = organization
      const { id } = await newWorkspace(owner, path, { name: 'app' })
      const cli = cloud(binary, organization, 'name = "app"')
      await succeed(cli, 'init', '-input=false')
      await owner.post(`/api/v2/workspaces/${id}/actions/lock`)
      await succeed(cli, 'force-unlock', '-force', `${name}/app`)
      expect((await owner.get(`/api/v2/workspaces/${id}`)).body.data.attributes.locked).toBe(false)
      const again = await cli.run('force-unlock', '-force', `${name}/app`)
      expect(again.code).toBe(1)
      expect(again.output).toContain('already unlocked')
    })
  },
  { PLINTH_TLS_CERT: cert, PLINTH_TLS_KEY: key },
)
