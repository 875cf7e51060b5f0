import { spawn } from 'node:child_process'
import { buffer, text } from 'node:stream/consumers'
import { CliError } from '../errors.ts'

/** The public key of `keyId` in ASCII armor, from the keyring of this machine; undefined where it has none. */
export async function exportKey(keyId: string): Promise<string | undefined> {
  const result = await gpg(['--batch', '--armor', '--export', keyId])
  const armor = result?.output.toString('utf8') ?? ''
  return armor.includes('BEGIN PGP PUBLIC KEY BLOCK') ? armor : undefined
}

/** A binary detached signature by gpg's key `keyId`, or its default key. gpg asks for a passphrase itself. */
export async function signByGpg(data: Buffer, keyId: string | undefined): Promise<Buffer> {
  const user = keyId ? ['--local-user', keyId] : []
  const result = await gpg([...user, '--digest-algo', 'SHA256', '--detach-sign', '--output', '-'], data)
  if (!result) {
    throw new CliError('release', 'there is no gpg on this machine to sign with', {
      advice: 'Install gpg, or name a file with a private key: --key private.asc',
    })
  }
  if (result.code !== 0) {
    throw new CliError('release', 'gpg did not sign', {
      details: result.problem.trim().split('\n'),
      advice: 'List the keys it has with: gpg --list-secret-keys --keyid-format long',
    })
  }
  return result.output
}

/** What gpg printed; undefined where there is none. */
async function gpg(args: string[], input: Buffer = Buffer.alloc(0)) {
  const child = spawn('gpg', args, { stdio: 'pipe' })
  const ended = new Promise<number | undefined>((resolve) => {
    child.once('error', () => resolve(undefined))
    child.once('close', (code) => resolve(code ?? 1))
  })
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const [code, output, problem] = await Promise.all([ended, buffer(child.stdout), text(child.stderr)])
  return code === undefined ? undefined : { code, output, problem }
}
