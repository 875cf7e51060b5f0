import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'
import { test } from 'vitest'
import { findTerraform } from './terraform.ts'

// As with the real command line: without a real browser these tests are left out, and fail where CI is set.

const MISSING =
  'a Chromium (PLINTH_CHROMIUM, or /usr/bin/chromium), script (util-linux), and terraform or tofu'

/** The binary that PLINTH_CHROMIUM names, or Debian's. */
function findChromium(environment = process.env): string | undefined {
  return environment['PLINTH_CHROMIUM'] || ['/usr/bin/chromium'].find(existsSync)
}

/** Declares a test in which somebody uses the CLI in a terminal and a browser beside it. */
export function testWithBrowser(
  name: string,
  run: (terraform: string, page: Page) => Promise<void>,
  timeout = 60_000,
): void {
  const terraform = findTerraform()
  const chromiumPath = findChromium()
  const complete = terraform && chromiumPath && existsSync('/usr/bin/script')
  const options = { meta: { needs: `that use a browser beside the CLI: they need ${MISSING}` }, timeout }
  test.skipIf(!complete && !process.env['CI'])(name, options, async () => {
    if (!complete) throw new Error(`missing: one of ${MISSING}`)
    const browser = await launch(chromiumPath)
    try {
      // The authority is one that only this run knows.
      await run(terraform, await (await browser.newContext({ ignoreHTTPSErrors: true })).newPage())
    } finally {
      await browser.close()
    }
  })
}

/** With a new profile, and no sandbox: tests run as root in containers, and open pages of our own only. */
function launch(executablePath: string): Promise<Browser> {
  const quiet = ['--disable-gpu', '--disable-background-networking', '--no-first-run', '--disable-sync']
  return chromium.launch({ executablePath, args: ['--no-sandbox', ...quiet] })
}
