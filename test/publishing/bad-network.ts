import { once } from 'node:events'
import { type AddressInfo, createServer, connect as open, type Socket } from 'node:net'

/** A network between a client and a server, which can be cut. */
export class BadNetwork {
  /** What it does to a connection that has carried so many bytes towards the server. */
  #trouble = { after: Number.POSITIVE_INFINITY, meet: (_cut: () => void): boolean => true }
  readonly #server = createServer((client) => this.#connect(client))
  readonly #sockets = new Set<Socket>()
  #port = 0

  async start(): Promise<void> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Where the server listens. */
  leadsTo(port: number): void {
    this.#port = port
  }

  heal(): void {
    this.#trouble = { after: Number.POSITIVE_INFINITY, meet: () => true }
  }

  /** Cuts so many connections after so many bytes each; then all is well. */
  cutAfter(after: number, times: number): void {
    let left = times
    const meet = (cut: () => void) => {
      left -= 1
      if (left >= 0) cut()
      return left < 0
    }
    this.#trouble = { after, meet }
  }

  /** Lets nothing through after so many bytes; resolves when the first connection got so far. */
  stallAfter(after: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const meet = () => {
      resolve()
      return false
    }
    this.#trouble = { after, meet }
    return promise
  }

  stop(): void {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
  }

  #connect(client: Socket): void {
    const server = open(this.#port, '127.0.0.1')
    let [carried, trouble] = [0, this.#trouble]
    const close = () => {
      client.destroy()
      server.destroy()
    }
    for (const socket of [client, server]) {
      this.#sockets.add(socket)
      socket.on('error', close).on('close', () => {
        close()
        this.#sockets.delete(socket)
      })
    }
    server.pipe(client)
    client.on('data', (piece) => {
      // What it carried before does not count.
      if (trouble !== this.#trouble) [carried, trouble] = [0, this.#trouble]
      carried += piece.length
      if (carried <= trouble.after || trouble.meet(close)) server.write(piece)
    })
  }
}
