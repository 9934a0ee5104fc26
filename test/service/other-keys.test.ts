/** What one key changes is told to the account's other keys, as far as the settings go. */
import t from 'tap'
import { poller } from './poller.ts'
import { scene } from './scene.ts'

const { client, bot, ada, credentialId } = await scene(t)
const [first, second] = [await poller(client, credentialId), await poller(client, credentialId)]
const { id: channel } = await client.result('POST', '/sandbox/chats', {
  kind: 'channel',
  title: 'News',
  owner: bot.id,
})
const set = (settings: object) =>
  client.result('PATCH', `/platforms/credentials/${credentialId}/settings`, {
    include_self_updates: true,
    include_deleted_updates: true,
    include_channel_updates: true,
    ...settings,
  })
const done = async (method: string, parameters: object) => {
  const { body } = await client.bot(first.key, method, { chat_id: ada.id, ...parameters })
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
/** Something that both keys are told of, whatever the settings: what was told before it is complete. */
async function toldUntil(text: string) {
  await client.write(ada.id, bot.id, text)
  const told = []
  for (const { next } of [first, second]) {
    const updates = []
    for (;;) {
      const update = await next()
      if (update.message?.text === text) break
      updates.push(update)
    }
    told.push(updates)
  }
  return { first: told[0]!, second: told[1]! }
}

t.test('what is written, changed and deleted', async (t) => {
  await set({})
  const { message_id } = await done('sendMessage', { text: 'one' })
  await done('editMessageText', { message_id, text: 'two' })
  await done('deleteMessage', { message_id })
  const told = await toldUntil('all of it')
  t.same(told.first, [], 'nothing comes back to the key that did it')
  t.match(told.second, [
    { message: { message_id, text: 'one' } },
    { edited_message: { message_id, text: 'two' } },
    { deleted_messages: { chat: { id: ada.id, type: 'private' }, message_ids: [message_id] } },
  ])
  t.equal(told.second.length, 3)
  t.ok(Math.abs(told.second[2]!.deleted_messages.date - Date.now() / 1000) < 60)
})

t.test('deletions need both settings', async (t) => {
  for (const lacking of [{ include_self_updates: false }, { include_deleted_updates: false }]) {
    await set(lacking)
    const { message_id } = await done('sendMessage', { text: 'gone soon' })
    await done('deleteMessage', { message_id })
    const { second } = await toldUntil(JSON.stringify(lacking))
    t.notOk(second.some((update) => update.deleted_messages))
  }
})

t.test('deletions in a channel need its setting, too', async (t) => {
  const post = async () =>
    (await done('sendMessage', { chat_id: channel, text: 'post' })).message_id
  const remove = (message_id: number) => done('deleteMessage', { chat_id: channel, message_id })
  await set({ include_channel_updates: false })
  await remove(await post())
  t.same((await toldUntil('without')).second, [])
  await set({})
  const message_id = await post()
  await remove(message_id)
  t.match((await toldUntil('with')).second, [
    { channel_post: { message_id } },
    { deleted_messages: { chat: { id: channel, type: 'channel' }, message_ids: [message_id] } },
  ])
})

t.test('the end of a poll, whatever the settings', async (t) => {
  await set({ include_self_updates: false })
  const { message_id } = await done('sendPoll', { question: 'Tea?', options: ['yes', 'no'] })
  const { id } = await done('stopPoll', { message_id })
  const told = await toldUntil('stopped')
  t.same(told.first, [])
  t.match(told.second, [{ poll: { id, is_closed: true } }])
  t.equal(told.second.length, 1)
})
