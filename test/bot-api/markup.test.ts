/** Which platforms take keyboards in the place of the ordinary one, and what the others say. */
import t from 'tap'
import type { Capabilities, Platform } from '../../actors/ports/platform.ts'
import { RequestFailed } from '../../machines/model/failure.ts'
import { Arguments } from '../../src/bot-api/arguments.ts'
import { markupOf } from '../../src/bot-api/markup.ts'
import { capabilities as sandbox } from '../../src/platforms/sandbox/platform.ts'
import { capabilities as telegram } from '../../src/platforms/telegram/facts.ts'
import { telegramBot } from '../../src/platforms/upstream-bot/flavour.ts'
import { capabilities as xmpp } from '../../src/platforms/xmpp/platform.ts'

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

t.test('a button leads to pages and to chats, and runs nothing', async (t) => {
  const press = (url: string, more: object = { url }) =>
    markupOn(telegramBot.capabilities, { inline_keyboard: [[{ text: 'Press', ...more }]] })
  const links = [
    ...['https://example.org/a?b#c', 'http://127.0.0.1:8080/', 'HTTPS://EXAMPLE.ORG'],
    ...['tg://user?id=42', 'example.org', 'example.org:8443/path', 'xn--e1afmkfd.org/?q=a:b'],
  ]
  for (const url of links) t.strictSame(press(url), { buttons: [[{ text: 'Press', url }]] }, url)
  const refused = (url: string, reason: string, what = '') => {
    const description = `inline keyboard button ${what}URL '${url}' is invalid: ${reason}`
    return new RequestFailed({ code: 'bad_request', description })
  }
  const reasons = {
    'Wrong HTTP URL': [
      ...['javascript:alert(1)', ' javascript:alert(1)', 'java\tscript:alert(1)', 'vbscript:x'],
      ...['data:text/html,<script>alert(1)</script>', 'word', 'http:/example.org'],
    ],
    'Unsupported URL protocol': ['JavaScript://example.org/%0aalert(1)', 'file:///etc/passwd'],
    'URL host is empty': ['https://', 'tg://'],
  }
  for (const [reason, urls] of Object.entries(reasons)) {
    for (const url of urls) t.throws(() => press(url), refused(url, reason), url)
  }
  const url = 'javascript:alert(1)'
  const secure = refused(url, 'Only HTTPS links are allowed', 'Web App ')
  t.throws(() => press('', { web_app: { url } }), secure)
  t.throws(() => press('', { login_url: { url } }), refused(url, 'Wrong HTTP URL'))
})

t.test('a list is no text and no number of a button', async (t) => {
  const press = (more: object) =>
    markupOn(telegramBot.capabilities, { inline_keyboard: [[{ text: 'Press', ...more }]] })
  const key = (more: object) =>
    markupOn(telegramBot.capabilities, { keyboard: [[{ text: 'Pick', ...more }]] })
  for (const name of ['switch_inline_query', 'switch_inline_query_current_chat']) {
    t.strictSame(press({ [name]: 'cats' }), {
      buttons: [[{ text: 'Press', action: { [name]: 'cats' } }]],
    })
    t.throws(() => press({ [name]: ['cats'] }), {
      message: new RegExp(`Field "${name}" must be of type String$`),
    })
  }
  const chosen = { allow_user_chats: true, query: ['cats'] }
  t.throws(() => press({ switch_inline_query_chosen_chat: chosen }), { message: /Field "query"/ })
  t.ok(key({ request_users: { request_id: '1', max_quantity: 5 } }))
  for (const asked of [{ request_id: [1] }, { request_id: 1, max_quantity: [5] }]) {
    t.throws(() => key({ request_users: asked }), { message: /" must be a Number$/ })
  }
})
