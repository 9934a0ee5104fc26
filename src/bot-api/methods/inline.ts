/** Methods of inline and guest mode: answers to queries and to web apps, and prepared messages. */

import { badRequest } from '../../../machines/model/failure.ts'
import type { InlinePlace } from '../../../machines/model/operation-inline.ts'
import { inlineButtonOf, inlineResultOf, inlineResultsOf } from '../inline-results.ts'
import { keyFrom } from '../markup.ts'
import { type Method, result } from '../method.ts'

const USUAL_CACHE_SECONDS = 300
const OFFSET_BYTES = 64

const answerInlineQuery: Method = {
  name: 'answerInlineQuery',
  summary: 'Offers results to a person who writes to the bot in another chat',
  scope: 'bot:send',
  operation: 'answer_inline',
  parameters: {
    inline_query_id: 'string',
    results: 'json',
    cache_time: 'integer',
    is_personal: 'boolean',
    next_offset: 'string',
    button: 'json',
    switch_pm_text: 'string',
    switch_pm_parameter: 'string',
  },
  required: ['inline_query_id', 'results'],
  run: async (call) => {
    const { args, perform } = call
    const button = inlineButtonOf(args)
    const results = inlineResultsOf(call)
    const nextOffset = args.text('next_offset') ?? ''
    if (Buffer.byteLength(nextOffset) > OFFSET_BYTES) throw badRequest('NEXT_OFFSET_INVALID')
    const cacheSeconds = args.has('cache_time')
      ? args.integer('cache_time', { min: 0, max: 86_400 })
      : USUAL_CACHE_SECONDS
    return result(
      await perform({
        kind: 'answer_inline',
        query: args.text('inline_query_id') ?? '',
        results,
        cacheSeconds,
        isPersonal: args.boolean('is_personal'),
        nextOffset,
        ...(button && { button }),
      }),
    )
  },
}

const answerWebAppQuery: Method = {
  name: 'answerWebAppQuery',
  summary: 'Sends a message for a person who has a web app of the bot open',
  scope: 'bot:send',
  operation: 'answer_web_app',
  parameters: { web_app_query_id: 'string', result: 'json' },
  required: ['web_app_query_id', 'result'],
  once: true,
  run: async (call) => {
    const query = call.args.text('web_app_query_id') ?? ''
    const offered = inlineResultOf(call)
    return result(await call.perform({ kind: 'answer_web_app', query, result: offered }))
  },
}

const answerGuestQuery: Method = {
  name: 'answerGuestQuery',
  summary: 'Writes into the chat where a person named the bot, which is no member of it',
  scope: 'bot:send',
  operation: 'answer_guest',
  parameters: { guest_query_id: 'string', result: 'json' },
  required: ['guest_query_id', 'result'],
  run: async (call) => {
    const query = call.args.text('guest_query_id') ?? ''
    const offered = inlineResultOf(call)
    return result(await call.perform({ kind: 'answer_guest', query, result: offered }))
  },
}

/** By the parameter that allows chats of a kind. The sandbox does not distinguish bots from other people. */
const PLACES: Readonly<Record<string, readonly InlinePlace[]>> = {
  allow_user_chats: ['private'],
  allow_bot_chats: ['private', 'sender'],
  allow_group_chats: ['group', 'supergroup'],
  allow_channel_chats: ['channel'],
}

const savePreparedInlineMessage: Method = {
  name: 'savePreparedInlineMessage',
  summary: 'Keeps a message for a person, who sends it from a web app',
  scope: 'bot:send',
  operation: 'prepare_inline',
  parameters: {
    user_id: 'integer',
    result: 'json',
    allow_user_chats: 'boolean',
    allow_bot_chats: 'boolean',
    allow_group_chats: 'boolean',
    allow_channel_chats: 'boolean',
  },
  required: ['user_id', 'result'],
  run: async (call) => {
    const { args, perform } = call
    const person = args.userId()
    const offered = inlineResultOf(call)
    const places = Object.entries(PLACES).flatMap(([name, kinds]) =>
      args.boolean(name) ? kinds : [],
    )
    if (places.length === 0) throw badRequest('at least one chat type must be allowed')
    return result(
      await perform({
        kind: 'prepare_inline',
        person,
        result: offered,
        places: [...new Set(places)],
      }),
    )
  },
}

const SHARING = ['request_users', 'request_chat', 'request_managed_bot']

const savePreparedKeyboardButton: Method = {
  name: 'savePreparedKeyboardButton',
  summary: 'Keeps a key for a person, who shares people or a chat by it from a web app',
  scope: 'bot:send',
  operation: 'prepare_key',
  parameters: { user_id: 'integer', button: 'json' },
  required: ['user_id', 'button'],
  run: async ({ args, perform }) => {
    const person = args.userId()
    const key = keyFrom(args.parsed('button', 'keyboard button JSON object'))
    if (!SHARING.some((name) => key.more?.[name])) throw badRequest('BUTTON_TYPE_INVALID')
    return result(await perform({ kind: 'prepare_key', person, key }))
  },
}

export const inlineMethods = [
  answerInlineQuery,
  answerWebAppQuery,
  answerGuestQuery,
  savePreparedInlineMessage,
  savePreparedKeyboardButton,
]
