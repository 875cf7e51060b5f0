import { type Environment, parseUrl, type Read } from './reading.ts'

/** How public registries are asked. */
export interface MirrorConfig {
  /**
   * Hosts that the operator names, which may be private: where each speaks the registry protocol, with a slash at
   * the end, or undefined where the host tells that itself.
   */
  upstreams: Map<string, string | undefined>
  /** Seconds that an upstream may be silent. */
  timeout: number
}

/** A host name as providers' addresses have it, with a port where it is not 443. */
export const HOST = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:[1-9]\d{0,4})?$/

const UPSTREAMS = 'hosts, each alone or as host=URL, separated by commas or spaces'

export function readMirror(environment: Environment, read: Read): MirrorConfig {
  return {
    upstreams: environment['PLINTH_MIRROR_UPSTREAMS']
      ? read('PLINTH_MIRROR_UPSTREAMS', '', parseUpstreams, UPSTREAMS)
      : new Map(),
    timeout: read(
      'PLINTH_MIRROR_TIMEOUT',
      '8',
      (text) => (/^\d{1,4}$/.test(text) && Number(text)) || undefined,
      'a whole number of seconds, at least 1',
    ),
  }
}

function parseUpstreams(text: string): MirrorConfig['upstreams'] | undefined {
  const upstreams = new Map<string, string | undefined>()
  for (const entry of words(text)) {
    const [host = '', address] = splitAt(entry)
    const url = address === undefined ? undefined : parseUrl(address)
    if (!HOST.test(host) || (address !== undefined && !url)) return undefined
    upstreams.set(host, url && `${url}/`)
  }
  return upstreams
}

/** Tokens of upstreams, as host=TOKEN; undefined when one has another form. */
export function parseMirrorTokens(text: string): Map<string, string> | undefined {
  const tokens = new Map<string, string>()
  for (const entry of words(text)) {
    const [host = '', token = ''] = splitAt(entry)
    if (!HOST.test(host) || !/^[\x21-\x7e]+$/.test(token)) return undefined
    tokens.set(host, token)
  }
  return tokens
}

function words(text: string): string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '')
}

function splitAt(entry: string): [string, string | undefined] {
  const at = entry.indexOf('=')
  return at < 0 ? [entry.toLowerCase(), undefined] : [entry.slice(0, at).toLowerCase(), entry.slice(at + 1)]
}
