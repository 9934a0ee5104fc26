/** Webhook handlers of the libraries people use, behind the running service. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Bot, webhookCallback } from 'grammy'
import t, { type Test } from 'tap'
import { Telegraf } from 'telegraf'
import { message } from 'telegraf/filters'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { linkedAccount } from './scene.ts'

const service = await startService(t)
const SECRET = 'a-Secret_1'

async function account(name: string) {
  const account = await linkedAccount(service, name)
  const { client, ada, bot } = account
  const heard = async (): Promise<string[]> =>
    (await client.result('GET', `/sandbox/people/${ada.id}/inbox`)).messages
      .filter(({ from }: { from: { id: number } }) => from.id === bot.id)
      .map(({ text }: { text: string }) => text)
  return {
    ...account,
    write: (text: string) => client.write(ada.id, `@${name}`, text),
    hears: (text: string) => until(async () => (await heard()).includes(text), 15_000),
  }
}

async function listen(t: Test, handler: RequestListener): Promise<string> {
  const server = createServer(handler)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
}

t.test('a grammY bot behind webhookCallback answers, and refuses a wrong secret', async (t) => {
  const { key, write, hears } = await account('grammy_hook')
  const bot = new Bot(key, { client: { apiRoot: service.url } })
  bot.on('message:text', (ctx) => ctx.reply(`heard ${ctx.msg.text}`))
  const url = await listen(t, webhookCallback(bot, 'http', { secretToken: SECRET }))
  await bot.api.setWebhook(url, { secret_token: 'wrong' })
  await write('hello')
  const refused = await until(async () => {
    const { last_error_message: text } = await bot.api.getWebhookInfo()
    return text
  })
  t.match(refused, /Wrong response from the webhook: 401/)
  // Once a second, no more.
  await until(() => bot.api.setWebhook(url, { secret_token: SECRET }).catch(() => false))
  await hears('heard hello')
})

t.test('a grammY bot may answer in the reply itself', async (t) => {
  const { key, write, hears } = await account('grammy_reply')
  const calls: string[] = []
  const bot = new Bot(key, {
    client: { apiRoot: service.url, canUseWebhookReply: (method) => method === 'sendMessage' },
  })
  bot.api.config.use((call, method, payload, signal) => {
    calls.push(method)
    return call(method, payload, signal)
  })
  bot.on('message:text', (ctx) => ctx.reply(`replied ${ctx.msg.text}`))
  const url = await listen(t, webhookCallback(bot, 'http'))
  await bot.api.setWebhook(url)
  await write('hello')
  await hears('replied hello')
  t.ok(calls.includes('sendMessage'))
})

t.test('a telegraf bot behind its webhook handler answers', async (t) => {
  const { key, write, hears } = await account('telegraf_hook')
  const bot = new Telegraf(key, { telegram: { apiRoot: service.url } })
  bot.on(message('text'), (ctx) => ctx.reply(`heard ${ctx.message.text}`))
  const handle = bot.webhookCallback('/hook', { secretToken: SECRET })
  const url = await listen(t, (request, response) => void handle(request, response))
  await bot.telegram.setWebhook(url, { secret_token: SECRET, max_connections: 3 })
  await write('hello')
  await hears('heard hello')
  t.match(await bot.telegram.getWebhookInfo(), { url, max_connections: 3 })
  t.equal(await bot.telegram.deleteWebhook({ drop_pending_updates: true }), true)
})
