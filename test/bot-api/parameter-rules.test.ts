/** What a parameter is refused for, and what is passed over; `every-parameter.test.ts` walks through all of them. */
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

/** Networks that have nothing of all that, but for what Telegram lets people do. */
const LESS = ['xmpp', 'telegram']
const FOR_PEOPLE = ['message_effect_id', 'suggested_post_parameters', 'direct_messages_topic_id']

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
      if (platform.capabilities.passesThrough) continue
      for (const [parameter, value] of Object.entries(asked)) {
        if (!parametersKnown(method.name).includes(parameter)) continue
        const about = `${id}: ${method.name}.${parameter}`
        const isCarriedOut = treatmentOf(platform, method, parameter) === 'carried out'
        const isForPeople = id === 'telegram' && FOR_PEOPLE.includes(parameter)
        if (isCarriedOut && (isForPeople || !LESS.includes(id))) continue
        const words = new RegExp(`^parameter "${parameter}" is not supported on ${id}: `)
        t.match(refusal(platform, method, parameter, value), words, about)
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
    const expected = `parameter "allow_paid_broadcast" is not supported on ${id}: ${reason}`
    t.equal(refusal(platformOf(id), method, 'allow_paid_broadcast', '1'), expected)
  }
  said('xmpp', 'the network has no paid broadcasts')
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

t.test('an older name is treated as the new one', async (t) => {
  const sendMessage = methods.get('sendmessage')!
  const answering = methods.get('answercallbackquery')!
  for (const [id, capabilities] of platforms) {
    const treated = (name: string) => treatmentOf({ capabilities }, sendMessage, name)
    for (const older of ['receiver_user_id', 'callback_query_id']) {
      t.equal(treated(older), treated('ephemeral_message_parameters'), `${id}: ${older}`)
    }
    const own = treatmentOf({ capabilities }, answering, 'callback_query_id')
    t.equal(own, 'carried out', 'a name of its own stays')
  }
})
