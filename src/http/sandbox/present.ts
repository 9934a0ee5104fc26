/** The sandbox's records as its routes show and take them. */
import type { Static } from 'typebox'
import type { Buttons, Chat, Message, Person, TextEntity } from '../../../machines/content.ts'
import type { Faults as FaultState } from '../../platforms/sandbox/faults.ts'
import type { PersonRecord } from '../../platforms/sandbox/people.ts'
import type * as wire from './schemas.ts'

type Entity = Static<typeof wire.Entity>
type Keyboard = Static<typeof wire.Keyboard>

/** Leaves out what is not there. */
const present = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  ) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> }

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
  }),
})

export function messageBody(message: Message) {
  const { content } = message
  const isText = content.kind === 'text'
  return {
    message_id: Number(message.native),
    chat: chatBody(message.chat),
    date: message.at,
    ...present({
      from: message.from && nameBody(message.from),
      edit_date: message.editedAt,
      text: isText ? content.text : undefined,
      entities: isText && content.entities.length > 0 ? content.entities.map(entityBody) : null,
      service: content.kind === 'service' ? content.fact : undefined,
      reply_to_message_id: message.replyTo && Number(message.replyTo.native),
      forwarded_from: message.forward && originName(message.forward),
      inline_keyboard: message.buttons && keyboardBody(message.buttons),
    }),
  }
}

function originName(origin: NonNullable<Message['forward']>): string {
  if (origin.from === 'person') return origin.person.firstName
  return origin.from === 'hidden' ? origin.name : (origin.chat.title ?? '')
}

const entityBody = ({ customEmojiId, person, ...entity }: TextEntity): Entity => ({
  ...entity,
  ...present({
    custom_emoji_id: customEmojiId,
    user_id: person === undefined ? null : Number(person),
  }),
})

export const entityOf = ({ custom_emoji_id, user_id, ...entity }: Entity): TextEntity => ({
  ...entity,
  ...present({
    customEmojiId: custom_emoji_id,
    person: user_id === undefined ? null : String(user_id),
  }),
})

const keyboardBody = (buttons: Buttons): Keyboard =>
  buttons.map((row) =>
    row.map((button) =>
      'url' in button
        ? { text: button.text, url: button.url }
        : { text: button.text, callback_data: button.data },
    ),
  )

/** A button with neither address nor data would do nothing: it carries its own text. */
export const buttonsOf = (keyboard: Keyboard): Buttons =>
  keyboard.map((row) =>
    row.map(({ text, callback_data, url }) =>
      url !== undefined ? { text, url } : { text, data: callback_data ?? text },
    ),
  )
