import { HOST } from '../../config/mirror.ts'
import { AppError } from '../../lib/errors.ts'

/** A provider as configurations name it, in lower case. */
export interface Address {
  /** With a port where it is not 443. */
  hostname: string
  namespace: string
  /** What terraform calls its type. */
  name: string
}

const PART = /^[0-9a-z]+(-[0-9a-z]+)*$/

/** A version, without a "v". */
const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/

/** The address that three parts of a path spell. Throws (404) for what clients cannot mean. */
export function requireAddress(path: { hostname: string; namespace: string; name: string }): Address {
  const hostname = path.hostname.toLowerCase()
  const namespace = path.namespace.toLowerCase()
  const name = path.name.toLowerCase()
  const isOne = HOST.test(hostname) && [namespace, name].every((part) => PART.test(part))
  if (!isOne) throw new AppError('notFound', 'This is no address of a provider.')
  return { hostname, namespace, name }
}

export function isVersion(text: string): boolean {
  return text.length <= 128 && VERSION.test(text)
}

export function spell({ hostname, namespace, name }: Address): string {
  return `${hostname}/${namespace}/${name}`
}

/** Whether one of the patterns names the provider. */
export function isListed(patterns: readonly string[], address: Address): boolean {
  const { hostname, namespace } = address
  const all = [spell(address), `${hostname}/${namespace}/*`, `${hostname}/*/*`]
  return patterns.some((pattern) => all.includes(pattern))
}

/** Why a pattern cannot be used; undefined when it can. It has the form that the CLI's own configuration uses. */
export function refusalOf(pattern: string): string | undefined {
  const [hostname = '', namespace = '', name = '', ...more] = pattern.split('/')
  if (more.length > 0 || name === '')
    return 'must be HOST/NAMESPACE/NAME, such as registry.terraform.io/hashicorp/*'
  if (!HOST.test(hostname)) return 'must begin with the name of a host, without a wildcard'
  if (namespace === '*' && name !== '*') return 'must end in /*/* when every namespace is meant'
  const isGood = (part: string) => part === '*' || PART.test(part)
  return isGood(namespace) && isGood(name)
    ? undefined
    : 'must have letters, digits and inner hyphens, or a * for all'
}

/** The hosts that patterns name, each once. */
export function hostsOf(patterns: readonly string[]): string[] {
  return [...new Set(patterns.map((pattern) => pattern.slice(0, pattern.indexOf('/'))))]
}
