/** Says, for the person who uploaded it, what is wrong with a SHA256SUMS file. */
export class ShasumsError extends Error {
  override name = 'ShasumsError'
}

const LINE = /^([0-9a-fA-F]{64})[ \t]+([A-Za-z0-9._+-]+)$/

/**
 * Reads a SHA256SUMS file: file name → lower-case hexadecimal digest. Stricter than clients are, because what
 * they do with other files is worse than a refusal: a blank line makes terraform panic, and a comment makes it
 * write a lock file that works on one platform only. Throws `ShasumsError` naming the line.
 */
export function parseShasums(text: string): Map<string, string> {
  const lines = text.split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  if (lines.length === 0) throw new ShasumsError('the file is empty')
  const digests = new Map<string, string>()
  for (const [index, line] of lines.entries()) {
    const at = `line ${index + 1}`
    if (line.trim() === '') throw new ShasumsError(`${at} is blank; terraform crashes on it`)
    const [, digest, filename] = LINE.exec(line) ?? []
    if (!digest || !filename) {
      throw new ShasumsError(
        `${at} is not "<64 hexadecimal digits>  <file name>", with a bare name without "*" or a directory`,
      )
    }
    if (digests.has(filename)) throw new ShasumsError(`${at} lists ${filename} a second time`)
    digests.set(filename, digest.toLowerCase())
  }
  return digests
}
