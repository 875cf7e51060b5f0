import { readFileSync } from 'node:fs'
import autocannon from 'autocannon'

export interface Load {
  url: string
  token?: string | undefined
  method?: 'GET' | 'POST'
  /** Makes the body of the n-th request. */
  body?: (n: number) => string
  connections: number
  seconds: number
  /** The server's process. */
  pid: number
}

export interface Measured {
  /** Answers per second. */
  rate: number
  /** Processor time of the server for one answer, in microseconds: what a busy neighbour changes least. */
  cpu: number
  /** Milliseconds. */
  p50: number
  p99: number
}

/** Sends requests for some seconds, and weighs what the server needed for them. */
export async function measure({
  url,
  token,
  method = 'GET',
  body,
  connections,
  seconds,
  pid,
}: Load): Promise<Measured> {
  let n = 0
  const before = cpuSeconds(pid)
  const result = await autocannon({
    url,
    method,
    connections,
    duration: seconds,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/vnd.api+json' }),
    },
    ...(body && { setupClient: (client: autocannon.Client) => client.setBody(body(n++)) }),
    ...(body && {
      requests: [{ setupRequest: (request: autocannon.Request) => ({ ...request, body: body(n++) }) }],
    }),
  })
  if (result.non2xx > 0) throw new Error(`${method} ${url}: ${result.non2xx} answers were no success`)
  const answers = result.requests.total
  return {
    rate: answers / result.duration,
    cpu: ((cpuSeconds(pid) - before) / answers) * 1e6,
    p50: result.latency.p50,
    p99: result.latency.p99,
  }
}

/** Processor time that a process has used, in its own code and the kernel's. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Memory that a process holds, in MB. */
export function residentMegabytes(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1]) / 1024
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}
