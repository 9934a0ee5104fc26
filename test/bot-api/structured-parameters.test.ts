/** Structured parameters that are no JSON or of a wrong type, `null` among them: refused in the reference's words. */
import t from 'tap'
import type { Platform } from '../../actors/ports/platform.ts'
import { Arguments } from '../../src/bot-api/arguments.ts'
import { emojisOf, keywordsOf, MASK_PROBLEMS, maskOf } from '../../src/bot-api/input-sticker.ts'
import type { Call } from '../../src/bot-api/method.ts'
import { methods } from '../../src/bot-api/methods/index.ts'
import { failureOf } from '../support/accounts.ts'

const platform = {
  id: 'able',
  name: 'able',
  capabilities: {
    operations: [...methods.values()].flatMap(({ operation }) => operation ?? []),
    content: [...methods.values()].flatMap(({ content }) => content ?? []),
    surfaces: ['private'],
    entities: [],
    limits: { textLength: 100 },
    buttons: true,
  },
} as unknown as Platform

const kept = { read: async () => undefined, write: async () => undefined }

/** The words of the refusal, or undefined for a call that is carried out. */
async function refusalOf(method: string, given: Readonly<Record<string, string>>) {
  const call = {
    ...{ method, platform, uploads: new Map(), args: new Arguments(Object.entries(given)) },
    ...{ world: { profileStore: kept }, key: { facts: { credentialId: 1 } } },
    perform: async () => ({}),
  } as unknown as Call
  const failure = await failureOf(methods.get(method.toLowerCase())!.run(call))
  return failure?.description
}

const chat = { chat_id: '7' }
const text = { ...chat, text: 'hi' }
const poll = { ...chat, question: 'Tea?', options: '["Black","Green"]' }
const invoice = {
  ...{ ...chat, title: 'A', description: 'B', payload: 'c', currency: 'EUR', provider_token: 'd' },
  prices: '[{"label":"A","amount":100}]',
}

/** What is said of a value that is no JSON, and of one that is no such list or object. */
type Case = readonly [
  method: string,
  given: Readonly<Record<string, string>>,
  parameter: string,
  broken: string,
  wrong: string,
  takesNull?: 'takes null',
]

const object = (what: string) =>
  [`can't parse ${what} JSON object`, `object expected as ${what}`] as const
const list = (what: string, items: string) =>
  [`can't parse ${what} JSON object`, `expected an Array of ${items}`] as const
const typed = (what: string, problem: string) =>
  [`can't parse ${what} JSON object`, `can't parse ${what}: ${problem}`] as const

const pollMedia = [...typed('InputPollMedia', 'expected an Object'), 'takes null'] as const

const cases: readonly Case[] = [
  [
    ...(['sendMessage', text, 'reply_markup'] as const),
    ...([
      "can't parse reply keyboard markup JSON object",
      'object expected as reply markup',
    ] as const),
  ],
  ['sendMessage', text, 'reply_parameters', ...object('reply parameters')],
  ['sendMessage', text, 'link_preview_options', ...object('link preview options')],
  ['sendMessage', text, 'suggested_post_parameters', ...object('suggested post parameters')],
  ['restrictChatMember', { ...chat, user_id: '5' }, 'permissions', ...object('permissions')],
  ['setChatPermissions', chat, 'permissions', ...object('permissions')],
  ['postStory', { active_period: '86400' }, 'content', ...object('story content')],
  ['setMyCommands', {}, 'commands', ...list('commands', 'BotCommand')],
  [
    ...(['setMyCommands', { commands: '[]' }, 'scope'] as const),
    ...typed('BotCommandScope', 'BotCommandScope must be an Object'),
  ],
  ['setChatMenuButton', {}, 'menu_button', ...typed('menu button', 'MenuButton must be an Object')],
  [
    ...(['setMyDefaultAdministratorRights', {}, 'rights'] as const),
    ...typed('ChatAdministratorRights', 'ChatAdministratorRights must be an Object'),
  ],
  [
    'setMessageReaction',
    { ...chat, message_id: '1' },
    'reaction',
    ...list('reaction types', 'ReactionType'),
  ],
  ['sendMediaGroup', chat, 'media', ...list('media', 'InputMedia')],
  ['sendPaidMedia', { ...chat, star_count: '1' }, 'media', ...list('paid media', 'InputPaidMedia')],
  [
    ...(['editMessageMedia', { ...chat, message_id: '1' }, 'media'] as const),
    ...([
      "can't parse input media JSON object",
      "can't parse InputMedia: expected an Object",
    ] as const),
  ],
  ['deleteMessages', chat, 'message_ids', ...list('message_ids', 'message identifiers')],
  ['sendPoll', poll, 'options', ...list('options', 'String as options')],
  ['sendPoll', poll, 'country_codes', ...list('country_codes', 'String')],
  ['sendPoll', poll, 'media', ...pollMedia],
  [
    'sendPoll',
    { ...poll, type: 'quiz', correct_option_id: '0' },
    'explanation_media',
    ...pollMedia,
  ],
  [
    ...(['sendPoll', { ...poll, type: 'quiz' }, 'correct_option_ids'] as const),
    ...list('correct option identifiers', 'correct option identifiers'),
  ],
  ['sendInvoice', invoice, 'prices', ...list('prices', 'labeled prices')],
  [
    'sendInvoice',
    invoice,
    'suggested_tip_amounts',
    ...list('suggested_tip_amounts', 'suggested tip amounts'),
  ],
  [
    ...([
      'answerShippingQuery',
      { shipping_query_id: '1', ok: 'true' },
      'shipping_options',
    ] as const),
    ...list('shipping options', 'shipping options'),
  ],
  ['setPassportDataErrors', { user_id: '5' }, 'errors', ...list('errors', 'PassportElementError')],
  [
    'getCustomEmojiStickers',
    {},
    'custom_emoji_ids',
    ...list('custom emoji identifiers', 'custom emoji identifiers'),
  ],
  [
    ...(['answerInlineQuery', { inline_query_id: '1' }, 'results'] as const),
    ...([
      "can't parse JSON encoded inline query results",
      'expected an Array of inline query results',
    ] as const),
    'takes null',
  ],
  [
    ...(['answerInlineQuery', { inline_query_id: '1', results: '[]' }, 'button'] as const),
    ...typed('inline query results button', 'InlineQueryResultsButton must be an Object'),
  ],
  ['sendChecklist', chat, 'checklist', ...typed('InputChecklist', 'expected an Object')],
]

const sticker = (name: string, value: string) => new Arguments([[name, value]])

t.test('those of stickers', async (t) => {
  const mask = (value: string) => () => maskOf(sticker('mask_position', value), ...MASK_PROBLEMS)
  t.same(mask('null')(), {})
  t.throws(mask('{'), { message: "can't parse mask position JSON object" })
  const keywords = (value: string) => () => keywordsOf(sticker('keywords', value), '')
  t.throws(keywords('{'), { message: "can't parse keywords JSON object" })
  const emojis = (value: string) => () => emojisOf(sticker('emoji_list', value), 'no list')
  for (const value of ['7', '"a"', 'true', 'null']) {
    if (value !== 'null')
      t.throws(mask(value), { message: /MaskPosition must be an Object$/ }, value)
    t.throws(keywords(value), { message: 'field "keywords" must be an Array' }, value)
    t.throws(emojis(value), { message: 'no list: expected an Array of string' }, value)
  }
})

for (const [method, given, parameter, broken, wrong, takesNull] of cases) {
  t.test(`${parameter} of ${method}`, async (t) => {
    const said = (value: string) => refusalOf(method, { ...given, [parameter]: value })
    for (const value of ['{', 'nul', ' ']) t.equal(await said(value), broken, value)
    const others = wrong.includes('Array') && !wrong.includes('Object') ? ['{}'] : ['[]']
    for (const value of ['7', '"a"', 'true', ' false ', ...others]) {
      t.equal(await said(value), wrong, value)
    }
    t.equal(await said('null'), takesNull ? undefined : wrong, 'null')
  })
}
