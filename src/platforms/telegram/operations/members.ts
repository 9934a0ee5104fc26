/** Who belongs to a chat and may do what there. */
import { Long, PeersIndex, type tl } from '@mtcute/node'
import { failed, RequestFailed } from '../../../../machines/model/failure.ts'
import { PERMISSIONS } from '../../../../machines/model/membership.ts'
import type { Operation, OperationResult } from '../../../../machines/model/operation.ts'
import { memberOf } from '../reading/members.ts'
import type { View } from '../reading/peers.ts'
import { adminRights, bannedRights, shutOut } from '../writing/rights.ts'
import { type Context, done, looking } from './context.ts'
import { administratorsOfGroup, memberInGroup, putOut } from './small-groups.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

export async function administrators(
  context: Context,
  { chat }: Of<'administrators'>,
): Promise<OperationResult> {
  const { calls, self, signal } = context
  const peer = await calls.peer(chat, signal)
  if (peer._ === 'inputPeerChat') return administratorsOfGroup(context, chat, peer)
  const channel = await calls.channel(chat, signal)
  const filter = { _: 'channelParticipantsAdmins' } as const
  const page = { offset: 0, limit: 200, hash: Long.ZERO }
  const found = await calls.call(
    { _: 'channels.getParticipants', channel, filter, ...page },
    looking(context),
  )
  if (found._ === 'channels.channelParticipantsNotModified') return { kind: 'members', members: [] }
  const view: View = { self, peers: PeersIndex.from(found) }
  const members = found.participants.map((participant) => memberOf(participant, view))
  return { kind: 'members', members }
}

export async function member(context: Context, operation: Of<'member'>): Promise<OperationResult> {
  const { calls, self, signal } = context
  const { chat, person } = operation
  const group = await calls.peer(chat, signal)
  if (group._ === 'inputPeerChat') return memberInGroup(context, operation, group)
  const channel = await calls.channel(chat, signal)
  const participant = await calls.person(person, signal)
  try {
    const request = { _: 'channels.getParticipant', channel, participant } as const
    const found = await calls.call(request, looking(context))
    const view: View = { self, peers: PeersIndex.from(found) }
    return { kind: 'member', member: memberOf(found.participant, view) }
  } catch (cause) {
    const isOutside =
      cause instanceof RequestFailed && cause.failure.description === 'user not found'
    if (!isOutside) throw cause
    const peer = { _: 'peerUser', userId: Number(person) } as const
    const view: View = { self, peers: await calls.known([peer]) }
    return { kind: 'member', member: memberOf({ _: 'channelParticipantLeft', peer }, view) }
  }
}

export async function ban(context: Context, operation: Of<'ban'>): Promise<OperationResult> {
  const { calls, self, signal } = context
  const group = await calls.peer(operation.chat, signal)
  if (group._ === 'inputPeerChat' && operation.person !== self) {
    return putOut(context, operation, group)
  }
  return confine(context, operation, shutOut(operation.until))
}

export async function unban(context: Context, operation: Of<'unban'>): Promise<OperationResult> {
  if (operation.onlyIfBanned) {
    const { chat, person } = operation
    const found = await member(context, { kind: 'member', chat, person })
    if (found.kind === 'member' && found.member.status !== 'kicked') return done
    return confine(context, operation, bannedRights(PERMISSIONS))
  }
  // As the reference does: whoever is there is put out, and may come back.
  await confine(context, operation, shutOut())
  return confine(context, operation, bannedRights(PERMISSIONS))
}

export function restrict(context: Context, operation: Of<'restrict'>): Promise<OperationResult> {
  return confine(context, operation, bannedRights(operation.permissions, operation.until))
}

export async function promote(
  { calls, signal }: Context,
  { chat, person, rights, isAnonymous = false }: Of<'promote'>,
): Promise<OperationResult> {
  const channel = await calls.channel(chat, signal)
  const userId = await calls.user(person, signal)
  const result = await calls.call(
    {
      _: 'channels.editAdmin',
      channel,
      userId,
      adminRights: adminRights(rights, isAnonymous),
    },
    { signal },
  )
  calls.take(result)
  return done
}

async function confine(
  { calls, self, signal }: Context,
  { chat, person }: { readonly chat: string; readonly person: string },
  rights: tl.RawChatBannedRights,
): Promise<OperationResult> {
  if (person === self) throw failed('bad_request', "can't restrict self")
  const channel = await calls.channel(chat, signal)
  const participant = await calls.person(person, signal)
  const request = { _: 'channels.editBanned', channel, participant } as const
  calls.take(await calls.call({ ...request, bannedRights: rights }, { signal }))
  return done
}
