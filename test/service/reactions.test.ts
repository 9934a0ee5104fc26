/** Reactions: given by bots and people, told to the others, counted in channels. */
import t from 'tap'
import { refused, scene } from './scene.ts'

const { client, bot, ada, key, credentialId } = await scene(t)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const call = (method: string, parameters: object = {}) =>
  client.bot(key, method, { chat_id: ada.id, ...parameters })
const done = async (method: string, parameters: object = {}) => {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
const emoji = (value: string) => ({ type: 'emoji', emoji: value })
const reactAs = (person: number, chat: number, message: number, ...values: string[]) =>
  client.result('PUT', `/sandbox/people/${person}/chats/${chat}/messages/${message}/reactions`, {
    reactions: values.map((value) => ({ emoji: value })),
  })
const allowed_updates = ['message', 'message_reaction', 'message_reaction_count']
await done('getUpdates', { allowed_updates })
let offset = 0
async function next() {
  const [update] = await done('getUpdates', { offset, limit: 1, timeout: 5 })
  offset = update.update_id + 1
  return update
}

t.test('people react, and change their mind', async (t) => {
  const { message_id } = await done('sendMessage', { text: 'like it' })
  await reactAs(ada.id, bot.id, message_id, '👍')
  const about = { chat: { id: ada.id }, message_id, user: { id: ada.id } }
  t.match(await next(), {
    message_reaction: { ...about, old_reaction: { length: 0 }, new_reaction: [emoji('👍')] },
  })
  await reactAs(ada.id, bot.id, message_id, '🔥')
  t.match(await next(), {
    message_reaction: { old_reaction: [emoji('👍')], new_reaction: [emoji('🔥')] },
  })
  await reactAs(ada.id, bot.id, message_id, '🔥')
  await reactAs(ada.id, bot.id, message_id)
  t.match(
    await next(),
    { message_reaction: { old_reaction: [emoji('🔥')], new_reaction: { length: 0 } } },
    'the same again is no news',
  )
})

t.test('the account reacts', async (t) => {
  const { message_id } = await client.write(ada.id, bot.id, 'like this')
  await next()
  const seen = async () => {
    const path = `/sandbox/people/${ada.id}/inbox?chat=${bot.id}&limit=1`
    return (await client.result('GET', path)).messages[0].reactions
  }
  t.equal(await done('setMessageReaction', { message_id, reaction: [emoji('👍')] }), true)
  t.match(await seen(), [{ person: { id: bot.id }, emoji: '👍' }])
  const custom = [{ type: 'custom_emoji', custom_emoji_id: '5368324170671202286' }]
  t.equal(await done('setMessageReaction', { message_id, reaction: custom }), true)
  t.match(await seen(), [{ custom_emoji_id: /^5368324170671202286$/ }])
  t.equal(await done('setMessageReaction', { message_id }), true)
  t.equal(await seen(), undefined)
})

t.test('in a channel only the counts are told', async (t) => {
  const channel = await client.result('POST', '/sandbox/chats', {
    kind: 'channel',
    title: 'News',
    owner: bot.id,
    members: [ada.id],
  })
  const settings = `/platforms/credentials/${credentialId}/settings`
  await client.result('PATCH', settings, { include_channel_updates: true })
  const { message_id } = await done('sendMessage', { chat_id: channel.id, text: 'post' })
  await reactAs(ada.id, channel.id, message_id, '🎉')
  const { message_reaction_count: counted } = await next()
  t.match(counted, {
    chat: { id: channel.id },
    message_id,
    reactions: [{ type: emoji('🎉'), total_count: 1 }],
  })
  t.notOk('user' in counted)
})

t.test('what is no reaction is refused', async (t) => {
  const { message_id } = await done('sendMessage', { text: 'x' })
  const react = (reaction: object[], more: object = { message_id }) =>
    call('setMessageReaction', { reaction, ...more })
  t.match(await react([emoji('🧱')]), bad('REACTION_INVALID'))
  t.match(await react([emoji('👍'), emoji('👎')]), bad('REACTIONS_TOO_MANY'))
  t.match(await react([emoji('👍')], { message_id: 99_999 }), bad('message to react not found'))
})
