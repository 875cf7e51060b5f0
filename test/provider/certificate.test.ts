import { createPrivateKey, X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeCertificate } from './certificate.ts'

test('a certificate is for localhost, signed by its own key, and good for a day', () => {
  const now = Date.parse('2026-01-31T23:59:58.700Z')
  const { der, pem, key } = makeCertificate(now)
  const certificate = new X509Certificate(pem)
  expect(certificate.raw).toEqual(der)
  expect(certificate.checkHost('localhost')).toBe('localhost')
  expect(certificate.checkHost('example.com')).toBeUndefined()
  expect(certificate.ca).toBe(true)
  expect(certificate.checkIssued(certificate)).toBe(true)
  expect(certificate.verify(certificate.publicKey)).toBe(true)
  expect(certificate.checkPrivateKey(createPrivateKey(key))).toBe(true)
  expect(certificate.validFromDate.toISOString()).toBe('2026-01-31T23:58:58.000Z')
  expect(certificate.validToDate.toISOString()).toBe('2026-02-01T23:59:58.000Z')
})

test('each certificate has a key of its own', () => {
  expect(makeCertificate().key).not.toBe(makeCertificate().key)
})
