/** Bots that answer those who ask to join, and the personal channels of people. */
import t from 'tap'
import { poller } from './poller.ts'
import { refused, scene } from './scene.ts'

const { client, bot, ada, credentialId } = await scene(t)
const { key, next } = await poller(client, credentialId)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const tooOld = bad('query is too old and response timeout expired or query ID is invalid')
const call = (method: string, parameters: object) => client.bot(key, method, parameters)
const done = async (method: string, parameters: object) => {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
const make = async (more: object): Promise<number> =>
  (await client.result('POST', '/sandbox/chats', { title: 'Tea', owner: ada.id, ...more })).id
const chat = await make({ kind: 'supergroup', username: 'tea_room', join_by_request: true })
await client.result('PUT', `/sandbox/chats/${chat}/members/${bot.id}`, { role: 'admin' })
const joinBot = `/sandbox/people/${ada.id}/chats/${chat}/join_bot`
const kim = await client.person('Kim')
const follow = () =>
  client.result('POST', `/sandbox/people/${kim.id}/follow`, { invite_link: '@tea_room' })
const requests = () => client.result('GET', `/sandbox/people/${kim.id}/join_requests`)
const status = async () => (await done('getChatMember', { chat_id: chat, user_id: kim.id })).status
async function asked() {
  t.same(await follow(), { membership: 'asked' })
  for (;;) {
    const { chat_join_request } = await next()
    if (chat_join_request) return chat_join_request
  }
}

t.test('a bot without the task has no query to answer', async (t) => {
  const request = await asked()
  t.match(request, { from: { id: kim.id }, query_id: undefined })
  const answer = { chat_join_request_query_id: 'x', result: 'approve' }
  t.match(await call('answerChatJoinRequestQuery', answer), tooOld)
  await done('declineChatJoinRequest', { chat_id: chat, user_id: kim.id })
})

t.test('only an administrator may give the task, and to an administrator', async (t) => {
  const by = (person: { id: number }) => `/sandbox/people/${person.id}/chats/${chat}/join_bot`
  t.match(await client.ask('PUT', by(kim), { bot: bot.id }), { status: 403 })
  t.match(await client.ask('PUT', joinBot, { bot: kim.id }), { status: 403 })
  t.match(await client.ask('PUT', joinBot, { bot: 'x' }), { status: 400 })
  t.equal(await client.result('PUT', joinBot, { bot: bot.id }), true)
})

t.test('the bot declines, leaves it to others, or lets in after its web app', async (t) => {
  const { query_id: declined } = await asked()
  const answer = (chat_join_request_query_id: string, result: string) =>
    call('answerChatJoinRequestQuery', { chat_join_request_query_id, result })
  t.match(await answer(declined, 'perhaps'), bad('invalid result specified'))
  t.match(await answer(declined, 'decline'), { body: { ok: true, result: true } })
  t.equal(await status(), 'left')
  t.match(await answer(declined, 'approve'), tooOld)

  const { query_id: queued } = await asked()
  t.match(await answer(queued, 'queue'), { body: { ok: true, result: true } })
  t.match(await answer(queued, 'approve'), tooOld)
  t.equal((await requests()).length, 1)
  await done('declineChatJoinRequest', { chat_id: chat, user_id: kim.id })

  const { query_id } = await asked()
  const show = (web_app_url: string) =>
    call('sendChatJoinRequestWebApp', { chat_join_request_query_id: query_id, web_app_url })
  t.match(await show('http://app.invalid'), bad('WEBAPP_URL_INVALID'))
  t.match(await show('https://app.invalid/join'), { body: { ok: true, result: true } })
  t.match(await requests(), [
    { chat: { id: chat, title: 'Tea' }, web_app_url: 'https://app.invalid/join' },
  ])
  t.match(await answer(query_id, 'approve'), { body: { ok: true, result: true } })
  t.equal(await status(), 'member')
  t.same(await requests(), [])
})

t.test('a person who runs the chat answers those who ask', async (t) => {
  const club = await make({ kind: 'supergroup', username: 'club', join_by_request: true })
  const asking = `/sandbox/people/${ada.id}/chats/${club}/join_requests`
  const ask = (person: { id: number }) =>
    client.result('POST', `/sandbox/people/${person.id}/follow`, { invite_link: '@club' })
  const answer = (person: { id: number }, body: object) =>
    client.ask('POST', `${asking}/${person.id}`, body)
  const lea = await client.person('Lea')
  await ask(kim)
  await ask(lea)
  t.match(await client.result('GET', asking), [
    { person: { id: kim.id } },
    { person: { id: lea.id } },
  ])
  t.match(await answer(kim, {}), { status: 400 })
  t.match(await answer(kim, { approve: true }), { status: 200 })
  t.match(await answer(lea, { approve: false }), { status: 200 })
  t.same(await client.result('GET', asking), [])
  t.match(await answer(lea, { approve: true }), bad('HIDE_REQUESTER_MISSING'))
  const { members } = await client.result('GET', `/sandbox/chats/${club}`)
  t.match(members, [{ person: { id: ada.id } }, { person: { id: kim.id }, role: 'member' }])
  const byMember = `/sandbox/people/${kim.id}/chats/${club}/join_requests`
  const refusal = bad('not enough rights to manage chat join requests')
  t.match(await client.ask('GET', byMember), refusal)
  await ask(lea)
  t.match(await client.ask('POST', `${byMember}/${lea.id}`, { approve: true }), refusal)
})

t.test(
  'the newest messages of a personal channel are read by whoever sees the profile',
  async (t) => {
    const channel = await make({ kind: 'channel', username: 'ada_writes' })
    const hidden = await make({ kind: 'channel' })
    const profile = `/sandbox/people/${ada.id}/personal_chat`
    const asking = { user_id: ada.id, limit: 2 }
    t.same(await done('getUserPersonalChatMessages', asking), [])
    t.match(await client.ask('PUT', profile, { chat: hidden }), { status: 400 })
    t.equal(await client.result('PUT', profile, { chat: channel }), true)
    for (const text of ['one', 'two', 'three']) await client.write(ada.id, channel, text)
    t.match(await done('getUserPersonalChatMessages', asking), [
      { text: 'three', chat: { id: channel, type: 'channel' } },
      { text: 'two' },
    ])
    t.match(await done('getChat', { chat_id: ada.id }), { personal_chat: { id: channel } })
    const limit = bad('limit must be between 1 and 20')
    t.match(await call('getUserPersonalChatMessages', { ...asking, limit: 21 }), limit)
    const nobody = { user_id: 999_999_999, limit: 1 }
    t.match(await call('getUserPersonalChatMessages', nobody), bad('user not found'))
    t.equal(await client.result('PUT', profile, { chat: null }), true)
    t.same(await done('getUserPersonalChatMessages', asking), [])
  },
)
