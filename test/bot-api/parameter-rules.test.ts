/** Every parameter of every method on every platform: carried out, refused, or cosmetic, and never dropped in silence. */
import t from 'tap'
import type { Platform } from '../../actors/ports/platform.ts'
import type { RequestFailed } from '../../machines/model/failure.ts'
import { Arguments } from '../../src/bot-api/arguments.ts'
import { canDo, type Method } from '../../src/bot-api/method.ts'
import { methods } from '../../src/bot-api/methods/index.ts'
import {
  assertParameters,
  methodRefused,
  parametersKnown,
  treatmentOf,
} from '../../src/bot-api/parameter-rules.ts'
import { platforms } from '../docs/platform-tables.ts'

/** Whoever drops one of these shows a message to others, elsewhere, at another time, or makes it cost. */
const WEIGHTY =
  /^(chat_id|from_chat_id|user_id|message_thread_id|direct_messages_topic_id|business_connection_id|ephemeral_message_parameters|receiver_user_id|reply_\w+|allow_paid_broadcast|suggested_post_parameters|message_effect_id|members_only|country_codes|hide_results_until_closes|until_date|expire_date|member_limit|creates_join_request|open_period|close_date|live_period|protect_content|allowed_updates|can_(?!stop)\w+)$/

const platformOf = (id: string): Platform => {
  const [, capabilities] = platforms.find(([one]) => one === id) ?? []
  return { id, name: id, capabilities } as Platform
}

function refusal(platform: Platform, method: Method, parameter: string, value: string) {
  try {
    assertParameters(platform, method, new Arguments([[parameter, value]]))
    return undefined
  } catch (error) {
    return (error as RequestFailed).failure.description
  }
}

t.test('nothing that the reference knows is without a treatment', async (t) => {
  for (const [id, capabilities] of platforms) {
    for (const method of methods.values()) {
      for (const parameter of parametersKnown(method.name)) {
        const treatment = treatmentOf({ capabilities }, method, parameter)
        t.ok(treatment, `${id}: ${method.name}.${parameter}`)
        // Nobody else's client could be made to keep a message: docs/platforms.md says so.
        if (id === 'xmpp' && parameter === 'protect_content') continue
        if (treatment === 'cosmetic') t.notMatch(parameter, WEIGHTY, `${id}: ${method.name}`)
      }
    }
  }
})

t.test('what narrows the audience or costs is refused, under its older names, too', async (t) => {
  const asked = {
    ephemeral_message_parameters: '{"receiver_user_id":7}',
    receiver_user_id: '7',
    callback_query_id: 'q',
    allow_paid_broadcast: 'true',
    suggested_post_parameters: '{"send_date":1}',
    direct_messages_topic_id: '3',
    message_effect_id: '5104841245755180586',
  }
  for (const [id] of platforms) {
    const platform = platformOf(id)
    for (const method of methods.values()) {
      if (!method.sends || !canDo(platform, method)) continue
      for (const [parameter, value] of Object.entries(asked)) {
        if (!parametersKnown(method.name).includes(parameter)) continue
        t.match(
          refusal(platform, method, parameter, value),
          new RegExp(`^parameter "${parameter}" is not supported on ${id}: `),
          `${id}: ${method.name}.${parameter}`,
        )
      }
    }
  }
})

t.test('a choice that is not made is no choice', async (t) => {
  const method = methods.get('sendmessage')!
  for (const value of ['', 'false', '0', 'null', ' {} ', '[]']) {
    const args = new Arguments([
      ['allow_paid_broadcast', value],
      ['message_effect_id', value],
    ])
    t.doesNotThrow(() => assertParameters(platformOf('xmpp'), method, args), value)
  }
})

t.test('what the reference does not know is ignored, as it does', async (t) => {
  const method = methods.get('sendmessage')!
  const args = new Arguments([
    ['parse_modes', 'HTML'],
    ['inline_message_id', 'elsewhere'],
  ])
  t.doesNotThrow(() => assertParameters(platformOf('sandbox'), method, args))
})

t.test('a refusal says why', async (t) => {
  const said = (id: string, reason: string) => {
    const method = methods.get('sendmessage')!
    const expected = `parameter "message_effect_id" is not supported on ${id}: ${reason}`
    t.equal(refusal(platformOf(id), method, 'message_effect_id', '1'), expected)
  }
  said('xmpp', 'the network has no effects')
  said('telegram-bot', 'the gateway does not pass it on yet')
  said('telegram', "the gateway does not do it with a person's account")
})

t.test('what only people or only bots may do is refused with the account that may', async (t) => {
  const said = (id: string, method: string) => {
    const platform = { ...platformOf(id), name: id }
    return (methodRefused(platform, method) as RequestFailed).failure.description
  }
  t.equal(
    said('telegram-bot', 'getChats'),
    "method getChats not found on telegram-bot: only people's accounts may; link one instead",
  )
  t.equal(
    said('telegram', 'answerInlineQuery'),
    "method answerInlineQuery not found on telegram: only bots may; link a bot's token instead",
  )
  t.equal(
    said('xmpp', 'resolvePhone'),
    'method resolvePhone not found on xmpp: the network has no phone numbers',
  )
})
