/** Which platforms take keyboards in the place of the ordinary one, and what the others say. */
import t from 'tap'
import { RequestFailed } from '../../actors/errors.ts'
import type { Capabilities, Platform } from '../../actors/platform.ts'
import { Arguments } from '../../src/bot-api/arguments.ts'
import { markupOf } from '../../src/bot-api/markup.ts'
import { telegramBot } from '../../src/platforms/bot-api/flavour.ts'
import { capabilities as sandbox } from '../../src/platforms/sandbox/capabilities.ts'
import { capabilities as telegram } from '../../src/platforms/telegram/capabilities.ts'
import { capabilities as xmpp } from '../../src/platforms/xmpp/capabilities.ts'

const markupOn = (capabilities: Capabilities, markup: object) => {
  const platform = { name: 'Somewhere', capabilities } as Platform
  return markupOf(new Arguments([['reply_markup', JSON.stringify(markup)]]), platform)
}

const keys = { keyboard: [[{ text: 'Yes' }]] }
const answer = { force_reply: true }
const none = { remove_keyboard: true }

t.test('where there are no keyboards, only removing one is done at once', async (t) => {
  for (const capabilities of [xmpp, telegram]) {
    for (const markup of [keys, answer]) {
      t.throws(
        () => markupOn(capabilities, markup),
        new RequestFailed({
          code: 'bad_request',
          description: 'this kind of reply markup is not supported on Somewhere',
        }),
      )
    }
    t.strictSame(markupOn(capabilities, none), {})
  }
})

t.test('where there are keyboards, all of them are passed on', async (t) => {
  for (const capabilities of [sandbox, telegramBot.capabilities]) {
    const rows = [[{ text: 'Yes' }]]
    t.strictSame(markupOn(capabilities, keys), { keyboard: { kind: 'keys', rows } })
    t.strictSame(markupOn(capabilities, answer), { keyboard: { kind: 'answer' } })
    t.strictSame(markupOn(capabilities, none), { keyboard: { kind: 'none' } })
  }
})
