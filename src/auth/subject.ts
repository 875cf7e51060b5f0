/** Who a request speaks for: the owner of the token it carries, or the user of the browser's session. */
export type Subject =
  | ({ kind: 'user'; id: string; isSiteAdmin: boolean; tokenId?: string } & Limited & Expiring)
  | ({ kind: 'team'; id: string; organizationId: string; tokenId: string } & Limited & Expiring)
  | ({ kind: 'organization'; id: string; tokenId: string } & Expiring)
  /** An agent, by a token of its pool; it may take runs and report on them, and nothing else. */
  | ({ kind: 'agent'; id: string; organizationId: string; tokenId: string } & Expiring)
  /** The program that a run executes; it may read what its workspace may read. */
  | ({ kind: 'run'; id: string; workspaceId: string; organizationId: string; tokenId: string } & Expiring)
  /** The server itself, in a background job; the id is the job's name. */
  | { kind: 'system'; id: string }

interface Limited {
  /** The providers that the token may publish, if it may do nothing else than that and read the registry. */
  registryProviderIds?: readonly string[]
}

interface Expiring {
  /** When the token ends, if it does. */
  expiresAt?: string | null
}
