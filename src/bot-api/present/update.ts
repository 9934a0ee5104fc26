/** Happenings of a network as updates of the bot API. */
import type { Chat, Reaction } from '../../../machines/model/content.ts'
import type { Happening, Telling } from '../../../machines/model/happening.ts'
import { kindNumber, type UpdateKind } from '../../../machines/model/update-kinds.ts'
import type { Draft } from '../../updates/row.ts'
import { businessJson } from './business.ts'
import type { Names } from './chat.ts'
import {
  boostJson,
  chatJson,
  inviteJson,
  memberJson,
  present,
  surfaceOfId,
  userJson,
} from './chat.ts'
import { locationJson, pollJson } from './content.ts'
import { bareMessageJson, messageJson } from './message.ts'
import { paymentJson } from './payment.ts'

type Told = Exclude<Happening, { kind: 'deleted' | 'update' }>
type Shown = readonly [kind: UpdateKind, chatId: number, value: object]

/** Undefined for a happening that no update of the bot API expresses. */
export function draftOf(happening: Told, ids: Names): Draft | undefined {
  const shown = 'message' in happening ? tellingOf(happening, ids) : changeOf(happening, ids)
  return shown && draft(happening.sourceKey, ...shown)
}

/** An update that came in the bot API's own words stays as it is. */
export const receivedDraft = (update: Extract<Happening, { kind: 'update' }>): Draft => ({
  sourceKey: update.sourceKey,
  kind: kindNumber(update.update),
  chatId: update.chatId ?? null,
  payload: update.payload,
})

/** Deletions speak of messages by their public ids only: the rest is gone. */
export function deletionDraft(
  sourceKey: string,
  chatId: number,
  messageIds: readonly number[],
  date: number,
  surface = surfaceOfId(chatId),
): Draft {
  return draft(sourceKey, 'deleted_messages', chatId, {
    chat: { id: chatId, type: surface },
    message_ids: messageIds,
    date,
  })
}

function tellingOf(happening: Telling, ids: Names): Shown | undefined {
  const message = messageJson(happening.message, ids)
  const chatId = ids.chat(happening.message.chat.native)
  if (happening.kind !== 'callback') return message && [kindOf(happening), chatId, message]
  const { callback, from } = happening
  const query = {
    id: callback,
    from: userJson(from, ids),
    // The button works even if the message's content cannot be expressed.
    message: message ?? bareMessageJson(happening.message, ids),
    chat_instance: `${chatId}`,
    ...pressedJson(happening),
  }
  return ['callback_query', chatId, query]
}

const pressedJson = (pressed: Extract<Happening, { kind: 'callback' | 'inline_callback' }>) =>
  'game' in pressed ? { game_short_name: pressed.game } : { data: pressed.data }

function changeOf(happening: Exclude<Told, Telling>, ids: Names): Shown | undefined {
  switch (happening.kind) {
    case 'reaction': {
      const value = {
        user: userJson(happening.person, ids),
        old_reaction: happening.before.map(reactionJson),
        new_reaction: happening.after.map(reactionJson),
      }
      return about(happening, 'message_reaction', value, ids)
    }
    case 'reaction_count': {
      const reactions = happening.counts.map(({ reaction, count }) => ({
        type: reactionJson(reaction),
        total_count: count,
      }))
      return about(happening, 'message_reaction_count', { reactions }, ids)
    }
    case 'receipt': {
      const { state, person, chat, target } = happening
      // A receipt may name a message that the account did not write.
      if (ids.isOwn(chat.native, target) === false) return undefined
      const value = present({ user: person && userJson(person, ids) })
      return about(happening, `message_${state}`, value, ids)
    }
    case 'poll':
      return ['poll', 0, pollJson(happening.poll, ids)]
    case 'poll_answer': {
      const { poll, person, options } = happening
      return [
        'poll_answer',
        ids.chat(person.native),
        {
          poll_id: poll,
          user: userJson(person, ids),
          option_ids: options,
          option_persistent_ids: options.map(String),
        },
      ]
    }
    case 'member': {
      const { chat, by, before, after, invite, isSelf, viaRequest } = happening
      return [
        isSelf ? 'my_chat_member' : 'chat_member',
        ids.chat(chat.native),
        {
          chat: chatJson(chat, ids),
          from: userJson(by, ids),
          date: happening.at,
          old_chat_member: memberJson(before, chat.surface, ids),
          new_chat_member: memberJson(after, chat.surface, ids),
          ...(invite && { invite_link: inviteJson(invite, ids) }),
          ...(viaRequest && { via_join_request: true }),
        },
      ]
    }
    case 'business_connection':
    case 'business_message':
    case 'business_edited':
    case 'business_deleted':
      return businessJson(happening, ids)
    case 'guest_message': {
      const { id, letter } = happening
      const message = messageJson(letter, ids)
      const chatId = ids.chat(letter.chat.native)
      return message && ['guest_message', chatId, { ...message, guest_query_id: id }]
    }
    case 'boost':
    case 'boost_removed':
      return boostShown(happening, ids)
    case 'join_request': {
      const { chat, person, bio, invite, query } = happening
      return [
        'chat_join_request',
        ids.chat(chat.native),
        {
          chat: chatJson(chat, ids),
          from: userJson(person, ids),
          user_chat_id: ids.chat(person.native),
          date: happening.at,
          ...present({
            bio,
            invite_link: invite && inviteJson(invite, ids),
            query_id: query,
          }),
        },
      ]
    }
    case 'inline_query':
    case 'inline_choice':
    case 'inline_callback':
      return inlineJson(happening, ids)
    case 'draft_stopped': {
      const { chat, draft: draft_id } = happening
      const value = { chat: chatJson(chat, ids), draft_id }
      return ['stopped_message_generation', ids.chat(chat.native), value]
    }
    case 'managed_bot': {
      const [user, bot] = [userJson(happening.person, ids), userJson(happening.bot, ids)]
      return ['managed_bot', ids.chat(happening.person.native), { user, bot }]
    }
    case 'shipping_query':
    case 'checkout_query':
    case 'subscription':
    case 'media_purchase': {
      const [kind, value] = paymentJson(happening, ids)
      return [kind, ids.chat(happening.person.native), value]
    }
  }
}

type InlineHappening = Extract<Happening, { kind: `inline_${string}` }>

function inlineJson(happening: InlineHappening, ids: Names): Shown {
  const from = userJson(happening.person, ids)
  const chatId = ids.chat(happening.person.native)
  if (happening.kind === 'inline_callback') {
    const { callback, inline, place } = happening
    const named = { id: callback, from, inline_message_id: inline, chat_instance: place }
    const value = { ...named, ...pressedJson(happening) }
    return ['callback_query', chatId, value]
  }
  const { text, offset, place, location } = happening.query
  const where = location && { location: locationJson(location) }
  if (happening.kind === 'inline_query') {
    const value = { id: happening.id, from, query: text, offset, chat_type: place, ...where }
    return ['inline_query', chatId, value]
  }
  const { result, inline } = happening
  const chosen = { result_id: result, from, query: text, ...where }
  return ['chosen_inline_result', chatId, { ...chosen, ...present({ inline_message_id: inline }) }]
}

function boostShown(
  { kind, chat, boost, at }: Happening & { kind: 'boost' | 'boost_removed' },
  ids: Names,
): Shown {
  const shown = boostJson(boost, ids)
  const place = { chat: chatJson(chat, ids) }
  const id = ids.chat(chat.native)
  if (kind === 'boost') return ['chat_boost', id, { ...place, boost: shown }]
  const { boost_id, source } = shown
  return ['removed_chat_boost', id, { ...place, boost_id, remove_date: at, source }]
}

/** Undefined if no client has seen the message: then a change of it means nothing to them. */
function about(
  { chat, target, at }: { chat: Chat; target: string; at: number },
  kind: UpdateKind,
  value: object,
  ids: Names,
): Shown | undefined {
  const message_id = ids.message(chat.native, target)
  if (message_id === undefined) return undefined
  const shown = { chat: chatJson(chat, ids), message_id, date: at, ...value }
  return [kind, ids.chat(chat.native), shown]
}

const reactionJson = (reaction: Reaction) =>
  'emoji' in reaction
    ? { type: 'emoji', emoji: reaction.emoji }
    : { type: 'custom_emoji', custom_emoji_id: reaction.customEmojiId }

function kindOf({ kind, message }: Exclude<Telling, { kind: 'callback' }>): UpdateKind {
  if (message.chat.surface === 'channel') {
    return kind === 'edited' ? 'edited_channel_post' : 'channel_post'
  }
  return kind === 'edited' ? 'edited_message' : 'message'
}

const draft = (sourceKey: string, kind: UpdateKind, chatId: number, value: object): Draft => ({
  sourceKey,
  kind: kindNumber(kind),
  chatId,
  payload: `"${kind}":${JSON.stringify(value)}`,
})
