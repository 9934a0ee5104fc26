/** Which updates a key gets: its filter, the settings of the account, and the sends of other keys. */
import t from 'tap'
import { UPDATE_KINDS } from '../../machines/model/update-kinds.ts'
import { linkedAccount, scene } from './scene.ts'

const { service, client, bot, ada, credentialId } = await scene(t, {})

type Update = Readonly<
  Record<string, { readonly text?: string; readonly message_ids?: number[] }>
> & {
  readonly update_id: number
}

async function poller(of = credentialId) {
  const { key } = await client.key(of)
  let offset = 1
  let asked = 100
  return {
    key: key as string,
    /** Confirms nothing: offsets far below every id are forgiven, and new ones are not braked. */
    ask: (parameters: object = {}) =>
      client.bot(key, 'getUpdates', { offset: ++asked, ...parameters }),
    /** The next update, confirmed. */
    async next(parameters: object = {}): Promise<Update> {
      const { body } = await client.bot(key, 'getUpdates', {
        timeout: 10,
        limit: 1,
        offset,
        ...parameters,
      })
      const [update] = body.result
      if (!update) throw new Error(`no update: ${JSON.stringify(body)}`)
      offset = update.update_id + 1
      return update
    },
  }
}

const write = (text: string) => client.write(ada.id, '@gatebot', text)
const edit = (message: { message_id: number }, text: string) =>
  client.result(
    'PATCH',
    `/sandbox/people/${ada.id}/chats/${bot.id}/messages/${message.message_id}`,
    { text },
  )
const set = (settings: object) =>
  client.result('PATCH', `/platforms/credentials/${credentialId}/settings`, settings)

t.test('two keys read the same log, each at its own pace', async (t) => {
  const [fast, slow] = [await poller(), await poller()]
  await write('one')
  const one = await fast.next()
  await write('two')
  const two = await fast.next()
  t.match([one, two], [{ message: { text: 'one' } }, { message: { text: 'two' } }])
  t.same([await slow.next(), await slow.next()], [one, two], 'the same ids and the same bytes')
  const late = await poller()
  await write('three')
  t.match(await late.next(), { message: { text: 'three' } }, 'a new key begins where it was made')
})

t.test('allowed_updates is kept, and counts from the moment it is set', async (t) => {
  const { ask, next, key } = await poller()
  t.match(await ask({ allowed_updates: ['EDITED_message', 'no_such_kind'] }), { status: 200 })
  const info = await client.bot(key, 'getWebhookInfo')
  t.same(info.body.result.allowed_updates, ['edited_message'])
  const first = await write('unwanted')
  await edit(first, 'edited')
  t.match(await next(), { edited_message: { text: 'edited', message_id: first.message_id } })

  for (const ignored of ['nonsense', { a: 1 }, ['message', 1], '']) {
    await ask({ allowed_updates: ignored })
    t.same((await client.bot(key, 'getWebhookInfo')).body.result.allowed_updates, [
      'edited_message',
    ])
  }

  await ask({ allowed_updates: [] })
  t.notOk(
    (await client.bot(key, 'getWebhookInfo')).body.result.allowed_updates,
    'the default again',
  )
  await write('wanted again')
  t.match(await next(), { message: { text: 'wanted again' } }, 'widening brings nothing back')

  await write('before narrowing')
  await (await poller()).ask({ timeout: 1 })
  await ask({ allowed_updates: '["callback_query"]' })
  t.match(await next(), { message: { text: 'before narrowing' } }, 'narrowing hides nothing older')
  await service.restart()
  await client.state(credentialId, 'active')
  t.same((await client.bot(key, 'getWebhookInfo')).body.result.allowed_updates, ['callback_query'])
})

t.test('every kind of the reference can be asked for', async (t) => {
  const { ask, key } = await poller()
  const names = [...UPDATE_KINDS].sort()
  t.match(await ask({ allowed_updates: names }), { status: 200 })
  const { body } = await client.bot(key, 'getWebhookInfo')
  t.same([...body.result.allowed_updates].sort(), names)
  t.ok(names.includes('subscription') && names.includes('shared_widget_query'))
})

t.test('own messages come with include_self_updates, but no key hears itself', async (t) => {
  const [speaker, listener] = [await poller(), await poller()]
  const send = (text: string) => client.bot(speaker.key, 'sendMessage', { chat_id: ada.id, text })
  await send('not told')
  await set({ include_self_updates: true })
  await send('told')
  t.match(await listener.next(), {
    message: { text: 'told', from: { id: bot.id }, chat: { id: ada.id } },
  })
  await client.write(bot.id, ada.id, 'from the phone')
  t.match(await listener.next(), { message: { text: 'from the phone' } })
  t.match(await speaker.next(), { message: { text: 'from the phone' } })

  const sent = await send('to be edited')
  const { message_id } = sent.body.result
  await client.bot(speaker.key, 'editMessageText', { chat_id: ada.id, message_id, text: 'edited' })
  t.match(await listener.next(), { message: { text: 'to be edited' } })
  t.match(await listener.next(), { edited_message: { text: 'edited', message_id } })
  await set({ include_self_updates: false })
  await write('only this')
  t.match(await listener.next(), { message: { text: 'only this' } })
  t.match(await speaker.next(), { message: { text: 'only this' } })
})

t.test('deletions come with include_deleted_updates', async (t) => {
  const { next } = await poller()
  const remove = (id: number) =>
    client.result('DELETE', `/sandbox/people/${ada.id}/chats/${bot.id}/messages/${id}`)
  const [first, second] = [await write('first'), await write('second')]
  await remove(first.message_id)
  await write('then')
  t.match(await next(), { message: { text: 'first' } })
  t.match(await next(), { message: { text: 'second' } })
  t.match(await next(), { message: { text: 'then' } }, 'without the setting nothing is told')
  await set({ include_deleted_updates: true })
  await remove(second.message_id)
  t.match(await next(), {
    deleted_messages: {
      chat: { id: ada.id, type: 'private' },
      message_ids: [second.message_id],
      date: Number,
    },
  })
  await set({ include_deleted_updates: false })
})

t.test('channel posts come with include_channel_updates', async (t) => {
  const { next } = await poller()
  const channel = await client.result('POST', '/sandbox/chats', {
    kind: 'channel',
    title: 'News',
    owner: ada.id,
    members: [bot.id],
  })
  const post = (text: string) => client.write(ada.id, channel.id, text)
  await post('unseen')
  await write('read up to here')
  t.match(await next(), { message: { text: 'read up to here' } })
  await set({ include_channel_updates: true })
  const seen = await post('seen')
  t.match(await next(), {
    channel_post: { text: 'seen', chat: { id: channel.id, type: 'channel', title: 'News' } },
  })
  const path = `/sandbox/people/${ada.id}/chats/${channel.id}/messages/${seen.message_id}`
  await client.result('PATCH', path, { text: 'changed' })
  t.match(await next(), { edited_channel_post: { text: 'changed', message_id: seen.message_id } })
  await set({ include_channel_updates: false })
})

t.test('pending updates are counted, and dropped on request', async (t) => {
  const { key, ask, next } = await poller()
  const witness = await poller()
  for (const text of ['a', 'b', 'c']) await write(text)
  for (const _ of 'abc') await witness.next()
  t.match((await client.bot(key, 'getWebhookInfo')).body.result, {
    url: '',
    has_custom_certificate: false,
    pending_update_count: 3,
  })
  t.match((await client.bot(key, 'deleteWebhook', { drop_pending_updates: true })).body, {
    ok: true,
    result: true,
    description: 'Webhook is already deleted',
  })
  t.match((await client.bot(key, 'getWebhookInfo')).body.result, { pending_update_count: 0 })
  t.match(await ask(), { body: { result: { length: 0 } } })
  await write('d')
  t.match(await next(), { message: { text: 'd' } })
})

t.test('accounts do not see each other', async (t) => {
  const other = await linkedAccount(service, 'another')
  const mine = await poller()
  await other.client.write(other.ada.id, '@another', 'for the other')
  await write('for me')
  t.match(await mine.next(), { message: { text: 'for me' } })
  const { body } = await other.client.bot(other.key, 'getUpdates', { timeout: 10 })
  t.match(body.result, [{ message: { text: 'for the other' } }])
})
