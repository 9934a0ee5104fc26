/** A bot on an XMPP account and people whose client is made with mellium.im/xmpp: words, corrections, replies, rooms. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { until } from '../support/client.ts'
import { Mellium } from '../support/mellium.ts'
import { startService } from '../support/service.ts'
import { xmppServers } from '../support/xmpp-servers.ts'

const takesMs = 400_000

t.setTimeout(takesMs)
const mellium = await Mellium.build()
const missing = typeof mellium === 'string' ? mellium : false
if (typeof mellium !== 'string') t.teardown(() => mellium.stop())

for (const { name, skip, start } of xmppServers) {
  t.test(`over ${name}`, { skip: missing || skip, timeout: takesMs }, async (t) => {
    if (typeof mellium === 'string') throw new Error(mellium)
    const server = await start()
    t.teardown(() => server.stop())
    const service = await startService(t)
    const client = await service.client()
    const jid = await server.register('bot', 'secret')
    const writer = await server.register('gopher', 'secret')
    const gopher = await mellium.client(`${writer}/go`, 'secret', server.port)
    const fields = { jid, password: 'secret', server: server.server }
    const linked = await client.result('POST', '/platforms/xmpp/link/start', fields)
    const { credential_id } = linked.credential
    await client.state(credential_id, 'active')
    const { key } = await client.key(credential_id)
    const call = async (method: string, parameters: object) => {
      const { body } = await client.bot(key, method, parameters)
      t.ok(body.ok, `${method}: ${body.description}`)
      return body.result
    }
    const updates: Record<string, { text: string; message_id: number }>[] = []
    let offset = 0
    const update = (kind: 'message' | 'edited_message', text: string) =>
      until(async () => {
        for (const each of await call('getUpdates', { offset, timeout: 1 })) {
          updates.push(each)
          offset = each.update_id + 1
        }
        return updates.map((each) => each[kind]).find((message) => message?.text === text)
      })

    const id = randomUUID()
    const chat = { to: jid, type: 'chat' } as const
    gopher.say({ ...chat, id, body: 'hello from Go' })
    const hello = await update('message', 'hello from Go')
    t.match(hello, { chat: { type: 'private', username: writer }, from: { is_bot: false } })
    const correction = { id: randomUUID(), replaces: { id } }
    gopher.say({ ...chat, ...correction, body: 'hello from gophers' })
    const corrected = await update('edited_message', 'hello from gophers')
    t.equal(corrected.message_id, hello.message_id)

    const answer = await call('sendMessage', {
      chat_id: `@${writer}`,
      text: 'hello, gopher',
      reply_parameters: { message_id: hello.message_id },
    })
    const heard = await gopher.hears(({ body }) => body?.endsWith('hello, gopher') ?? false)
    t.match(heard, { type: 'chat', replyTo: { id } })
    t.ok(heard.from?.startsWith(jid))
    const edit = { chat_id: `@${writer}`, message_id: answer.message_id, text: 'hello again' }
    await call('editMessageText', edit)
    const edited = await gopher.hears(({ body }) => body?.endsWith('hello again') ?? false)
    t.equal(edited.replaces?.id, heard.id)
    const replyTo = { id: heard.id ?? '', to: jid }
    gopher.say({ ...chat, id: randomUUID(), body: 'and to you', replyTo })
    t.match(await update('message', 'and to you'), {
      reply_to_message: { message_id: answer.message_id },
    })

    const room = 'burrow@rooms.xmpp.test'
    await gopher.join(room, 'gopher')
    const greeting = await call('sendMessage', { chat_id: `@${room}`, text: 'hello, all' })
    t.match(greeting.chat, { type: 'supergroup', username: room })
    await gopher.hears(({ body, type }) => body === 'hello, all' && type === 'groupchat')
    const inRoom = { to: room, type: 'groupchat', id: randomUUID(), body: 'welcome, bot' } as const
    gopher.say(inRoom)
    t.match(await update('message', 'welcome, bot'), {
      chat: { id: greeting.chat.id, type: 'supergroup' },
      from: { first_name: 'gopher', username: writer },
    })
    const texts = updates.map(({ message, edited_message }) => (message ?? edited_message)?.text)
    t.strictSame(texts, ['hello from Go', 'hello from gophers', 'and to you', 'welcome, bot'])
  })
}
