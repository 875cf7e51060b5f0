import type { Immutable, Timestamp } from '../../db/columns.ts'

/** An authorization code (RFC 6749, 4.1): what a user approved, for a client that has yet to fetch its token. */
export interface AuthorizationCodeTable {
  /** SHA-256 of the code, hexadecimal. */
  hash: Immutable<string>
  clientId: Immutable<string>
  redirectUri: Immutable<string>
  /** SHA-256 of the verifier that only the client knows, base64url (RFC 7636). */
  codeChallenge: Immutable<string>
  userId: Immutable<string>
  /** The token it gave. */
  tokenId: string | null
  createdAt: Immutable<Timestamp>
  expiresAt: Immutable<Timestamp>
  /** When it was presented first, with success or not. */
  redeemedAt: Timestamp | null
}
