/** Members, permissions and invite links of the reference. */
import type { Invite, Member } from '../../../../machines/model/membership.ts'
import { PERMISSIONS, type Permission, RIGHTS } from '../../../../machines/model/rights.ts'
import { fields, Malformed, maybeText, number, present, text } from './fields.ts'
import { personOf } from './people.ts'

const STATUSES: readonly Member['status'][] = [
  'creator',
  'administrator',
  'member',
  'restricted',
  'left',
  'kicked',
]

export function memberOf(value: unknown): Member {
  const member = fields(value)
  const status = STATUSES.find((known) => known === member.status)
  if (!status) throw new Malformed('the member has an unknown status')
  const until = number(member.until_date)
  return present({
    person: personOf(member.user),
    status,
    rights: status === 'administrator' ? allowed(RIGHTS, member) : undefined,
    title: maybeText(member.custom_title),
    isAnonymous: member.is_anonymous === true ? true : undefined,
    isEditable: member.can_be_edited === true ? true : undefined,
    permissions: status === 'restricted' ? permissionsOf(member) : undefined,
    isOutside: status === 'restricted' && member.is_member === false ? true : undefined,
    // The reference writes 0 for ever.
    until: until === 0 ? undefined : until,
  })
}

/** What a server does not know of goes with what the reference takes for it. */
const WITH: Partial<Readonly<Record<Permission, Permission>>> = {
  manage_topics: 'pin_messages',
  react_to_messages: 'send_messages',
  edit_tag: 'pin_messages',
}

export function permissionsOf(value: unknown): Permission[] {
  const flags = fields(value)
  const isTold = (name: Permission) => flags[`can_${name}`] !== undefined
  return PERMISSIONS.filter((name) => {
    const source = isTold(name) ? name : (WITH[name] ?? name)
    return flags[`can_${source}`] === true
  })
}

function allowed<Name extends string>(names: readonly Name[], value: unknown): Name[] {
  const flags = fields(value)
  return names.filter((name) => flags[`can_${name}`] === true)
}

export function inviteOf(value: unknown): Invite {
  const invite = fields(value)
  return present({
    link: text(invite.invite_link),
    creator: personOf(invite.creator),
    name: maybeText(invite.name),
    isPrimary: invite.is_primary === true,
    isRevoked: invite.is_revoked === true,
    needsApproval: invite.creates_join_request === true,
    expiresAt: number(invite.expire_date),
    memberLimit: number(invite.member_limit),
    pendingRequests: number(invite.pending_join_request_count),
  })
}
