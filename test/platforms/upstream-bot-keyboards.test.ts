/** Keyboards that a bot behind the gateway brings along, as its network is asked for them. */
import t from 'tap'
import type { Telling } from '../../machines/model/happening.ts'
import { Arguments } from '../../src/bot-api/arguments.ts'
import { markupOf } from '../../src/bot-api/markup.ts'
import { keyboardJson } from '../../src/bot-api/present/message.ts'
import { telegramBot } from '../../src/platforms/upstream-bot/flavour.ts'
import { perform } from './contract/scene.ts'
import { ok, session, startStub, update } from './upstream-bot/stub.ts'

const stub = await startStub(t)
const open = await session(t, stub.url, telegramBot)
await open.reported('opened')
const { message } = update('sent')
const content = { kind: 'text' as const, text: 'hi', entities: [] }

/** The markup that the network is sent for one that a client has sent. */
async function passedOn(markup: object): Promise<unknown> {
  stub.next('sendMessage', ok(message))
  const args = new Arguments([['reply_markup', JSON.stringify(markup)]])
  const carried = markupOf(args, open.platform)
  await perform(open, { kind: 'send', chat: '42', content, ...carried })
  return stub.asked.findLast(({ method }) => method === 'sendMessage')?.body.reply_markup
}

t.test('they are passed through with all that they ask for', async (t) => {
  const markups = [
    {
      keyboard: [
        [
          { text: 'My number', request_contact: true },
          { text: 'Here', request_location: true },
        ],
        [{ text: 'Pick', request_users: { request_id: 1, max_quantity: 3 } }],
      ],
      is_persistent: true,
      resize_keyboard: true,
      one_time_keyboard: true,
      input_field_placeholder: 'Choose',
      selective: true,
    },
    { keyboard: [[{ text: 'Yes' }]] },
    { remove_keyboard: true },
    { remove_keyboard: true, selective: true },
    { force_reply: true, input_field_placeholder: 'Your name' },
    {
      inline_keyboard: [
        [
          { text: 'A', callback_data: 'a' },
          { text: 'B', url: 'https://chapar.test/' },
        ],
        [{ text: 'App', web_app: { url: 'https://chapar.test/app' } }],
        [
          { text: 'Copy', copy_text: { text: 'words' } },
          { text: 'Share', switch_inline_query: '' },
        ],
      ],
    },
  ]
  for (const markup of markups) t.strictSame(await passedOn(markup), markup)
})

t.test('older forms are written as today', async (t) => {
  t.strictSame(await passedOn({ keyboard: [['Yes', 7], []] }).catch(({ failure }) => failure), {
    code: 'bad_request',
    description: "can't parse keyboard button: KeyboardButton must be an Object",
  })
  t.strictSame(await passedOn({ keyboard: [['Yes'], []] }), { keyboard: [[{ text: 'Yes' }]] })
  t.strictSame(await passedOn({ hide_keyboard: true }), { remove_keyboard: true })
  const answer = { force_reply_keyboard: true, personal_keyboard: true }
  t.strictSame(await passedOn(answer), { force_reply: true, selective: true })
})

t.test('what a button does is told of the messages that have it', async (t) => {
  const inline_keyboard = [[{ text: 'App', web_app: { url: 'https://chapar.test/app' } }]]
  stub.push(update('with a button', { reply_markup: { inline_keyboard } }))
  const { message } = (await open.store.message('with a button')) as Telling
  t.strictSame(keyboardJson(message.buttons!), { inline_keyboard })
})

t.test('buttons of games and payments are refused', async (t) => {
  for (const action of ['pay', 'callback_game']) {
    const inline_keyboard = [[{ text: 'A', [action]: action === 'pay' ? true : {} }]]
    t.strictSame(await passedOn({ inline_keyboard }).catch(({ failure }) => failure), {
      code: 'bad_request',
      description: `${action} buttons are not supported on Telegram bots`,
    })
  }
})

t.test('of several kinds the one counts that the reference looks for first', async (t) => {
  const keyboard = [[{ text: 'Yes' }]]
  const inline_keyboard = [[{ text: 'A', callback_data: 'a' }]]
  t.strictSame(await passedOn({ inline_keyboard, keyboard }), { keyboard })
  t.strictSame(await passedOn({ inline_keyboard, remove_keyboard: true }), { inline_keyboard })
  const none = { inline_keyboard: [], remove_keyboard: true, force_reply: true }
  t.strictSame(await passedOn(none), { remove_keyboard: true })
  t.equal(await passedOn({ keyboard: [], force_reply: false }), undefined)
})
