import type { LifecycleResult } from '../commands/provider-lifecycle.ts'

const MEANINGS: Record<string, string> = {
  published: 'it can be installed',
  deprecated: 'it can be installed, and clients are told; restore it once more to end that',
  revoked: 'nobody can install it',
}

export function textOf({ name, version, status }: LifecycleResult): string {
  const meaning = MEANINGS[status]
  return `${name} ${version} is ${status}${meaning ? `: ${meaning}` : ''}.\n`
}

export function jsonOf({ name, version, status }: LifecycleResult): object {
  return { name, version, status }
}
