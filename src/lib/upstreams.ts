/** Registries that the operator said something about, by host name, and what was discovered of all others. */
export class Upstreams {
  readonly #addresses: ReadonlyMap<string, string | undefined>
  readonly #tokens: ReadonlyMap<string, string>
  readonly #origins: ReadonlySet<string>
  readonly #discovered = new Map<string, { address: string; until: string }>()

  /** `addresses` has the registry protocol's address of a host; undefined where that is to be discovered. */
  constructor(addresses: ReadonlyMap<string, string | undefined>, tokens: ReadonlyMap<string, string>) {
    this.#addresses = addresses
    this.#tokens = tokens
    this.#origins = new Set(
      [...addresses].map(([host, address]) =>
        address ? new URL(address).origin : new URL(`https://${host}`).origin,
      ),
    )
  }

  /** Where a host speaks the registry protocol, if that need not be discovered at `now`. */
  addressOf(host: string, now: string): string | undefined {
    const known = this.#addresses.get(host)
    if (known) return known
    const found = this.#discovered.get(host)
    return found && now < found.until ? found.address : undefined
  }

  discovered(host: string, address: string, until: string): void {
    this.#discovered.set(host, { address, until })
  }

  tokenOf(host: string): string | undefined {
    return this.#tokens.get(host)
  }

  /** Whether the operator named the origin, so that it may be private, and without TLS. */
  isTrusted = (origin: string): boolean => this.#origins.has(origin)
}
