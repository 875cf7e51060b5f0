import { toOne } from '../../http/jsonapi.ts'

/** The id of the user as whom clients know the owner of a team's or an organization's token. */
export function serviceAccountOf(id: string): string {
  return id.replace(/^[a-z]+-/, 'user-')
}

/** A relationship to who did something. The Go client takes nobody but a user there, so a team is its service account. */
export function toActor(userId: string | null, teamId: string | null) {
  return toOne('users', userId ?? (teamId && serviceAccountOf(teamId)))
}
