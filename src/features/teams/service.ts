import { type Access, GRANTS, type Grant, NO_ACCESS } from '../../auth/permissions.ts'
import type { Subject } from '../../auth/subject.ts'
import type { Ctx } from '../../context.ts'
import type { Db } from '../../db/transaction.ts'
import { newId } from '../../lib/ids.ts'
import * as memberships from '../organization-memberships/service.ts'
import type { Organization } from '../organizations/service.ts'
import * as store from './store.ts'

/** What `subject` may do in an organization: nothing for a stranger, else the sum of its teams. */
export async function loadAccess(db: Db, subject: Subject, organizationId: string): Promise<Access> {
  if (subject.kind === 'organization') {
    return subject.id === organizationId ? { ...NO_ACCESS, member: true, organizationToken: true } : NO_ACCESS
  }
  if (subject.kind === 'team') {
    const team = subject.organizationId === organizationId && (await store.findAccess(db, subject.id))
    return team ? sumOf([team]) : NO_ACCESS
  }
  const rows = await store.listAccessOfUser(db, subject.id, organizationId)
  return rows.length > 0 ? sumOf(rows) : NO_ACCESS
}

interface TeamAccess {
  id: string | null
  isOwners: boolean | null
  organizationAccess: string | null
}

function sumOf(teams: readonly TeamAccess[]): Access {
  const grants = new Set<Grant>()
  for (const { organizationAccess } of teams) {
    for (const grant of parseGrants(organizationAccess)) grants.add(grant)
  }
  return {
    member: true,
    owner: teams.some((team) => team.isOwners),
    organizationToken: false,
    grants,
    teamIds: teams.flatMap((team) => team.id ?? []),
  }
}

function parseGrants(text: string | null): Grant[] {
  const stored: unknown[] = JSON.parse(text ?? '[]')
  return GRANTS.filter((grant) => stored.includes(grant))
}

/** Gives a new organization its owners team, with the creator in it. */
export async function createOwners(tx: Ctx, organization: Organization, creatorId: string): Promise<void> {
  const now = tx.now()
  const owners = await store.insert(tx.db, {
    id: newId('team'),
    organizationId: organization.id,
    name: 'owners',
    ssoTeamId: null,
    visibility: 'secret',
    isOwners: true,
    allowMemberTokenManagement: true,
    organizationAccess: '[]',
    createdAt: now,
    updatedAt: now,
  })
  const membership = await memberships.addFounder(tx, organization, creatorId)
  await store.addMember(tx.db, owners.id, membership.id)
}
