import { documents } from '../../http/operation.ts'
import type { Routes } from '../../http/routes.ts'
import { answerFile, NOTHING } from '../../http/shown.ts'
import { type Packed, packClient } from './packing.ts'

const doc = documents('Client command', 'The command `plinth`, which publishes what the registry serves.')

const DOWNLOAD = doc('downloadClient', 'Download the client command as an npm package', {
  200: answerFile(
    'To run by `npx --yes …/cli.tgz`; it fits this server, and speaks to it.',
    'application/gzip',
  ),
  304: { ...NOTHING, description: 'It is still what `if-none-match` says.' },
})

export const routes: Routes = (app) => {
  let packed: Promise<Packed> | undefined

  /** Packed when it is first asked for, and again only if that failed. */
  const clientFor = (server: string) => {
    packed ??= packClient(server).catch((error: unknown) => {
      packed = undefined
      throw error
    })
    return packed
  }

  app.get('/cli.tgz', { config: { public: true, doc: DOWNLOAD } }, async ({ ctx, headers }, reply) => {
    const { bytes, build } = await clientFor(ctx.baseUrl)
    const etag = `"${build}"`
    reply.headers({ etag, 'cache-control': 'no-cache' })
    if (headers['if-none-match'] === etag) return reply.code(304).send()
    return reply.type('application/gzip').send(Buffer.from(bytes))
  })
}
