/** Invite links: made, changed and ended; and those who ask to be let in. */
import type { tl } from '@mtcute/node'
import { failed } from '../../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../../machines/model/operation.ts'
import { inviteOf } from '../reading/invites.ts'
import { type Context, done } from './context.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

export async function invite(
  context: Context,
  { chat, primary, ...terms }: Of<'invite'>,
): Promise<OperationResult> {
  const { calls, signal } = context
  const request = { _: 'messages.exportChatInvite', peer: await groupOf(context, chat) } as const
  const { name, expiresAt, memberLimit, needsApproval } = terms
  const made = primary
    ? await calls.call({ ...request, legacyRevokePermanent: true }, { signal })
    : await calls.call(
        {
          ...request,
          ...(name !== undefined && { title: name }),
          ...(expiresAt !== undefined && { expireDate: expiresAt }),
          ...(memberLimit !== undefined && { usageLimit: memberLimit }),
          ...(needsApproval && { requestNeeded: true }),
        },
        { signal },
      )
  return shown(context, made)
}

/** What is not named is taken away, as the reference does it. */
export async function editInvite(
  context: Context,
  {
    chat,
    link,
    name = '',
    expiresAt = 0,
    memberLimit = 0,
    needsApproval = false,
  }: Of<'edit_invite'>,
): Promise<OperationResult> {
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
  return shown(context, edited.invite)
}

export async function revokeInvite(
  context: Context,
  { chat, link }: Of<'revoke_invite'>,
): Promise<OperationResult> {
  const { calls, signal } = context
  const peer = await groupOf(context, chat)
  const request = { _: 'messages.editExportedChatInvite', revoked: true, peer, link } as const
  return shown(context, (await calls.call(request, { signal })).invite)
}

export async function answerJoin(
  context: Context,
  { chat, person, approves }: Of<'answer_join'>,
): Promise<OperationResult> {
  const { calls, signal } = context
  const peer = await groupOf(context, chat)
  const userId = await calls.user(person, signal)
  const request = { _: 'messages.hideChatJoinRequest', peer, userId } as const
  calls.take(await calls.call({ ...request, ...(approves && { approved: true }) }, { signal }))
  return done
}

async function groupOf({ calls, signal }: Context, chat: string): Promise<tl.TypeInputPeer> {
  const peer = await calls.peer(chat, signal)
  if (peer._ === 'inputPeerChat' || peer._ === 'inputPeerChannel') return peer
  throw failed('bad_request', 'method is available for group, supergroup and channel chats only')
}

async function shown(
  { calls, self }: Context,
  exported: tl.TypeExportedChatInvite,
): Promise<OperationResult> {
  const creator = exported._ === 'chatInviteExported' ? exported.adminId : Number(self)
  const peers = await calls.known([{ _: 'peerUser', userId: creator }])
  const found = inviteOf(exported, { self, peers })
  if (found) return { kind: 'invite', invite: found }
  throw failed('bad_gateway', 'Telegram did not tell the link')
}
