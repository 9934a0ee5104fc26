/** Invite links in neutral terms. */
import type { tl } from '@mtcute/node'
import type { Invite } from '../../../../machines/model/membership.ts'
import { personById, type View } from './peers.ts'

/** Undefined where anybody may ask to come in, and no link is needed for it. */
export function inviteOf(
  invite: tl.TypeExportedChatInvite | undefined,
  view: View,
): Invite | undefined {
  if (invite?._ !== 'chatInviteExported') return undefined
  const { link, adminId, title, expireDate, usageLimit, requested } = invite
  return {
    link,
    creator: personById(adminId, view),
    isPrimary: invite.permanent === true,
    isRevoked: invite.revoked === true,
    needsApproval: invite.requestNeeded === true,
    ...(title && { name: title }),
    ...(expireDate !== undefined && { expiresAt: expireDate }),
    ...(usageLimit !== undefined && { memberLimit: usageLimit }),
    ...(requested !== undefined && { pendingRequests: requested }),
  }
}
