/** Who belongs to a small group: the network tells of all of them at once, and bans nobody from there. */
import { PeersIndex, type tl } from '@mtcute/node'
import { failed } from '../../../../machines/model/failure.ts'
import type { Member } from '../../../../machines/model/membership.ts'
import type { Operation, OperationResult } from '../../../../machines/model/operation.ts'
import { memberOfGroup } from '../reading/members.ts'
import { personById } from '../reading/peers.ts'
import { fullChat } from './chats.ts'
import { type Context, done } from './context.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

const ADMINISTRATORS: readonly Member['status'][] = ['creator', 'administrator']

export async function administratorsOfGroup(
  context: Context,
  chat: string,
  peer: tl.RawInputPeerChat,
): Promise<OperationResult> {
  const members = await everybody(context, chat, peer)
  const found = members.filter(({ status }) => ADMINISTRATORS.includes(status))
  return { kind: 'members', members: found }
}

export async function memberInGroup(
  context: Context,
  { chat, person }: Of<'member'>,
  peer: tl.RawInputPeerChat,
): Promise<OperationResult> {
  const { calls, self, signal } = context
  const userId = Number(person)
  await calls.user(person, signal)
  const members = await everybody(context, chat, peer)
  const found = members.find((member) => member.person.native === person)
  if (found) return { kind: 'member', member: found }
  const peers = await calls.known([{ _: 'peerUser', userId }])
  return { kind: 'member', member: { person: personById(userId, { self, peers }), status: 'left' } }
}

export async function putOut(
  { calls, signal }: Context,
  { person, deletesMessages }: Pick<Of<'ban'>, 'person' | 'deletesMessages'>,
  { chatId }: tl.RawInputPeerChat,
): Promise<OperationResult> {
  const userId = await calls.user(person, signal)
  const history = deletesMessages && { revokeHistory: true }
  const request = { _: 'messages.deleteChatUser', chatId, userId, ...history } as const
  calls.take(await calls.call(request, { signal }))
  return done
}

async function everybody(
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
