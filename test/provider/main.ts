import { makeCertificate } from './certificate.ts'
import { serve } from './grpc.ts'
import { PLUGIN_METHODS } from './plugin.ts'
import { providerMethods } from './provider.ts'

// A Terraform provider for tests, whose objects are files. Terraform starts it, reads from the one line that it
// prints where it serves, and speaks gRPC with it until it sends it away.

/** What keeps people from starting a plugin by hand. */
const COOKIE = 'd602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2'

const CORE_PROTOCOL = 1
const PROVIDER_PROTOCOL = 5
const PARENT_CHECK_MS = 250

async function main(): Promise<void> {
  if (process.env['TF_PLUGIN_MAGIC_COOKIE'] !== COOKIE) {
    process.stderr.write('This is a provider for Terraform, which starts it when it needs it.\n')
    process.exitCode = 1
    return
  }
  // Ctrl-C reaches every process of the terminal; Terraform decides what it means, and sends Stop.
  process.on('SIGINT', () => {})
  endWithParent()

  const clientCert = process.env['PLUGIN_CLIENT_CERT']
  const certificate = clientCert ? makeCertificate() : undefined
  const tls = clientCert && certificate && { key: certificate.key, cert: certificate.pem, clientCert }
  const { port } = await serve({ ...PLUGIN_METHODS, ...providerMethods() }, tls || undefined)
  const fields = [CORE_PROTOCOL, PROVIDER_PROTOCOL, 'tcp', `127.0.0.1:${port}`, 'grpc']
  // A certificate named where none was asked for makes Terraform panic.
  if (certificate) fields.push(certificate.der.toString('base64').replace(/=+$/, ''))
  process.stdout.write(`${fields.join('|')}\n`)
}

/** Ends this process when the one that started it is gone and so cannot end it any more. */
function endWithParent(): void {
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) process.exit(1)
  }, PARENT_CHECK_MS).unref()
}

void main()
