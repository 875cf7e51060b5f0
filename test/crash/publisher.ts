import { platformBody, type SigningKey, sha256, versionBody } from '../registry.ts'
import type { Known } from './known.ts'
import type { Random } from './random.ts'
import { installable, isComplete, newRelease, type Platform, type Release } from './release.ts'
import type { Actor, Session } from './session.ts'

/** Releases that are kept; the oldest is deleted for the next. */
const MOST = 3

export interface Provider {
  namespace: string
  name: string
  /** API path. */
  path: string
  key: SigningKey
  /** What the archives of its releases are taken from. */
  archives: readonly Buffer[]
}

/** Publishes releases piece by piece, as far as it comes, and goes on where it was cut off. */
export class Publisher implements Actor {
  readonly #session: Session
  readonly #random: Random
  readonly #provider: Provider
  #releases: Release[] = []
  #made = 0

  constructor(session: Session, random: Random, provider: Provider) {
    this.#session = session
    this.#random = random
    this.#provider = provider
  }

  async step(): Promise<void> {
    const unfinished = this.#releases.filter((release) => !isComplete(release))
    const oldest = this.#releases[0]
    if (unfinished.length > 0) await this.#goOn(this.#random.pick(unfinished))
    else if (oldest && this.#releases.length >= MOST) await this.#delete(oldest)
    else await this.#begin()
  }

  async #begin(): Promise<void> {
    const { name, key, archives } = this.#provider
    const two = [this.#random.pick(archives), this.#random.pick(archives)]
    const release = await newRelease(name, `1.${++this.#made}.0`, key, two)
    this.#releases.push(release)
    await this.#goOn(release)
  }

  async #delete({ version, exists }: Release): Promise<void> {
    const { path } = this.#provider
    await this.#ask(exists, false, (done) =>
      this.#session.change('DELETE', `${path}/versions/${version}`, undefined, done),
    )
    this.#releases = this.#releases.filter((release) => release.version !== version)
  }

  /** Does what can be done next, several things at once where they do not depend on each other. */
  async #goOn(release: Release): Promise<void> {
    const { path, key } = this.#provider
    const { version } = release
    if (!release.exists.state) {
      const body = versionBody({ version, 'key-id': key.keyId, protocols: ['5.0'] })
      return this.#ask(release.exists, true, (done) =>
        this.#session.change('POST', `${path}/versions`, body, done),
      )
    }
    const { links } = (await this.#session.get(`${path}/versions/${version}`)).data
    const parts: (() => Promise<void>)[] = []
    const uploads = [
      [release.shasums, links['shasums-upload'], release.shasumsFile],
      [release.signature, links['shasums-sig-upload'], release.signatureFile],
    ] as const
    for (const [known, link, bytes] of uploads) {
      if (!known.state) parts.push(() => this.#upload(known, link, bytes))
    }
    for (const platform of release.platforms) {
      if (!platform.binary.state) parts.push(() => this.#bring(release, platform))
    }
    if (this.#random.happens(0.5)) parts.reverse()
    const some = parts.slice(0, this.#random.between(1, parts.length)).map((part) => part())
    await Promise.allSettled(some)
    await Promise.all(some)
  }

  async #bring({ version }: Release, platform: Platform): Promise<void> {
    const { os, arch, filename, archive } = platform
    const collection = `${this.#provider.path}/versions/${version}/platforms`
    if (!platform.exists.state) {
      const body = platformBody({ os, arch, filename, shasum: sha256(archive) })
      await this.#ask(platform.exists, true, (done) => this.#session.change('POST', collection, body, done))
    }
    const { links } = (await this.#session.get(`${collection}/${os}/${arch}`)).data
    await this.#upload(platform.binary, links['provider-binary-upload'], archive)
  }

  #upload(known: Known<boolean>, link: string, bytes: Buffer): Promise<void> {
    return this.#ask(known, true, (done) => this.#session.upload(link, bytes, done))
  }

  async #ask(known: Known<boolean>, state: boolean, request: (done: () => void) => Promise<unknown>) {
    known.ask(state)
    await request(() => known.acknowledge())
  }

  async check(): Promise<void> {
    const { path } = this.#provider
    const { data } = await this.#session.get(`${path}/versions?page[size]=100`)
    const found = new Map(
      data.map((version: { attributes: { version: string } }) => [version.attributes.version, version]),
    )
    for (const version of found.keys()) {
      const known = this.#releases.some((release) => release.version === version)
      this.#session.check(known, `version ${version} came back from deletion`)
    }
    for (const release of this.#releases) await this.#checkRelease(release, found.get(release.version))
    this.#releases = this.#releases.filter(({ exists }) => exists.state)
    await this.#checkInstallation()
  }

  // biome-ignore lint/suspicious/noExplicitAny: the crash test looks into answers of every shape.
  async #checkRelease(release: Release, found: any): Promise<void> {
    const { version, exists, shasums, signature, platforms } = release
    exists.observe(`version ${version}`, found !== undefined)
    this.#session.checks += 1
    if (!found) return
    const { attributes, links } = found
    shasums.observe(`SHA256SUMS of ${version}`, attributes['shasums-uploaded'])
    signature.observe(`signature of ${version}`, attributes['shasums-sig-uploaded'])
    if (shasums.state) await this.#checkFile(links['shasums-download'], release.shasumsFile)
    if (signature.state) await this.#checkFile(links['shasums-sig-download'], release.signatureFile)
    const { data } = await this.#session.get(`${this.#provider.path}/versions/${version}/platforms`)
    for (const platform of platforms) {
      const { os, arch, exists: there, binary, archive } = platform
      const item = data.find((one: { attributes: { arch: string } }) => one.attributes.arch === arch)
      there.observe(`platform ${os}_${arch} of ${version}`, item !== undefined)
      binary.observe(
        `archive ${os}_${arch} of ${version}`,
        item?.attributes['provider-binary-uploaded'] ?? false,
      )
      this.#session.checks += 2
      if (binary.state) await this.#checkFile(item.links['provider-binary-download'], archive)
    }
  }

  async #checkFile(link: string, expected: Buffer): Promise<void> {
    const actual = await this.#session.download(link)
    this.#session.check(actual.equals(expected), `${link}: ${actual.length} bytes, not what was uploaded`)
  }

  /** What clients are shown is what is complete, and what they are given is what was published. */
  async #checkInstallation(): Promise<void> {
    const { namespace, name, key } = this.#provider
    const address = `/api/registry/v1/providers/${namespace}/${name}`
    const { versions } = await this.#session.get(`${address}/versions`)
    const shown = versions.flatMap(
      ({ version, platforms }: { version: string; platforms: { os: string; arch: string }[] }) =>
        platforms.map(({ os, arch }) => `${version} ${os}_${arch}`),
    )
    const complete = this.#releases.flatMap(installable)
    this.#session.check(
      shown.toSorted().join() === complete.toSorted().join(),
      `clients see ${shown}, complete are ${complete}`,
    )
    const release = this.#releases.findLast(isComplete)
    const platform = release?.platforms[0]
    if (!release || !platform) return
    const { os, arch, archive } = platform
    const offer = await this.#session.get(`${address}/${release.version}/download/${os}/${arch}`)
    await this.#checkFile(offer.download_url, archive)
    await this.#checkFile(offer.shasums_url, release.shasumsFile)
    this.#session.check(offer.shasum === sha256(archive), 'the digest is another one')
    this.#session.check(offer.signing_keys.gpg_public_keys[0].key_id === key.keyId, 'the key is another one')
  }
}
