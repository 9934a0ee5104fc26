/** The sandbox's records as its routes show and take them. */
import type { Chat, Message, Person } from '../../../machines/model/content.ts'
import { replyKeyboardJson } from '../../platforms/reply-keyboard.ts'
import type { Received } from '../../sandbox/delivery/inbox.ts'
import { personOf } from '../../sandbox/delivery/neutral.ts'
import type { StandingKeyboard } from '../../sandbox/messages/keyboards.ts'
import type { Faults as FaultState } from '../../sandbox/people/faults.ts'
import type { PersonRecord } from '../../sandbox/people/people.ts'
import { contentBody, reactionBody } from './content.ts'
import { keyboardBody, present } from './wire.ts'

const whenever = (milliseconds: number) => new Date(milliseconds).toISOString()

export const personBody = (person: PersonRecord, now: number) => ({
  id: person.id,
  phone: person.phone,
  username: person.username,
  first_name: person.first_name,
  last_name: person.last_name,
  language_code: person.language_code,
  has_password: person.has_password,
  deactivated: person.deactivated,
  linked_sessions: person.sessions,
  faults: faultsBody(person.faults, person.banned, now),
  created_at: person.created_at.toISOString(),
})

/** Faults whose time is over are no longer there. */
export function faultsBody(faults: FaultState, isBanned: boolean, now: number) {
  const { downUntil = 0, floodUntil = 0, delayMilliseconds, lostAnswers } = faults
  return present({
    drop: downUntil > now ? { until: whenever(downUntil) } : undefined,
    silence: faults.isSilent ? {} : undefined,
    flood_wait: floodUntil > now ? { until: whenever(floodUntil) } : undefined,
    delay: delayMilliseconds ? { milliseconds: delayMilliseconds } : undefined,
    duplicate: faults.isDuplicating ? {} : undefined,
    reorder: faults.isReordering ? {} : undefined,
    lose_answers: lostAnswers ? { times: lostAnswers } : undefined,
    ban: isBanned ? {} : undefined,
  })
}

export const nameBody = (person: Person) => ({
  id: Number(person.native),
  first_name: person.firstName,
  ...present({
    last_name: person.lastName,
    username: person.username,
  }),
})

export const chatBody = (chat: Chat) => ({
  id: Number(chat.native),
  type: chat.surface,
  ...present({
    title: chat.title,
    first_name: chat.firstName,
    last_name: chat.lastName,
    username: chat.username,
    description: chat.description,
    is_forum: chat.isForum,
  }),
})

export const receivedBody = (received: Received) => ({
  ...messageBody(received),
  ...(received.keyboard && { keyboard: replyKeyboardJson(received.keyboard) }),
  ...(received.reactions.length > 0 && {
    reactions: received.reactions.flatMap(({ person, reactions }) =>
      reactions.map((reaction) => ({
        person: nameBody(personOf(person)),
        ...reactionBody(reaction),
      })),
    ),
  }),
})

export const standingBody = ({ chat, person, message, keyboard, isUsed }: StandingKeyboard) => ({
  chat: chatBody(chat),
  person: nameBody(personOf(person)),
  message_id: message,
  ...replyKeyboardJson(keyboard),
  used: isUsed,
})

export function messageBody(message: Message) {
  return {
    message_id: Number(message.native),
    chat: chatBody(message.chat),
    date: message.at,
    ...present({
      from: message.from && nameBody(message.from),
      edit_date: message.editedAt,
      media_group_id: message.album,
      has_protected_content: message.isProtected,
      message_thread_id: message.topic && Number(message.topic.native),
      reply_to_message_id: message.replyTo && Number(message.replyTo.native),
      forwarded_from: message.forward && originName(message.forward),
      inline_keyboard: message.buttons && keyboardBody(message.buttons),
    }),
    ...contentBody(message.content),
  }
}

function originName(origin: NonNullable<Message['forward']>): string {
  if (origin.from === 'person') return origin.person.firstName
  return origin.from === 'hidden' ? origin.name : (origin.chat.title ?? '')
}
