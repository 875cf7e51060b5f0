import { generateKeyPairSync, sign, X509Certificate } from 'node:crypto'

// Terraform trusts exactly the certificate that the provider names when it starts, so each process makes its own.
// Node.js makes keys, but no certificates: the fields of RFC 5280 are written here by hand.

const SEQUENCE = 0x30
const SET = 0x31
const BOOLEAN = 0x01
const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const OBJECT_ID = 0x06
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const VERSION = 0xa0
const EXTENSIONS = 0xa3
const DNS_NAME = 0x82

const objectId = (hex: string) => der(OBJECT_ID, Buffer.from(hex, 'hex'))
const ECDSA_WITH_SHA256 = der(SEQUENCE, objectId('2a8648ce3d040302'))
const COMMON_NAME = objectId('550403')
const SUBJECT_ALTERNATIVE_NAME = objectId('551d11')
const BASIC_CONSTRAINTS = objectId('551d13')
const TRUE = der(BOOLEAN, Buffer.from([0xff]))

const DAY_MS = 86_400_000

export interface Certificate {
  /** The PEM of the private key. */
  key: string
  /** The DER of the certificate. */
  der: Buffer
  /** The PEM of the certificate. */
  pem: string
}

/** A new key, and a certificate for `localhost` that it signed itself; good for a day. */
export function makeCertificate(now = Date.now()): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, Buffer.from('localhost')))))
  const content = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.from([1])),
    ECDSA_WITH_SHA256,
    name,
    // From a minute ago, as the clock may be set back a little.
    der(SEQUENCE, time(now - 60_000), time(now + DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      EXTENSIONS,
      der(
        SEQUENCE,
        // Terraform takes the certificate for its own authority.
        der(SEQUENCE, BASIC_CONSTRAINTS, TRUE, der(OCTET_STRING, der(SEQUENCE, TRUE))),
        der(
          SEQUENCE,
          SUBJECT_ALTERNATIVE_NAME,
          der(OCTET_STRING, der(SEQUENCE, der(DNS_NAME, Buffer.from('localhost')))),
        ),
      ),
    ),
  )
  const signature = sign('sha256', content, privateKey)
  // A bit string says first how many bits of its last byte are unused.
  const certificate = der(SEQUENCE, content, ECDSA_WITH_SHA256, der(BIT_STRING, Buffer.from([0]), signature))
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    der: certificate,
    pem: new X509Certificate(certificate).toString(),
  }
}

function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().slice(2, 19).replace(/[-:T]/g, '')
  return der(UTC_TIME, Buffer.from(`${digits}Z`))
}

/** A value with its tag and its length, which is written as short as it can be. */
function der(tag: number, ...content: Buffer[]): Buffer {
  const value = Buffer.concat(content)
  const { length } = value
  const high = length >> 8
  const size = length < 0x80 ? [length] : high === 0 ? [0x81, length] : [0x82, high, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), value])
}
