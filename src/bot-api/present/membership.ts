/** Members, permissions and invite links in the reference's JSON. */
import type { Invite, Member } from '../../../machines/model/membership.ts'
import { PERMISSIONS, type Permission, RIGHTS } from '../../../machines/model/rights.ts'
import { present, userJson } from './chat.ts'
import type { Names } from './names.ts'

export function memberJson(member: Member, ids: Names): object {
  const { status, title, permissions, until = 0 } = member
  const shown = { status, user: userJson(member.person, ids) }
  switch (status) {
    case 'creator':
      return {
        ...shown,
        is_anonymous: member.isAnonymous ?? false,
        ...present({ custom_title: title }),
      }
    case 'administrator':
      return {
        ...shown,
        can_be_edited: member.isEditable ?? false,
        is_anonymous: member.isAnonymous ?? false,
        ...flags(RIGHTS, member.rights ?? []),
        ...present({ custom_title: title }),
      }
    case 'restricted':
      return {
        ...shown,
        is_member: !member.isOutside,
        ...permissionsJson(permissions ?? []),
        until_date: until,
      }
    case 'kicked':
      return { ...shown, until_date: until }
    case 'member':
      return { ...shown, ...present({ until_date: member.until }) }
    case 'left':
      return shown
  }
}

export const permissionsJson = (permissions: readonly Permission[]) =>
  flags(PERMISSIONS, permissions)

export const inviteJson = (invite: Invite, ids: Names): object => ({
  invite_link: invite.link,
  creator: userJson(invite.creator, ids),
  creates_join_request: invite.needsApproval,
  is_primary: invite.isPrimary,
  is_revoked: invite.isRevoked,
  ...present({
    name: invite.name,
    expire_date: invite.expiresAt,
    member_limit: invite.memberLimit,
    pending_join_request_count: invite.pendingRequests,
  }),
})

const flags = (all: readonly string[], given: readonly string[]) =>
  Object.fromEntries(all.map((name) => [`can_${name}`, given.includes(name)]))
