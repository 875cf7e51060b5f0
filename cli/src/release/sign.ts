import { join } from 'node:path'
import type { PrivateKey } from 'openpgp'
import { CliError } from '../errors.ts'
import { hashFile } from './archives.ts'
import type { FoundRelease } from './find.ts'
import { signByGpg } from './gpg.ts'
import type { NamedKey } from './keys.ts'
import { manifestName, readManifest } from './manifest.ts'

/** Loaded when first needed: it is most of the program. */
const load = () => import('openpgp')

/** The list of the digests of a release's archives and manifest, as goreleaser makes it. */
export async function makeShasums(found: FoundRelease): Promise<Buffer> {
  const prefixes = [`${found.version}_`, `v${found.version}_`].map(
    (version) => `terraform-provider-${found.name}_${version}`,
  )
  const digests = new Map<string, string>()
  for (const file of found.files) {
    if (!file.endsWith('.zip') || !prefixes.some((prefix) => file.startsWith(prefix))) continue
    digests.set(file, await hashFile(join(found.directory, file)))
  }
  const manifest = await readManifest(found)
  if (manifest) digests.set(manifestName(found), await hashFile(manifest.file))
  return Buffer.from([...digests].map(([file, digest]) => `${digest}  ${file}\n`).join(''))
}

/** A binary detached signature, by a file with a private key, or else by gpg. */
export async function sign(data: Buffer, named: NamedKey, passphrase: string | undefined): Promise<Buffer> {
  if (named.kind !== 'file') return signByGpg(data, named.kind === 'id' ? named.keyId : undefined)
  if (!named.isPrivate) {
    throw new CliError('usage', `${named.file} is a public key, which cannot sign`, {
      advice: 'Name the private key, or the id of a key that gpg has: --sign --key KEYID',
    })
  }
  const signingKeys = await unlock(await readPrivateKey(named), passphrase)
  const openpgp = await load()
  const message = await openpgp.createMessage({ binary: new Uint8Array(data) })
  return Buffer.from(await openpgp.sign({ message, signingKeys, detached: true, format: 'binary' }))
}

/** The public half of a private key. */
export async function publicHalf(named: NamedKey): Promise<NamedKey> {
  if (named.kind !== 'file' || !named.isPrivate) return named
  return { ...named, armor: (await readPrivateKey(named)).toPublic().armor(), isPrivate: false }
}

async function readPrivateKey({ file, armor }: { file: string; armor: string }): Promise<PrivateKey> {
  const openpgp = await load()
  return openpgp.readPrivateKey({ armoredKey: armor }).catch((error: Error) => {
    throw new CliError('usage', `${file} is not a private key (${error.message})`)
  })
}

async function unlock(privateKey: PrivateKey, passphrase: string | undefined) {
  if (privateKey.isDecrypted()) return privateKey
  const advice = 'Set it in PLINTH_KEY_PASSPHRASE, or sign by gpg: --sign --key KEYID'
  if (!passphrase) throw new CliError('usage', 'the private key has a passphrase', { advice })
  const openpgp = await load()
  return openpgp.decryptKey({ privateKey, passphrase }).catch(() => {
    throw new CliError('usage', 'the passphrase does not fit the private key', { advice })
  })
}
