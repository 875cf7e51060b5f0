import { createHash } from 'node:crypto'
import { createReadStream, statSync } from 'node:fs'
import { createServer } from 'node:http'

// What everything is compared with: a server of node:http alone. `GET /` answers with the text in BODY, made
// into JSON anew for each request; `GET /file` sends FILE in large reads; `PUT` receives and hashes a body.

const value = JSON.parse(process.env['BODY'] ?? '{}')
const file = process.env['FILE'] ?? ''

const server = createServer(async (request, response) => {
  if (request.method === 'PUT') {
    const hash = createHash('sha256')
    for await (const chunk of request) hash.update(chunk)
    response.end(hash.digest('hex'))
  } else if (request.url === '/file') {
    response.writeHead(200, { 'content-length': statSync(file).size })
    createReadStream(file, { highWaterMark: 4 << 20 }).pipe(response)
  } else {
    response.writeHead(200, { 'content-type': 'application/vnd.api+json' })
    response.end(JSON.stringify(value))
  }
})

server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as { port: number }
  process.stdout.write(`Plinth is ready at http://127.0.0.1:${port}\naccount/details\n`)
})
