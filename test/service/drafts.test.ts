/** Drafts: a person sees a bot's text while it is being written, until the message is there. */
import { Api } from 'grammy'
import t from 'tap'
import { until } from '../support/client.ts'
import { refused, scene } from './scene.ts'

const { service, client, ada, bot, key } = await scene(t)
const api = new Api(key, { apiRoot: service.url })
const call = (parameters: object) => client.bot(key, 'sendMessageDraft', parameters)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const inbox = (query = '') => client.result('GET', `/sandbox/people/${ada.id}/inbox${query}`)
const drafts = async () => (await inbox()).drafts

t.test('a text grows before the eyes of whoever it is for', async (t) => {
  t.same(await drafts(), [])
  t.equal(await api.sendMessageDraft(ada.id, 7, ''), true)
  const from = { chat: { id: bot.id, type: 'private' }, person: { id: bot.id, first_name: 'Bot' } }
  t.match(await drafts(), [{ ...from, draft_id: 7, text: '' }])
  await api.sendMessageDraft(ada.id, 7, 'Once upon')
  await api.sendMessageDraft(ada.id, 7, '<b>Once</b> upon a time', { parse_mode: 'HTML' })
  t.match(await drafts(), [
    {
      ...from,
      draft_id: 7,
      text: 'Once upon a time',
      entities: [{ type: 'bold', offset: 0, length: 4 }],
    },
  ])
  await api.sendMessageDraft(ada.id, -8, 'another one')
  t.match(
    (await drafts()).map(({ draft_id }: { draft_id: number }) => draft_id),
    [-8, 7],
  )
  t.match(await inbox(), { messages: { length: 0 } }, 'nothing is sent')
  await api.sendMessage(ada.id, 'Once upon a time.')
  t.match(await inbox(), { drafts: { length: 0 }, messages: [{ text: 'Once upon a time.' }] })
  await api.sendMessageDraft(ada.id, 7, 'And then')
  t.match(await drafts(), [{ draft_id: 7, text: 'And then' }], 'the next message begins')
})

t.test('whoever waits for news is told of a draft at once', async (t) => {
  const { tag } = await inbox()
  const waiting = inbox(`?wait_seconds=50&known=${tag}`)
  await api.sendMessageDraft(ada.id, 21, 'look')
  t.match((await waiting).drafts.at(-1), { draft_id: 21, text: 'look' })
})

t.test('what the other one writes ends no draft, and nobody sees their own', async (t) => {
  await api.sendMessageDraft(ada.id, 30, 'still writing')
  await client.write(ada.id, bot.id, 'hurry up')
  const shown = (await drafts()).find(({ draft_id }: { draft_id: number }) => draft_id === 30)
  t.match(shown, { text: 'still writing' })
  const own = await client.result('GET', `/sandbox/people/${bot.id}/inbox`)
  t.same(own.drafts, [])
})

t.test('a person stops a draft, and the bot is told', async (t) => {
  const stop = (draft_id: number, chat = bot.id) =>
    client.ask('POST', `/sandbox/people/${ada.id}/stopped_drafts`, { chat, draft_id })
  const none = { status: 400 }
  const shown = async (draft_id: number) =>
    (await drafts()).find((one: { draft_id: number }) => one.draft_id === draft_id)
  let offset = 0
  const told = () =>
    until(async () => {
      const allowed_updates = ['stopped_message_generation']
      const asked = { offset, timeout: 5, limit: 1, allowed_updates }
      const [update] = (await client.bot(key, 'getUpdates', asked)).body.result
      if (update) offset = update.update_id + 1
      return update?.stopped_message_generation && update
    })
  const stopped = (draft_id: number) => ({
    stopped_message_generation: {
      chat: { id: ada.id, type: 'private', first_name: 'Ada' },
      draft_id,
    },
  })

  await api.sendMessageDraft(ada.id, 40, 'no way out')
  t.match(await shown(40), { can_stop: false })
  t.match(await stop(40), none, 'the bot has not offered it')

  const offered = { chat_id: ada.id, draft_id: 41, can_stop: true }
  await call({ ...offered, text: 'gone soon' })
  t.match(await shown(41), { can_stop: true })
  t.match(await stop(41, 424_242), { status: 404 })
  t.match(await stop(41), { status: 200, body: { result: true } })
  t.equal(await shown(41), undefined)
  t.match(await told(), stopped(41))
  t.match(await stop(41), none, 'once is enough')
  await call({ ...offered, text: 'gone soon, and more' })
  t.equal(await shown(41), undefined, 'words that were under way do not bring it back')

  await call({ ...offered, draft_id: 42, keep_on_stop: true, text: 'so far' })
  await stop(42)
  t.match(await told(), stopped(42))
  await call({ ...offered, draft_id: 42, keep_on_stop: true, text: 'so far, so good' })
  t.match(await shown(42), { text: 'so far', can_stop: false }, 'what was written stays in sight')
  await client.write(ada.id, bot.id, 'go on')
  await call({ ...offered, draft_id: 42, text: 'again' })
  t.match(await shown(42), { text: 'again', can_stop: true }, 'a new question has a new answer')

  const anonymous = await fetch(`${service.url}/sandbox/people/${ada.id}/stopped_drafts`, {
    method: 'POST',
  })
  t.equal(anonymous.status, 401)
  await api.sendMessage(ada.id, 'Done.')
})

t.test('drafts that cannot be are refused', async (t) => {
  const draft = { chat_id: ada.id, draft_id: 1, text: 'x' }
  t.match(await call({ ...draft, chat_id: undefined }), bad('chat_id is empty'))
  for (const draft_id of [0, undefined, 'x']) {
    t.match(await call({ ...draft, draft_id }), bad('RANDOM_ID_INVALID'), `${draft_id}`)
  }
  t.match(await call({ ...draft, text: 'x'.repeat(4097) }), bad('message is too long'))
  t.match(
    await call({ ...draft, text: '<b>', parse_mode: 'HTML' }),
    bad('can\'t parse entities: Can\'t find end tag corresponding to start tag "b"'),
  )
  t.match(await call({ ...draft, message_thread_id: 5 }), bad('message thread not found'))
  t.match(await call({ ...draft, chat_id: 424_242 }), bad('chat not found'))
  const group = { kind: 'supergroup', title: 'Group', owner: bot.id, members: [ada.id] }
  const { id } = await client.result('POST', '/sandbox/chats', group)
  const lost = bad('method is available only for private chats')
  t.match(await call({ ...draft, chat_id: id }), lost)
  t.match(await call({ ...draft, chat_id: id - 1 }), bad('chat not found'))
  await client.result('PUT', `/sandbox/people/${ada.id}/blocks/${bot.id}`)
  t.match(await call(draft), refused(403, 'Forbidden: bot was blocked by the user'))
  t.match((await call(draft)).status, 403)
})
