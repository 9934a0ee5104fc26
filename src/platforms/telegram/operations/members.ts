/** Members of chats: listed, banned, restricted and promoted; their invite links and join requests. */
import { Long, PeersIndex, type tl } from '@mtcute/node'
import type { Handlers } from '../../../../actors/ports/platform.ts'
import type { Surface } from '../../../../machines/model/content.ts'
import { failed, RequestFailed } from '../../../../machines/model/failure.ts'
import type { Member } from '../../../../machines/model/membership.ts'
import type { OperationOf, OperationResult } from '../../../../machines/model/operation.ts'
import { PERMISSIONS, rightsGiven } from '../../../../machines/model/rights.ts'
import {
  adminRights,
  bannedRights,
  inviteOf,
  memberOf,
  memberOfGroup,
  shutOut,
} from '../reading/memberships.ts'
import { chatOfGroup, personById, type View } from '../reading/peers.ts'
import { type Context, done, doneInPart, readOptions, untold } from './context.ts'
import { fullChat } from './describe.ts'

/** Invite links: created, changed and revoked; and the answers to join requests. */
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

  async subscription_invite(context, { chat, name: title, seconds: period, stars }) {
    const { calls, signal } = context
    const peer = await groupOf(context, chat)
    const amount = Long.fromNumber(stars)
    const pricing = { _: 'starsSubscriptionPricing', period, amount } as const
    const request = { _: 'messages.exportChatInvite', peer, title } as const
    const asked = { ...request, subscriptionPricing: pricing }
    return resultOf(context, await calls.call(asked, { signal }))
  },

  /** Its terms stay as they are. */
  async edit_subscription_invite(context, { chat, link, name: title }) {
    const { calls, signal } = context
    const peer = await groupOf(context, chat)
    const request = { _: 'messages.editExportedChatInvite', peer, link, title } as const
    return resultOf(context, (await calls.call(request, { signal })).invite)
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
  const peers = await calls.knownNow([{ _: 'peerUser', userId: creator }])
  const invite = inviteOf(exported, { self, peers })
  if (invite) return { kind: 'invite', invite }
  throw untold('carried it out and does not tell the link')
}

const ADMINISTRATORS: readonly Member['status'][] = ['creator', 'administrator']

export const members: Handlers<Context> = {
  async administrators(context, { chat }) {
    const { calls, self, signal } = context
    const peer = await calls.peer(chat, signal)
    if (peer._ === 'inputPeerChat') {
      const all = await membersOfGroup(context, chat, peer)
      const members = all.filter((one) => ADMINISTRATORS.includes(one.status))
      return { kind: 'members', members, surface: 'group' }
    }
    const channel = await calls.channel(chat, signal)
    const surface = await surfaceOf(context, chat)
    const filter = { _: 'channelParticipantsAdmins' } as const
    const page = { offset: 0, limit: 200, hash: Long.ZERO }
    const found = await calls.call(
      { _: 'channels.getParticipants', channel, filter, ...page },
      readOptions(context),
    )
    if (found._ === 'channels.channelParticipantsNotModified') {
      return { kind: 'members', members: [], surface }
    }
    const view: View = { self, peers: PeersIndex.from(found) }
    const members = found.participants.map((participant) => memberOf(participant, view))
    return { kind: 'members', members, surface }
  },

  async member(context, operation) {
    const member = await memberIn(context, operation)
    return { kind: 'member', member, surface: await surfaceOf(context, operation.chat) }
  },

  async ban(context, { chat, person, until, deletesMessages }) {
    const { calls, self, signal } = context
    const peer = await calls.peer(chat, signal)
    if (peer._ !== 'inputPeerChat' || person === self) {
      return confine(context, { chat, person }, shutOut(until))
    }
    // A small group has no bans: the member is removed.
    const userId = await calls.user(person, signal)
    const history = deletesMessages && { revokeHistory: true }
    const { chatId } = peer
    const request = { _: 'messages.deleteChatUser', chatId, userId, ...history } as const
    calls.take(await calls.call(request, { signal }))
    return done
  },

  async unban(context, operation) {
    if (operation.onlyIfBanned) {
      const { status } = await memberIn(context, operation)
      if (status !== 'kicked') return done
      return confine(context, operation, bannedRights(PERMISSIONS))
    }
    // As the reference does it, a member is removed and may come back.
    await confine(context, operation, shutOut())
    return confine(context, operation, bannedRights(PERMISSIONS)).catch(doneInPart)
  },

  restrict: (context, operation) =>
    confine(context, operation, bannedRights(operation.permissions, operation.until)),

  async promote(context, { chat, person, ...asked }) {
    const { calls, signal } = context
    const channel = await calls.channel(chat, signal)
    const userId = await calls.user(person, signal)
    const { rights, isAnonymous } = rightsGiven(await surfaceOf(context, chat), asked)
    const request = { _: 'channels.editAdmin', channel, userId } as const
    const given = { adminRights: adminRights(rights, isAnonymous) }
    calls.take(await calls.call({ ...request, ...given }, { signal }))
    return done
  },
}

/** A chat that the account may name is usually stored. */
async function surfaceOf(context: Context, chat: string): Promise<Surface> {
  const { calls, signal } = context
  const peer = await calls.peer(chat, signal)
  if (!('channelId' in peer)) return 'group'
  const { channelId } = peer
  const stored = await calls.known([{ _: 'peerChannel', channelId }])
  const found =
    stored.chats.get(channelId) ??
    PeersIndex.from(await fullChat(context, chat, peer)).chats.get(channelId)
  return found ? chatOfGroup(found).surface : 'supergroup'
}

type InChat = Pick<OperationOf<'member'>, 'chat' | 'person'>

export async function memberIn(context: Context, { chat, person }: InChat): Promise<Member> {
  const { calls, self, signal } = context
  const group = await calls.peer(chat, signal)
  if (group._ === 'inputPeerChat') return memberInGroup(context, { chat, person }, group)
  const channel = await calls.channel(chat, signal)
  const participant = await calls.person(person, signal)
  try {
    const request = { _: 'channels.getParticipant', channel, participant } as const
    const found = await calls.call(request, readOptions(context))
    const view: View = { self, peers: PeersIndex.from(found) }
    return memberOf(found.participant, view)
  } catch (cause) {
    const isOutside = cause instanceof RequestFailed && cause.failure.reason === 'user_not_found'
    if (!isOutside) throw cause
    const peer = { _: 'peerUser', userId: Number(person) } as const
    const view: View = { self, peers: await calls.known([peer]) }
    return memberOf({ _: 'channelParticipantLeft', peer }, view)
  }
}

async function memberInGroup(
  context: Context,
  { chat, person }: InChat,
  peer: tl.RawInputPeerChat,
): Promise<Member> {
  const { calls, self, signal } = context
  const userId = Number(person)
  await calls.user(person, signal)
  const members = await membersOfGroup(context, chat, peer)
  const found = members.find((member) => member.person.native === person)
  if (found) return found
  const peers = await calls.known([{ _: 'peerUser', userId }])
  return { person: personById(userId, { self, peers }), status: 'left' }
}

/** The network lists all members of a small group at once. */
async function membersOfGroup(
  context: Context,
  chat: string,
  peer: tl.RawInputPeerChat,
): Promise<Member[]> {
  const found = await fullChat(context, chat, peer)
  const view = { self: context.self, peers: PeersIndex.from(found) }
  const listed = found.fullChat._ === 'chatFull' ? found.fullChat.participants : undefined
  if (listed?._ !== 'chatParticipants') throw failed('bad_request', 'member list is inaccessible')
  return listed.participants.map((participant) => memberOfGroup(participant, view))
}

async function confine(
  { calls, self, signal }: Context,
  { chat, person }: InChat,
  rights: tl.RawChatBannedRights,
): Promise<OperationResult> {
  if (person === self) throw failed('bad_request', "can't restrict self")
  const channel = await calls.channel(chat, signal)
  const participant = await calls.person(person, signal)
  const request = { _: 'channels.editBanned', channel, participant } as const
  calls.take(await calls.call({ ...request, bannedRights: rights }, { signal }))
  return done
}
