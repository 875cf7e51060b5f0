import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { onEachDialect } from '../../../test/harness.ts'
import { newWorkspace } from '../../../test/resources.ts'
import { newRun, untilRun, uploadConfiguration } from '../../../test/runs.ts'
import { testWithTerraform } from '../../../test/terraform.ts'

const LINES = 6

/** Prints a line with the moment at which it does so, waits, and prints the next. */
const TELLING = {
  'main.tf': `resource "terraform_data" "slow" {
  provisioner "local-exec" {
    command = "for n in $(seq ${LINES}); do echo \\"line $n at $(date +%s%3N).\\"; sleep 0.4; done"
  }
}\n`,
}

onEachDialect(
  'the log of a slow apply',
  (server) => {
    testWithTerraform('is read less than a second after it was printed', async () => {
      const { owner, path } = await server.organization()
      const workspace = await newWorkspace(owner, path)
      await uploadConfiguration(owner, workspace.id, TELLING)
      const run = await newRun(owner, workspace.id, { 'auto-apply': true })
      const apply = await owner.get(`/api/v2/applies/${run.relationships.apply.data.id}`)
      const url: string = apply.body.data.attributes['log-read-url']

      const delays: number[] = []
      let offset = 0
      let rest = ''
      for (let isOver = false; !isOver; await sleep(50)) {
        const answer = await fetch(`${url}?limit=65536&offset=${offset}`)
        const bytes = Buffer.from(await answer.arrayBuffer())
        const now = Date.now()
        offset += bytes.length
        isOver = bytes.includes('\x03')
        const lines = (rest + bytes.toString()).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) {
          const printed = /\(local-exec\): line \d+ at (\d+)\./.exec(line)?.[1]
          if (printed) delays.push(now - Number(printed))
        }
      }
      expect(delays).toHaveLength(LINES)
      expect(Math.max(...delays)).toBeLessThan(1_000)
      await untilRun(owner, run.id, ['applied'])
    })
  },
  { PLINTH_RUN_WORKERS: '2' },
)
