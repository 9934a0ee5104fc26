/** Rights and permissions in the network's terms. */
import type { tl } from '@mtcute/node'
import {
  PERMISSIONS,
  type Permission,
  RIGHTS,
  type Right,
} from '../../../../machines/model/rights.ts'
import { bans, grants } from '../reading/memberships.ts'

/** Bans everything that is not permitted; `until` 0: for ever. */
export function bannedRights(
  permissions: readonly Permission[],
  until = 0,
): tl.RawChatBannedRights {
  const taken = PERMISSIONS.filter((permission) => !permissions.includes(permission))
  const named = taken.flatMap((permission) => bans[permission].map((ban) => [ban, true] as const))
  return { _: 'chatBannedRights', untilDate: until, ...Object.fromEntries(named) }
}

/** A full ban: the person cannot see the chat. */
export const shutOut = (until = 0): tl.RawChatBannedRights => ({
  ...bannedRights([], until),
  viewMessages: true,
})

export function adminRights(rights: readonly Right[], isAnonymous: boolean): tl.RawChatAdminRights {
  const named = RIGHTS.filter((right) => rights.includes(right)).map(
    (right) => [grants[right], true] as const,
  )
  const anonymous = isAnonymous && { anonymous: true }
  return { _: 'chatAdminRights', ...Object.fromEntries(named), ...anonymous }
}
