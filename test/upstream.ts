import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { makeArchive, type SigningKey, sha256 } from './registry.ts'

/** Whether a test answers a request itself, or leaves it without an answer. */
export type Answering = (path: string, response: ServerResponse) => boolean

/** A version of a provider, each part of which a test may spoil. */
export interface UpstreamRelease {
  archives: Map<string, Buffer>
  shasums: Buffer
  signature: Buffer
  keys: string[]
}

/** A registry of providers for others to mirror, which does what a test wants. It has no TLS. */
export class UpstreamRegistry {
  readonly #server = createServer((request, response) => this.#answer(request, response))
  readonly #releases = new Map<string, UpstreamRelease>()
  /** The paths that were asked for. */
  readonly asked: string[] = []
  instead: Answering = () => false

  async start(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#server.listen(0, '127.0.0.1', resolve)
    await promise
    this.#server.unref()
  }

  /** Where it speaks the registry protocol. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo
    return `http://127.0.0.1:${port}/providers/`
  }

  /** Adds a version of `acme/<name>`, signed as its author would. */
  async release(
    name: string,
    version: string,
    key: SigningKey,
    { platforms = ['linux_amd64', 'darwin_arm64'], content = '' } = {},
  ): Promise<UpstreamRelease> {
    const archives = new Map<string, Buffer>()
    for (const platform of platforms) {
      archives.set(platform, await makeArchive(name, version, `#!/bin/sh\n# ${platform} ${content}\n`))
    }
    const lines = [...archives].map(
      ([platform, bytes]) => `${sha256(bytes)}  ${fileOf(name, version, platform)}\n`,
    )
    const shasums = Buffer.from(lines.join(''))
    const release = { archives, shasums, signature: await key.sign(shasums), keys: [key.armor] }
    this.#releases.set(`${name}/${version}`, release)
    return release
  }

  /** Has a version no more. */
  withdraw(name: string, version: string): void {
    this.#releases.delete(`${name}/${version}`)
  }

  #answer(request: IncomingMessage, response: ServerResponse): ServerResponse {
    const path = (request.url ?? '').replace('/providers/acme/', '')
    this.asked.push(path)
    if (this.instead(path, response)) return response
    const [name = '', version = '', kind = '', os = '', arch = ''] = path.split('/')
    if (version === 'versions') return this.#list(name, response)
    const release = this.#releases.get(`${name}/${version}`)
    const archive = release?.archives.get(`${os}_${arch}`)
    if (!release) return fail(response, 404)
    if (kind === 'SHA256SUMS') return response.end(release.shasums)
    if (kind === 'SHA256SUMS.sig') return response.end(release.signature)
    if (!archive) return fail(response, 404)
    if (kind === 'archive') return response.end(archive)
    return this.#offer({ name, version, os, arch, archive, keys: release.keys }, response)
  }

  #list(name: string, response: ServerResponse): ServerResponse {
    const found = [...this.#releases].filter(([key]) => key.startsWith(`${name}/`))
    if (found.length === 0) return fail(response, 404)
    const versions = found.map(([key, { archives }]) => ({
      version: key.slice(name.length + 1),
      protocols: ['5.0'],
      platforms: [...archives.keys()].map((platform) => {
        const [os, arch] = platform.split('_')
        return { os, arch }
      }),
    }))
    return answerJson(response, { versions })
  }

  #offer(
    {
      name,
      version,
      os,
      arch,
      archive,
      keys,
    }: { name: string; version: string; os: string; arch: string; archive: Buffer; keys: string[] },
    response: ServerResponse,
  ): ServerResponse {
    const at = `/providers/acme/${name}/${version}`
    return answerJson(response, {
      protocols: ['5.0'],
      os,
      arch,
      filename: fileOf(name, version, `${os}_${arch}`),
      download_url: `${at}/archive/${os}/${arch}`,
      shasums_url: `${at}/SHA256SUMS`,
      shasums_signature_url: `${at}/SHA256SUMS.sig`,
      shasum: sha256(archive),
      signing_keys: { gpg_public_keys: keys.map((ascii_armor) => ({ key_id: '', ascii_armor })) },
    })
  }
}

function fileOf(name: string, version: string, platform: string): string {
  return `terraform-provider-${name}_${version}_${platform}.zip`
}

function fail(response: ServerResponse, status: number): ServerResponse {
  return response.writeHead(status).end()
}

export function answerJson(response: ServerResponse, document: object): ServerResponse {
  return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
}
