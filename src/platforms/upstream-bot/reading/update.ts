/** One update of the reference as what happened on the network. */
import type { Reaction } from '../../../../machines/model/content.ts'
import { endKey, type Happening } from '../../../../machines/model/happening.ts'
import {
  array,
  type Fields,
  fields,
  integer,
  maybe,
  maybeText,
  native,
  number,
  present,
  text,
} from './fields.ts'
import { inviteOf, memberOf } from './membership.ts'
import { messageOf } from './message.ts'
import { chatOf, personOf } from './people.ts'
import { pollOf } from './poll.ts'

interface Reader {
  /** The account's own native id. */
  readonly self: string
  /** Unix time in seconds, for updates that carry none. */
  readonly now: number
}

/** Nothing where there is no word for it here. Throws `Malformed`. */
export function happeningOf(value: unknown, reader: Reader): Happening | undefined {
  const update = fields(value)
  const kind = Object.keys(update).find((name) => name in readers)
  const read = kind === undefined ? undefined : readers[kind]
  if (kind === undefined || !read) return undefined
  const about = fields(update[kind])
  const date = number(about.edit_date) ?? number(about.date)
  return read(about, {
    ...reader,
    // Ids may begin anew after a quiet week, so they are told apart by their time as well.
    sourceKey: `${integer(update.update_id)}${date === undefined ? '' : `@${date}`}`,
    at: date ?? reader.now,
  })
}

interface Update extends Reader {
  readonly sourceKey: string
  readonly at: number
}

type Read = (about: Fields, update: Update) => Happening | undefined

const readers: Readonly<Record<string, Read>> = {
  message: (about, update) => telling('message', about, update),
  edited_message: (about, update) => telling('edited', about, update),
  channel_post: (about, update) => telling('message', about, update),
  edited_channel_post: (about, update) => telling('edited', about, update),
  callback_query: callback,
  message_reaction: reaction,
  message_reaction_count: reactionCount,
  poll: pollState,
  poll_answer: pollAnswer,
  my_chat_member: (about, update) => member(about, update, true),
  chat_member: (about, update) => member(about, update, false),
  chat_join_request: joinRequest,
  // Told by gateways of this kind only.
  deleted_messages: deleted,
}

const happened = ({ sourceKey, at, self }: Update, by?: string) => ({
  sourceKey,
  at,
  direction: by === self ? ('own' as const) : ('incoming' as const),
})

function telling(kind: 'message' | 'edited', about: Fields, update: Update): Happening {
  const message = messageOf(about)
  return { ...happened(update, message.from?.native), kind, message }
}

/** Buttons of messages that were sent inline, and those of games, belong to nothing that is known here. */
function callback(about: Fields, update: Update): Happening | undefined {
  if (about.message === undefined || typeof about.data !== 'string') return undefined
  const message = messageOf(about.message)
  return {
    ...happened(update),
    at: update.now,
    kind: 'callback',
    callback: text(about.id),
    from: personOf(about.from),
    message,
    data: about.data,
  }
}

/** Nobody but people can be named; a chat that reacts in its own name is left out. */
function reaction(about: Fields, update: Update): Happening | undefined {
  if (about.user === undefined) return undefined
  const person = personOf(about.user)
  return {
    ...happened(update, person.native),
    kind: 'reaction',
    chat: chatOf(about.chat),
    target: native(about.message_id),
    person,
    before: array(about.old_reaction, reactionOf).flat(),
    after: array(about.new_reaction, reactionOf).flat(),
  }
}

function reactionCount(about: Fields, update: Update): Happening {
  const counts = array(about.reactions, (value) => {
    const { type, total_count } = fields(value)
    return reactionOf(type).map((reaction) => ({ reaction, count: integer(total_count) }))
  })
  return {
    ...happened(update),
    kind: 'reaction_count',
    chat: chatOf(about.chat),
    target: native(about.message_id),
    counts: counts.flat(),
  }
}

function reactionOf(value: unknown): Reaction[] {
  const { type, emoji, custom_emoji_id } = fields(value)
  if (type === 'emoji') return [{ emoji: text(emoji) }]
  return type === 'custom_emoji' ? [{ customEmojiId: text(custom_emoji_id) }] : []
}

function pollState(about: Fields, update: Update): Happening {
  const poll = pollOf(about)
  const end = poll.isClosed ? endKey(poll) : undefined
  return { ...happened(update), ...(end && { sourceKey: end }), kind: 'poll', poll }
}

function pollAnswer(about: Fields, update: Update): Happening | undefined {
  if (about.user === undefined) return undefined
  const person = personOf(about.user)
  return {
    ...happened(update, person.native),
    kind: 'poll_answer',
    poll: text(about.poll_id),
    person,
    options: array(about.option_ids, integer),
  }
}

function member(about: Fields, update: Update, isSelf: boolean): Happening {
  const by = personOf(about.from)
  return present({
    ...happened(update, by.native),
    kind: 'member' as const,
    chat: chatOf(about.chat),
    by,
    isSelf,
    before: memberOf(about.old_chat_member),
    after: memberOf(about.new_chat_member),
    invite: maybe(about.invite_link, inviteOf),
    viaRequest: about.via_join_request === true ? true : undefined,
  })
}

function joinRequest(about: Fields, update: Update): Happening {
  return present({
    ...happened(update),
    kind: 'join_request' as const,
    chat: chatOf(about.chat),
    person: personOf(about.from),
    bio: maybeText(about.bio),
    invite: maybe(about.invite_link, inviteOf),
  })
}

function deleted(about: Fields, update: Update): Happening {
  const { native: chat, surface } = chatOf(about.chat)
  return {
    ...happened(update),
    kind: 'deleted',
    chat,
    surface,
    messages: array(about.message_ids, native),
  }
}
