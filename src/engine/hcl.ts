/** A string of HCL that is taken as it is. */
export function quoteHcl(text: string): string {
  return JSON.stringify(text).replace(/[$%](?=\{)/g, '$&$&')
}

/** Names that variables can have in HCL. */
const IDENTIFIER = /^[\p{L}_][\p{L}\p{N}_-]*$/u

export function isIdentifier(name: string): boolean {
  return IDENTIFIER.test(name)
}
