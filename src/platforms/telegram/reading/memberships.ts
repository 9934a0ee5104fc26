/** Changes of membership: told by themselves, or seen in what is announced in a chat. */
import type { tl } from '@mtcute/node'
import type { Message, Person } from '../../../../machines/model/content.ts'
import type { Happening } from '../../../../machines/model/happening.ts'
import type { Member } from '../../../../machines/model/membership.ts'
import { inviteOf } from './invites.ts'
import { memberOf, memberOfGroup } from './members.ts'
import { chatOf, personById, type View } from './peers.ts'

type Told = tl.RawUpdateChannelParticipant | tl.RawUpdateChatParticipant

export function membershipOf(update: Told, view: View): Happening {
  const { userId, actorId, qts } = update
  const person = personById(userId, view)
  const [chat, before, after] =
    update._ === 'updateChannelParticipant'
      ? ([
          chatOf({ _: 'peerChannel', channelId: update.channelId }, view),
          update.prevParticipant && memberOf(update.prevParticipant, view),
          update.newParticipant && memberOf(update.newParticipant, view),
        ] as const)
      : ([
          chatOf({ _: 'peerChat', chatId: update.chatId }, view),
          update.prevParticipant && memberOfGroup(update.prevParticipant, view),
          update.newParticipant && memberOfGroup(update.newParticipant, view),
        ] as const)
  const invite = inviteOf(update.invite, view)
  const by = personById(actorId, view)
  return {
    ...facts(person, by, view),
    sourceKey: `mb:${chat.native}:${userId}:${qts}`,
    at: update.date,
    chat,
    before: before ?? outside(person),
    after: after ?? outside(person),
    ...(invite && { invite }),
  }
}

/** People's accounts are told of others only by what is announced in the chat. */
export function membershipsIn(
  { action }: tl.RawMessageService,
  { native, chat, at, from: by, content }: Message,
  view: View,
): Happening[] {
  if (!by || content.kind !== 'service') return []
  const change = (person: Person, before: Member, after: Member): Happening => ({
    ...facts(person, by, view),
    sourceKey: `mb:${chat.native}:${native}:${person.native}`,
    at,
    chat,
    before,
    after,
  })
  const joins = (person: Person) => change(person, outside(person), inside(person))
  if (content.fact === 'joined') return content.people.map(joins)
  if (content.fact === 'left') {
    const { person } = content
    // Whoever is put out of a supergroup may not come back by themselves.
    const isKicked = by.native !== person.native && chat.surface !== 'group'
    return [
      change(person, inside(person), isKicked ? { person, status: 'kicked' } : outside(person)),
    ]
  }
  const isNew = action._ === 'messageActionChatCreate' && by.native !== view.self
  return isNew ? [joins(personById(Number(view.self), view))] : []
}

const facts = (person: Person, by: Person, { self }: View) => ({
  kind: 'member' as const,
  direction: by.native === self ? ('own' as const) : ('incoming' as const),
  isSelf: person.native === self,
  by,
})

const outside = (person: Person): Member => ({ person, status: 'left' })
const inside = (person: Person): Member => ({ person, status: 'member' })
