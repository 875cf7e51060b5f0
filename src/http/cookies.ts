import type { FastifyReply, FastifyRequest } from 'fastify'

// Cookies hold nothing but random secrets. Over HTTPS the `__Host-` prefix keeps other hosts of the same
// domain, and the same host without HTTPS, from setting them.

/** The value of a cookie that `setCookie` set. */
export function readCookie({ headers, ctx }: FastifyRequest, name: string): string | undefined {
  const wanted = `${fullName(name, ctx.baseUrl)}=`
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim())
  return pairs.find((pair) => pair.startsWith(wanted))?.slice(wanted.length) || undefined
}

/** Sets a cookie for `maxAge` seconds, or until the browser ends; 0 removes it. */
export function setCookie(
  { ctx }: FastifyRequest,
  reply: FastifyReply,
  name: string,
  { value, maxAge }: { value: string; maxAge?: number },
): void {
  const parts = [
    `${fullName(name, ctx.baseUrl)}=${value}`,
    'Path=/',
    'HttpOnly',
    'SameSite=Lax',
    ...(isHttps(ctx.baseUrl) ? ['Secure'] : []),
    ...(maxAge === undefined ? [] : [`Max-Age=${maxAge}`]),
  ]
  // Fastify adds to the `set-cookie` that is there.
  reply.header('set-cookie', parts.join('; '))
}

function fullName(name: string, baseUrl: string): string {
  return isHttps(baseUrl) ? `__Host-${name}` : name
}

function isHttps(baseUrl: string): boolean {
  return baseUrl.startsWith('https:')
}
