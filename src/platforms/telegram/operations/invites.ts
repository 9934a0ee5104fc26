/** Invite links: created, changed and revoked; and the answers to join requests. */
import type { tl } from '@mtcute/node'
import type { Handlers } from '../../../../actors/ports/handlers.ts'
import { failed } from '../../../../machines/model/failure.ts'
import type { OperationResult } from '../../../../machines/model/operation.ts'
import { inviteOf } from '../reading/invites.ts'
import { type Context, done } from './context.ts'

export const invites: Handlers<Context> = {
  async invite(context, { chat, primary, name, expiresAt, memberLimit, needsApproval }) {
    const { calls, signal } = context
    const request = { _: 'messages.exportChatInvite', peer: await groupOf(context, chat) } as const
    const terms = primary
      ? { legacyRevokePermanent: true }
      : {
          ...(name !== undefined && { title: name }),
          ...(expiresAt !== undefined && { expireDate: expiresAt }),
          ...(memberLimit !== undefined && { usageLimit: memberLimit }),
          ...(needsApproval && { requestNeeded: true }),
        }
    return resultOf(context, await calls.call({ ...request, ...terms }, { signal }))
  },

  /** As the reference does it, an absent term is reset. */
  async edit_invite(
    context,
    { chat, link, name = '', expiresAt = 0, memberLimit = 0, needsApproval = false },
  ) {
    const { calls, signal } = context
    const peer = await groupOf(context, chat)
    const edited = await calls.call(
      {
        _: 'messages.editExportedChatInvite',
        peer,
        link,
        title: name,
        expireDate: expiresAt,
        usageLimit: memberLimit,
        requestNeeded: needsApproval,
      },
      { signal },
    )
    return resultOf(context, edited.invite)
  },

  async revoke_invite(context, { chat, link }) {
    const { calls, signal } = context
    const peer = await groupOf(context, chat)
    const request = { _: 'messages.editExportedChatInvite', revoked: true, peer, link } as const
    return resultOf(context, (await calls.call(request, { signal })).invite)
  },

  async answer_join(context, { chat, person, approves }) {
    const { calls, signal } = context
    const peer = await groupOf(context, chat)
    const userId = await calls.user(person, signal)
    const request = { _: 'messages.hideChatJoinRequest', peer, userId } as const
    calls.take(await calls.call({ ...request, ...(approves && { approved: true }) }, { signal }))
    return done
  },
}

async function groupOf({ calls, signal }: Context, chat: string): Promise<tl.TypeInputPeer> {
  const peer = await calls.peer(chat, signal)
  if (peer._ === 'inputPeerChat' || peer._ === 'inputPeerChannel') return peer
  throw failed('bad_request', 'method is available for group, supergroup and channel chats only')
}

async function resultOf(
  { calls, self }: Context,
  exported: tl.TypeExportedChatInvite,
): Promise<OperationResult> {
  const creator = exported._ === 'chatInviteExported' ? exported.adminId : Number(self)
  const peers = await calls.known([{ _: 'peerUser', userId: creator }])
  const invite = inviteOf(exported, { self, peers })
  if (invite) return { kind: 'invite', invite }
  throw failed('bad_gateway', 'Telegram did not tell the link')
}
