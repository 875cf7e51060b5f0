import { AppError } from '../../lib/errors.ts'
import { MAX_PORT, MIN_PORT, TERRAFORM_CLI } from './client.ts'

/** What a client asks a user for (RFC 6749, 4.1.1, and RFC 7636, 4.3). */
export interface AuthorizationRequest {
  clientId: string
  /** Where the answer goes: the command line listens on the user's own machine. */
  redirectUri: string
  state: string
  codeChallenge: string
}

/** What is wrong with a request, to be told to the client that made it. */
export interface RefusedRequest {
  redirectUri: string
  state: string | undefined
  error: 'invalid_request' | 'unsupported_response_type'
  description: string
}

type Parameters = Partial<Record<string, string>>

/**
 * Reads a request. Throws when it is not known who asks or where the answer would go: nobody is ever sent to
 * an address that was not checked. What else is wrong is for the client to hear.
 */
export function readRequest(parameters: Parameters): AuthorizationRequest | RefusedRequest {
  const { client_id: clientId, redirect_uri: redirectUri, state, code_challenge: codeChallenge } = parameters
  if (clientId !== TERRAFORM_CLI) throw new AppError('badRequest', 'The program that asks is not known here.')
  if (!isLoopback(redirectUri)) {
    throw new AppError('badRequest', 'The address that the answer would go to is not allowed.')
  }
  const refused = (description: string, error: RefusedRequest['error'] = 'invalid_request') => {
    return { redirectUri, state, error, description }
  }
  if (!state || state.length > 1024) return refused('state is required, of at most 1024 characters')
  if (parameters['response_type'] === undefined) return refused('response_type is required')
  if (parameters['response_type'] !== 'code') {
    return refused('response_type must be code', 'unsupported_response_type')
  }
  if (parameters['code_challenge_method'] !== 'S256') return refused('code_challenge_method must be S256')
  if (!codeChallenge || !/^[\w-]{43}$/.test(codeChallenge)) {
    return refused('code_challenge must be a SHA-256 in base64url')
  }
  return { clientId, redirectUri, state, codeChallenge }
}

/** Exactly as command lines build it: no other path, no query, no user name, no number in another form. */
function isLoopback(uri: string | undefined): uri is string {
  const [, port] = /^http:\/\/(?:localhost|127\.0\.0\.1):(\d{5})\/login$/.exec(uri ?? '') ?? []
  return Number(port) >= MIN_PORT && Number(port) <= MAX_PORT
}
