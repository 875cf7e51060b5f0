import type { Remembered } from '../commands/registry-verify.ts'

export function textOf({ organization, head, keys }: Remembered): string {
  const end = head ? `${head.sequence} records, up to ${head.hash}` : 'no records yet'
  return `The registry log of ${organization} is whole: ${end}, signed by ${keys.join(', ') || 'nobody yet'}.\n`
}

export function jsonOf({ organization, head, keys }: Remembered): object {
  return { status: 'whole', organization, head, keys }
}
