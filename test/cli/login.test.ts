import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import tls from 'node:tls'
import type { Page } from 'playwright-core'
import { beforeAll, expect, onTestFinished } from 'vitest'
import { testWithBrowser } from '../browser.ts'
import { onEachDialect, type TestServer } from '../harness.ts'
import { testCertificates } from '../tls.ts'
import { userWithPassword } from '../visitor.ts'
import { Terminal } from './terminal.ts'

const { ca, cert, key } = testCertificates()

/** A person's home, in which the command line opens the browser by writing down the address. */
function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'plinth-home-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  mkdirSync(join(home, '.terraform.d'))
  mkdirSync(join(home, 'bin'))
  const open = '#!/bin/sh\nprintf %s "$1" > "$HOME/opening" && mv "$HOME/opening" "$HOME/opened"\n'
  writeFileSync(join(home, 'bin', 'xdg-open'), open, { mode: 0o755 })
  return home
}

/** Starts the login, agrees to it, and returns the address that it wants to be opened. */
async function startLogin(terraform: string, server: TestServer, home: string) {
  const terminal = new Terminal(`${terraform} login ${new URL(server.url).host}`, {
    cwd: home,
    env: {
      PATH: `${join(home, 'bin')}:/usr/bin:/bin`,
      HOME: home,
      SSL_CERT_FILE: ca,
      CHECKPOINT_DISABLE: '1',
      TERM: 'xterm',
    },
  })
  onTestFinished(() => terminal.close())
  await expect.poll(() => terminal.shown, { timeout: 20_000 }).toContain('Enter a value:')
  terminal.type('yes')
  const opened = () => readFileSync(join(home, 'opened'), 'utf8')
  await expect.poll(opened, { timeout: 20_000 }).toContain('/oauth/authorize?')
  return { terminal, address: opened() }
}

async function expectSuccess(server: TestServer, terminal: Terminal, home: string, userId: string) {
  expect(await terminal.ended, terminal.shown).toBe(0)
  expect(terminal.shown).toContain('Success!')
  const path = join(home, '.terraform.d', 'credentials.tfrc.json')
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const { token } = JSON.parse(readFileSync(path, 'utf8')).credentials[new URL(server.url).host]
  const account = await server.as(token).get('/api/v2/account/details')
  expect(account).toMatchObject({ status: 200, body: { data: { id: userId } } })
}

onEachDialect(
  'terraform login in a terminal, with a browser,',
  (server) => {
    beforeAll(() => {
      tls.setDefaultCACertificates([...tls.getCACertificates('default'), readFileSync(ca, 'utf8')])
    })

    const alertOn = (page: Page) => page.getByRole('alert').textContent()

    testWithBrowser(
      'saves a token that works, once the user has signed in and approved',
      async (terraform, page) => {
        const user = await userWithPassword(server)
        const home = makeHome()
        const { terminal, address } = await startLogin(terraform, server, home)
        const problems: string[] = []
        page.on('console', (message) => problems.push(message.text()))

        await page.goto(address)
        await page.getByLabel('Username or e-mail').fill(user.email)
        await page.getByLabel('Password').fill('not the password')
        await page.getByRole('button', { name: 'Sign in', exact: true }).click()
        expect(await alertOn(page)).toContain('That is not right.')
        expect(await page.getByLabel('Username or e-mail').inputValue()).toBe(user.email)
        await page.getByLabel('Password').fill(user.password)
        await page.getByRole('button', { name: 'Sign in', exact: true }).click()

        await page.getByText(`${user.username} (${user.email})`).waitFor()
        const port = new URL(new URL(address).searchParams.get('redirect_uri') ?? '').port
        expect(await page.locator('dl').textContent()).toContain(`localhost:${port}`)
        // The browser takes the style sheet: its hash is the one that the policy allows.
        expect(await page.evaluate("getComputedStyle(document.querySelector('dt')).fontWeight")).toBe('600')
        await page.getByRole('button', { name: 'Approve' }).click()
        // The command line ends as soon as it has the code, often before the browser has its answer.
        await expectSuccess(server, terminal, home, user.id)
        expect(problems.filter((text) => text.includes('Content Security Policy'))).toEqual([])
      },
    )

    testWithBrowser('takes an API token in place of a password', async (terraform, page) => {
      const user = await server.user()
      const home = makeHome()
      const { terminal, address } = await startLogin(terraform, server, home)
      await page.goto(address)
      await page.getByLabel('API token').fill(user.token as string)
      await page.getByRole('button', { name: 'Sign in with the token' }).click()
      await page.getByRole('button', { name: 'Approve' }).click()
      await expectSuccess(server, terminal, home, user.id)
    })

    testWithBrowser('saves nothing when the user denies it', async (terraform, page) => {
      const user = await server.user()
      const home = makeHome()
      const { address } = await startLogin(terraform, server, home)
      await page.goto(address)
      await page.getByLabel('API token').fill(user.token as string)
      await page.getByRole('button', { name: 'Sign in with the token' }).click()
      const told = page.waitForRequest(/^http:\/\/localhost:\d+\/login\?error=access_denied&/)
      await page.getByRole('button', { name: 'Deny' }).click()
      await told
      expect(() => statSync(join(home, '.terraform.d', 'credentials.tfrc.json'))).toThrow('ENOENT')
      const url = `/api/v2/users/${user.id}/authentication-tokens`
      expect((await user.get(url)).body.data).toHaveLength(1)
    })
  },
  { PLINTH_TLS_CERT: cert, PLINTH_TLS_KEY: key },
)
