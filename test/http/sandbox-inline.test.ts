/** The routes by which people use bots in inline mode: who may, and which bodies are refused. */
import t from 'tap'
import { sandboxServer } from './sandbox-rig.ts'

const { ask, person, result } = await sandboxServer(t)
const ada = await person('Ada')
const bot = await person('Bot', { username: 'inline_bot' })
const of = (name: string) => `POST /sandbox/people/${ada.id}/${name}`
const query = { bot: '@inline_bot', chat: bot.id, query: 'tea', wait_seconds: 0 }
const bodies: Readonly<Record<string, object>> = {
  inline_queries: query,
  inline_choices: { inline_query_id: '1', result_id: '1' },
  prepared_messages: { id: 'x', to: bot.id },
  shares: { to: bot.id, request_id: 1, user_ids: [ada.id] },
  payments: { invoice_link: 'x' },
  subscriptions: { charge_id: 'x', is_canceled: true },
  web_app_data: { to: bot.id, button_text: 'x', data: 'x' },
  web_apps: { bot: bot.id, url: 'https://app.invalid' },
}

t.test('only somebody who is signed in, and only for people of their own', async (t) => {
  for (const [name, body] of Object.entries(bodies)) {
    t.match(await ask(of(name), body, '2'), { status: 401, body: { ok: false } }, name)
    const stranger = await ask(`POST /sandbox/people/7/${name}`, body)
    t.match(stranger, { status: 404, body: { ok: false } }, name)
  }
})

t.test('a bot that does not answer leaves a query without results', async (t) => {
  t.match(await result(of('inline_queries'), query), {
    inline_query_id: String,
    answered: false,
    results: { length: 0 },
    next_offset: '',
  })
})

t.test('what makes no sense is refused', async (t) => {
  const wrong: readonly (readonly [name: string, body: object])[] = [
    ['inline_queries', {}],
    ['inline_queries', { ...query, query: 'x'.repeat(257) }],
    ['inline_queries', { ...query, bot: '@nobody_here' }],
    ['inline_queries', { ...query, bot: 999_999_999 }],
    ['inline_queries', { ...query, chat: 999_999_999 }],
    ['inline_queries', { ...query, more: 1 }],
    ['inline_choices', { inline_query_id: 'x', result_id: '1' }],
    ['inline_choices', { inline_query_id: '1', result_id: '1' }],
    ['prepared_messages', { id: 'nothing', to: bot.id }],
    ['payments', {}],
    ['payments', { invoice_link: 'x', tip_amount: -1 }],
    ['payments', { invoice_link: 'nothing' }],
    ['subscriptions', { charge_id: 'x', is_canceled: true }],
    ['shares', { to: bot.id, request_id: 1 }],
    ['shares', { to: bot.id, request_id: 1, user_ids: [] }],
    ['web_app_data', { to: bot.id, button_text: 'x', data: '' }],
    ['web_app_data', { to: bot.id, button_text: 'x', data: 'x' }],
    ['web_apps', { bot: bot.id, url: 'javascript:alert(1)' }],
    ['web_apps', { bot: bot.id, url: 'https://' }],
  ]
  for (const [name, body] of wrong) {
    const answer = await ask(of(name), body)
    t.match(answer, { status: 400, body: { ok: false } }, `${name} ${JSON.stringify(body)}`)
  }
})
