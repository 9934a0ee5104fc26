/** Somebody blocks the account, and lets it in again: its membership of their private chat changes. */
import t from 'tap'
import { poller } from './poller.ts'
import { refused, scene } from './scene.ts'

const { client, bot, ada, credentialId } = await scene(t)
const { key, next } = await poller(client, credentialId)
const block = (method: 'PUT' | 'DELETE', person = ada.id) =>
  client.result(method, `/sandbox/people/${person}/blocks/${bot.id}`)
const change = (person: { id: number; first_name: string }, before: string, after: string) => ({
  my_chat_member: {
    chat: { id: person.id, type: 'private', first_name: person.first_name },
    from: { id: person.id, is_bot: false },
    date: Number,
    old_chat_member: { status: before, user: { id: bot.id } },
    new_chat_member: { status: after, user: { id: bot.id } },
  },
})

t.test('a block is told, and so is its end', async (t) => {
  await client.write(ada.id, bot.id, 'hi')
  t.match(await next(), { message: { text: 'hi' } })
  await block('PUT')
  const told = await next()
  t.match(told, change(ada, 'member', 'kicked'))
  t.equal(told.my_chat_member.new_chat_member.until_date, 0)
  const write = () => client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'are you there?' })
  t.match(await write(), refused(403, 'Forbidden: bot was blocked by the user'))
  await block('DELETE')
  t.match(await next(), change(ada, 'kicked', 'member'))
  t.match(await write(), { status: 200 })
})

t.test('what was so before is no news, and a stranger may block, too', async (t) => {
  await block('DELETE')
  await block('PUT')
  await block('PUT')
  t.match(await next(), change(ada, 'member', 'kicked'))
  const kim = await client.person('Kim')
  await block('PUT', kim.id)
  t.match(await next(), change(kim, 'member', 'kicked'))
})
