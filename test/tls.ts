import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Paths of PEM files: an authority to trust, and a certificate for localhost and 127.0.0.1 with its key. */
export interface TestCertificates {
  ca: string
  cert: string
  key: string
}

const CURVE = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']

const SERVER = 'subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n'

let made: TestCertificates | undefined

/** Certificates of an authority made for this run, by openssl, once a process; removed when it ends. */
export function testCertificates(): TestCertificates {
  made ??= makeCertificates()
  return made
}

function makeCertificates(): TestCertificates {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-tls-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const at = (name: string) => join(directory, name)
  const openssl = (...args: string[]) => execFileSync('openssl', args, { stdio: 'pipe' })

  openssl(
    ...['req', '-x509', ...CURVE, '-days', '2', '-subj', '/CN=Plinth test authority'],
    ...['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign,cRLSign'],
    ...['-keyout', at('ca-key.pem'), '-out', at('ca.pem')],
  )
  openssl(...['req', ...CURVE, '-subj', '/CN=localhost', '-keyout', at('key.pem'), '-out', at('request.pem')])
  writeFileSync(at('extensions.cnf'), SERVER)
  openssl(
    ...['x509', '-req', '-in', at('request.pem'), '-days', '2', '-extfile', at('extensions.cnf')],
    ...['-CA', at('ca.pem'), '-CAkey', at('ca-key.pem'), '-CAcreateserial', '-out', at('cert.pem')],
  )
  return { ca: at('ca.pem'), cert: at('cert.pem'), key: at('key.pem') }
}
