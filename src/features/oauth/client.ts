// The one client there is: the command line of Terraform or OpenTofu. It is public (it can keep no secret), so
// every code is bound to a verifier that only the process which asked for it knows.

export const TERRAFORM_CLI = 'terraform-cli'

/** It listens on one of these ports for the answer. */
export const MIN_PORT = 10_000
export const MAX_PORT = 10_010
