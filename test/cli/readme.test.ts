import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'
import { onEachDialect } from '../harness.ts'
import { testWithTerraform } from '../terraform.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** The shell commands of a section, as they stand. */
function commandsOf(heading: string, file = 'README.md'): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const section = text.split(/^## /m).find((part) => part.startsWith(heading)) ?? ''
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map((match) => match[1] as string)
}

const hasTools = ['gpg', 'zip', 'curl'].every((tool) => spawnSync(tool, ['--version']).status === 0)

onEachDialect(
  'the walks in the README',
  (server) => {
    /** Types in what a section says; returns where, and what was printed. */
    const walk = async (heading: string, terraform: string, edit = (commands: string[]) => commands) => {
      if (!hasTools) throw new Error('the walks need gpg, zip and curl')
      const [start, ...commands] = edit(commandsOf(heading))
      expect(start).toBe('npm ci && npm start\n')

      const directory = mkdtempSync(join(tmpdir(), 'plinth-walk-'))
      onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
      mkdirSync(join(directory, 'data'))
      writeFileSync(join(directory, 'data', 'admin-token'), server.admin.token as string)
      // The server is the one the tests started; all else is what a reader types.
      const script = commands
        .join('\n')
        .replace('http://127.0.0.1:8080', server.url)
        // What the server packs, without npm in between; features/cli-downloads has a test of that.
        .replace(/npx --yes \S+\/cli\.tgz"/, `PLINTH_SERVER=$PLINTH node ${join(ROOT, 'cli/src/main.ts')}`)
        .replaceAll(/(^| )terraform (init|apply)/gm, `$1${terraform} $2`)
      const run = promisify(execFile)
      // gpg leaves a process behind that the reader's machine may keep, and ours not.
      const { stdout } = await run(
        'bash',
        ['-euo', 'pipefail', '-c', `trap 'gpgconf --kill all' EXIT\n${script}`],
        {
          cwd: directory,
          env: { PATH: process.env['PATH'], HOME: directory, CHECKPOINT_DISABLE: '1' },
        },
      )
      return { directory, stdout }
    }

    testWithTerraform('plan and apply on the server, typed in as they stand', async (terraform) => {
      const { stdout } = await walk('Two minutes to your first run', terraform)
      expect(stdout).toContain('Apply complete! Resources: 1 added, 0 changed, 0 destroyed.')
      expect(stdout).toContain('greeting = "Hello from a run"')
    })

    testWithTerraform('install a provider of your own, typed in as they stand', async (terraform) => {
      const { directory, stdout } = await walk('Five minutes to your own provider', terraform)
      expect(stdout).toMatch(/Installed plinth\.local\/acme\/hello v1\.0\.0/)
      expect(stdout).toMatch(/Published \S+\/acme\/hello 1\.0\.0, signed by key \w{16}\./)
      expect(readFileSync(join(directory, 'walk', '.terraform.lock.hcl'), 'utf8')).toMatch(/"h1:.*"zh:/s)
    })

    testWithTerraform('publish by hand, typed in as docs/publishing.md has it', async (terraform) => {
      const byHand = commandsOf('By hand', 'docs/publishing.md')
      expect(byHand).toHaveLength(3)
      const { stdout } = await walk('Five minutes to your own provider', terraform, (commands) =>
        commands
          .flatMap((each) => (each.includes('provider publish') ? byHand : each))
          // The other walk made that one.
          .map((each) => each.replaceAll('acme', 'by-hand')),
      )
      expect(stdout).toMatch(/Installed plinth\.local\/by-hand\/hello v1\.0\.0/)
    })
  },
  { PLINTH_RUN_WORKERS: '2' },
)
