import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { TestServer } from '../../test/harness.ts'
import { Program } from '../../test/program.ts'

const directory = mkdtempSync(join(tmpdir(), 'plinth-backup-'))
afterAll(() => rmSync(directory, { recursive: true }))

const file = join(directory, 'plinth.tar')

describe('the program', () => {
  const run = async (settings: Record<string, string>, ...parameters: string[]) => {
    const program = new Program(settings, [process.execPath, 'src/start.js', ...parameters])
    return { code: await program.exit(), stdout: program.stdout, stderr: program.stderr }
  }

  test('backs up and restores, and says what it did', async () => {
    const server = new TestServer('sqlite')
    await server.start()
    const written = await run({ PLINTH_DATA_DIR: server.dataDir }, 'backup', file)
    expect(written).toMatchObject({ code: 0, stderr: '' })
    expect(written.stdout).toMatch(/^Wrote .*\.tar: \d+ rows and 0 files\. It holds secrets/)
    const home = mkdtempSync(join(directory, 'home-'))
    const restored = await run({ PLINTH_DATA_DIR: home }, 'restore', file)
    expect(restored).toMatchObject({ code: 0, stderr: '' })
    expect(restored.stdout).toMatch(/^Restored \d+ rows and 0 files of /)
    await server.stop()
  })

  test('says in a line what it cannot do', async () => {
    const settings = { PLINTH_DATA_DIR: join(directory, 'none') }
    expect(await run(settings, 'bakcup')).toMatchObject({
      code: 1,
      stderr:
        'Plinth cannot bakcup:\nThere is: start (or nothing), agent, backup FILE, restore FILE, rotate-key\n',
    })
    expect((await run(settings, 'backup')).stderr).toContain('There is: start')
    expect((await run(settings, 'backup', file)).stderr).toMatch(
      /^Plinth cannot backup:\nThere is no database; .*\n$/,
    )
    expect((await run(settings, 'restore', '/none.tar')).stderr).toBe(
      'Plinth cannot restore:\nThere is no file /none.tar\n',
    )
  })
})
