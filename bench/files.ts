import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import * as openpgp from 'openpgp'
import { ZipFile } from 'yazl'
import { Program } from '../test/program.ts'
import { Api } from './api.ts'
import { median } from './load.ts'

const SIZE = 100 * 2 ** 20
const TIMES = 5

/** Uploads and downloads an archive of 100 MB, beside a bare server that only hashes, or only sends, the same. */
export async function measureFiles(base: string, token: string, directory: string) {
  const path = await makeArchive(directory)
  const bare = new Program({ FILE: path }, [process.execPath, join(import.meta.dirname, 'bare.ts')])
  const bareUrl = await bare.ready()
  const links = await makePlatforms(new Api(base, token), path)
  const times = {
    upload: [] as number[],
    hash: [] as number[],
    download: [] as number[],
    send: [] as number[],
  }
  for (const { upload, show } of links) {
    times.hash.push(await timed(() => put(bareUrl, path)))
    times.upload.push(await timed(() => put(upload, path)))
    const download = await show()
    times.send.push(await timed(() => fetchAll(`${bareUrl}/file`)))
    times.download.push(await timed(() => fetchAll(download)))
  }
  await bare.kill()
  return [
    compare('upload of 100 MB, to receiving and hashing alone', times.upload, times.hash, '≤ 1.25'),
    compare('download of 100 MB, to sending alone', times.download, times.send, ''),
  ]
}

function compare(scenario: string, ours: number[], bare: number[], target: string) {
  const [a, b] = [median(ours), median(bare)]
  return { scenario, result: `${(a / b).toFixed(2)} (${Math.round(a)} ms to ${Math.round(b)} ms)`, target }
}

/** A provider's archive whose executable is random: nothing can be packed, as in real ones nothing more can. */
async function makeArchive(directory: string): Promise<string> {
  const path = join(directory, 'archive.zip')
  const zip = new ZipFile()
  zip.addBuffer(randomBytes(SIZE), 'terraform-provider-bench_v1.0.0', { mode: 0o100755, compress: false })
  zip.end()
  const chunks: Buffer[] = []
  for await (const chunk of zip.outputStream) chunks.push(chunk as Buffer)
  writeFileSync(path, Buffer.concat(chunks))
  return path
}

async function makePlatforms(api: Api, path: string) {
  const { publicKey } = await openpgp.generateKey({
    type: 'ecc',
    userIDs: [{ name: 'Bench' }],
    format: 'armored',
  })
  const namespace = 'bench-small'
  const key = await api.post('/api/registry/private/v2/gpg-keys', 'gpg-keys', {
    namespace,
    'ascii-armor': publicKey,
  })
  const providers = `/api/v2/organizations/${namespace}/registry-providers`
  await api.post(providers, 'registry-providers', { name: 'bench', namespace, 'registry-name': 'private' })
  const versions = `${providers}/private/${namespace}/bench/versions`
  const attributes = { version: '1.0.0', 'key-id': key.attributes['key-id'], protocols: ['5.0'] }
  await api.post(versions, 'registry-provider-versions', attributes)
  const shasum = await digest(path)
  return Promise.all(
    Array.from({ length: TIMES }, async (_, index) => {
      const platform = { os: 'linux', arch: `arch${index}`, filename: `${index}.zip`, shasum }
      const { links } = await api.post(`${versions}/1.0.0/platforms`, 'registry-provider-platforms', platform)
      const show = async () => {
        const shown = await api.get(`${versions}/1.0.0/platforms/linux/arch${index}`)
        return shown.links['provider-binary-download'] as string
      }
      return { upload: links['provider-binary-upload'] as string, show }
    }),
  )
}

async function digest(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

async function timed(run: () => Promise<void>): Promise<number> {
  const started = performance.now()
  await run()
  return performance.now() - started
}

function put(url: string, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const upload = request(url, { method: 'PUT' }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve()
        else reject(new Error(`PUT answered ${response.statusCode}`))
      })
    })
    upload.on('error', reject)
    pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), upload).catch(reject)
  })
}

async function fetchAll(url: string): Promise<void> {
  const response = await fetch(url)
  if (!response.ok || !response.body) throw new Error(`GET answered ${response.status}`)
  for await (const _ of response.body);
}
