/** Every state of a version. Consumers may install what is published, also when it is deprecated. */
export const VERSION_STATES = {
  draft: { installable: false },
  published: { installable: true },
  deprecated: { installable: true },
  revoked: { installable: false },
} as const

export type VersionStatus = keyof typeof VERSION_STATES

interface Transition {
  from: readonly VersionStatus[]
  to: VersionStatus
}

/** Every legal transition. Nothing else sets a status. */
export const TRANSITIONS = {
  /** The last of the files came that consumers need. */
  publish: { from: ['draft'], to: 'published' },
  /** Again for another reason. */
  deprecate: { from: ['published', 'deprecated'], to: 'deprecated' },
  undeprecate: { from: ['deprecated'], to: 'published' },
  /** Again with another message. */
  revoke: { from: ['published', 'deprecated', 'revoked'], to: 'revoked' },
  /** Back to consumers, who are still told that there was something. */
  restore: { from: ['revoked'], to: 'deprecated' },
} as const satisfies Record<string, Transition>

export type VersionEvent = keyof typeof TRANSITIONS

/** Whether the event may happen to a version in this state. */
export function allows(event: VersionEvent, status: VersionStatus): boolean {
  return (TRANSITIONS[event].from as readonly VersionStatus[]).includes(status)
}

/** The states in which a version can be installed. */
export const INSTALLABLE = (Object.keys(VERSION_STATES) as VersionStatus[]).filter(
  (status) => VERSION_STATES[status].installable,
)
