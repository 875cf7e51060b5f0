import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readAgentConfig } from './agent.ts'

const SET = { PLINTH_AGENT_ADDRESS: 'https://plinth.example.com/', PLINTH_AGENT_TOKEN: 'plinth_token' }

describe('the configuration of an agent', () => {
  test('needs an address and a token', () => {
    expect(readAgentConfig(SET)).toMatchObject({
      address: 'https://plinth.example.com',
      token: 'plinth_token',
      name: hostname(),
      single: false,
      ca: undefined,
      dataDir: resolve('data'),
      runs: { workers: 2, sandbox: 'auto', workDir: resolve('data/runs') },
    })
    expect(() => readAgentConfig({ PLINTH_AGENT_TOKEN: 'a secret', PLINTH_RUN_WORKERS: 'many' })).toThrow(
      /^PLINTH_AGENT_ADDRESS must .*\nPLINTH_AGENT_TOKEN, or .*\nPLINTH_RUN_WORKERS must be a whole number of runs$/,
    )
  })

  test('takes addresses at which nobody else hears what is said', () => {
    const allowed = (address: string) => {
      try {
        return readAgentConfig({ ...SET, PLINTH_AGENT_ADDRESS: address }).address
      } catch {
        return undefined
      }
    }
    for (const address of [
      'https://10.0.0.1:8443',
      'http://localhost:8080',
      'http://127.1.2.3',
      'http://[::1]:8080',
    ]) {
      expect(allowed(address)).toBe(address)
    }
    for (const address of [
      'http://plinth.example.com',
      'http://10.0.0.1',
      'http://localhost.example.com',
      'http://127.0.0.1.example.com',
      'https://token@plinth.example.com',
      'ftp://localhost',
      'plinth.example.com',
    ]) {
      expect([address, allowed(address)]).toEqual([address, undefined])
    }
  })

  test('takes the token from a file', () => {
    const directory = mkdtempSync(join(tmpdir(), 'plinth-token-'))
    const file = join(directory, 'token')
    writeFileSync(file, 'plinth_of_a_file\n')
    const { PLINTH_AGENT_TOKEN: _, ...others } = SET
    expect(readAgentConfig({ ...others, PLINTH_AGENT_TOKEN_FILE: file }).token).toBe('plinth_of_a_file')
    rmSync(directory, { recursive: true })
    expect(() => readAgentConfig({ ...others, PLINTH_AGENT_TOKEN_FILE: file })).toThrow(
      'PLINTH_AGENT_TOKEN_FILE',
    )
  })
})
