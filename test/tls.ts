import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { pki } from 'node-forge'
import { inject } from 'vitest'
import type { TestProject } from 'vitest/node'

/** Paths of PEM files: an authority to trust, and a certificate for localhost and 127.0.0.1 with its key. */
export interface TestCertificates {
  ca: string
  cert: string
  key: string
}

declare module 'vitest' {
  interface ProvidedContext {
    certificates: TestCertificates
  }
}

/** Certificates of an authority made for this run. */
export function testCertificates(): TestCertificates {
  return inject('certificates')
}

const AUTHORITY = 'Plinth test authority'

const DAY_MS = 24 * 3_600_000

/** Runs once, before all tests. */
export async function setup(project: TestProject): Promise<() => void> {
  const directory = mkdtempSync(join(tmpdir(), 'plinth-tls-'))
  const paths = Object.entries(await makeCertificates()).map(([name, pem]) => {
    const path = join(directory, `${name}.pem`)
    writeFileSync(path, `${pem}\n`, { mode: 0o600 })
    return [name, path]
  })
  project.provide('certificates', Object.fromEntries(paths))
  return () => rmSync(directory, { recursive: true, force: true })
}

async function makeCertificates(): Promise<TestCertificates> {
  const { default: forge } = await import('node-forge')
  const newCertificate = (commonName: string, publicKey: pki.PublicKey, extensions: object[]) => {
    const certificate = forge.pki.createCertificate()
    certificate.publicKey = publicKey
    certificate.serialNumber = forge.util.bytesToHex(`\x01${forge.random.getBytesSync(8)}`)
    certificate.validity.notBefore = new Date(Date.now() - DAY_MS)
    certificate.validity.notAfter = new Date(Date.now() + DAY_MS)
    certificate.setSubject([{ name: 'commonName', value: commonName }])
    certificate.setIssuer([{ name: 'commonName', value: AUTHORITY }])
    certificate.setExtensions(extensions)
    return certificate
  }
  const newKeys = () => forge.pki.rsa.generateKeyPair(2048)
  const [authorityKeys, keys] = [newKeys(), newKeys()]
  const authority = newCertificate(AUTHORITY, authorityKeys.publicKey, [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
  ])
  const certificate = newCertificate('localhost', keys.publicKey, [
    // 2 is a DNS name, 7 an address.
    {
      name: 'subjectAltName',
      altNames: [
        { type: 2, value: 'localhost' },
        { type: 7, ip: '127.0.0.1' },
      ],
    },
    { name: 'extKeyUsage', serverAuth: true },
  ])
  for (const each of [authority, certificate]) each.sign(authorityKeys.privateKey, forge.md.sha256.create())
  return {
    ca: forge.pki.certificateToPem(authority),
    cert: forge.pki.certificateToPem(certificate),
    key: forge.pki.privateKeyToPem(keys.privateKey),
  }
}
