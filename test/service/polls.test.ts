/** Polls: sent, voted in, stopped, closed by time, and what becomes of them elsewhere. */
import t from 'tap'
import { until } from '../support/client.ts'
import { refused, scene } from './scene.ts'

const { client, bot, ada, key } = await scene(t)
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const call = (method: string, parameters: object = {}) =>
  client.bot(key, method, { chat_id: ada.id, ...parameters })
const done = async (method: string, parameters: object = {}) => {
  const { body } = await call(method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}
const vote = (message: number, ...option_ids: number[]) => {
  const path = `/sandbox/people/${ada.id}/chats/${bot.id}/messages/${message}/vote`
  return client.ask('PUT', path, { option_ids })
}
const options = ['Black', 'Green', 'None']
const ask = (more: object = {}) => done('sendPoll', { question: 'Tea?', options, ...more })

let offset = 0
/** The next updates that are not messages. */
async function news(count: number): Promise<Record<string, never>[]> {
  const found: Record<string, never>[] = []
  while (found.length < count) {
    const updates = await done('getUpdates', { offset, timeout: 20 })
    if (updates.length === 0) throw new Error(`only ${found.length} of ${count} came`)
    offset = updates.at(-1).update_id + 1
    found.push(...updates.filter((update: object) => !('message' in update)))
  }
  return found
}

t.test('votes are counted and told', async (t) => {
  const { poll, message_id } = await ask({ is_anonymous: false, allows_multiple_answers: true })
  t.match(poll, { question: 'Tea?', total_voter_count: 0, is_closed: false, is_anonymous: false })
  t.equal((await vote(message_id, 0, 1)).status, 200)
  const [answer, state] = await news(2)
  t.match(answer, { poll_answer: { poll_id: poll.id, user: { id: ada.id }, option_ids: [0, 1] } })
  t.match(state, {
    poll: {
      id: poll.id,
      total_voter_count: 1,
      options: [{ voter_count: 1 }, { voter_count: 1 }, { voter_count: 0 }],
    },
  })
  await vote(message_id, 2)
  t.match(await news(2), [{ poll_answer: { option_ids: [2] } }, { poll: { total_voter_count: 1 } }])
  await vote(message_id)
  t.match(await news(2), [
    { poll_answer: { option_ids: { length: 0 } } },
    { poll: { total_voter_count: 0 } },
  ])
})

t.test('nobody learns who votes in an anonymous poll', async (t) => {
  const { message_id } = await ask()
  await vote(message_id, 1)
  const [state] = await news(1)
  t.match(state, { poll: { is_anonymous: true, total_voter_count: 1 } })
  t.match(await vote(message_id, 0, 1), bad("can't choose more than 1 option in the poll"))
  t.match(await vote(message_id, 3), bad('invalid option ID specified'))
})

t.test('a quiz is answered once', async (t) => {
  const quiz = { type: 'quiz', correct_option_ids: [1], explanation: 'It is' }
  const { poll, message_id } = await ask(quiz)
  t.match(poll, { type: 'quiz', correct_option_id: 1, explanation: 'It is' })
  t.equal((await vote(message_id, 0)).status, 200)
  t.match(await vote(message_id, 1), bad('REVOTE_NOT_ALLOWED'))
  t.match(await vote(message_id), bad('REVOTE_NOT_ALLOWED'))
  await news(1)
})

t.test('in a group nobody learns the answers of a quiz before', async (t) => {
  const group = await client.result('POST', '/sandbox/chats', {
    kind: 'group',
    title: 'Class',
    owner: ada.id,
    members: [bot.id],
  })
  const poll = { question: '2 + 2', options: ['3', '4'], type: 'quiz', correct_option_ids: [1] }
  await client.result('POST', `/sandbox/people/${ada.id}/messages`, { to: group.id, poll })
  const next = async () => {
    const [update] = await done('getUpdates', { offset, timeout: 20, limit: 1 })
    offset = update.update_id + 1
    return update
  }
  t.match(await next(), { my_chat_member: { chat: { id: group.id } } })
  const update = await next()
  t.match(update.message.poll, { question: '2 + 2', type: 'quiz' })
  t.notOk('correct_option_ids' in update.message.poll)
})

t.test('a poll is stopped by whoever sent it', async (t) => {
  const { message_id } = await ask()
  await vote(message_id, 0)
  await news(1)
  t.match(await done('stopPoll', { message_id }), { is_closed: true, total_voter_count: 1 })
  t.match(await call('stopPoll', { message_id }), bad('poll has already been closed'))
  t.match(await vote(message_id, 1), bad("can't answer closed poll"))
  const missing = bad('message with poll to stop not found')
  t.match(await call('stopPoll', { message_id: 9999 }), missing)
  const text = await done('sendMessage', { text: 'x' })
  t.match(await call('stopPoll', { message_id: text.message_id }), bad('message is not a poll'))
  const poll = { question: 'Mine?', options: ['Yes'] }
  const path = `/sandbox/people/${ada.id}/messages`
  const theirs = await client.result('POST', path, { to: bot.id, poll })
  t.match(await call('stopPoll', { message_id: theirs.message_id }), bad("poll can't be stopped"))
})

t.test('a poll ends when its time is over', async (t) => {
  const { poll, message_id } = await ask({ open_period: 1 })
  t.match(poll, { open_period: 1, close_date: Number })
  const [state] = await news(1)
  t.match(state, { poll: { id: poll.id, is_closed: true } })
  t.match(await vote(message_id, 0), bad("can't answer closed poll"))
})

t.test('a poll that ends at a time says for how long it is open, too', async (t) => {
  const close_date = Math.floor(Date.now() / 1000) + 600
  const { poll } = await ask({ close_date })
  t.match(poll, { close_date })
  t.ok(poll.open_period > 590 && poll.open_period <= 600)
  const quiz = { type: 'quiz', correct_option_id: 0, explanation: 'So' }
  t.same((await ask(quiz)).poll.explanation_entities, [], 'an explanation always has them')
})

t.test('a poll that ended while nobody ran is closed after the start', async (t) => {
  const { scene: anew } = await import('./scene.ts')
  const { service, client, bot, ada, key } = await anew(t, {})
  const sent = await client.bot(key, 'sendPoll', {
    ...{ chat_id: ada.id, question: 'Late?', options: ['Yes'] },
    open_period: 1,
  })
  t.equal(sent.body.ok, true)
  await service.restart()
  const path = `/sandbox/people/${ada.id}/inbox?chat=${bot.id}`
  await until(async () => (await client.result('GET', path)).messages[0].poll.is_closed, 30_000)
})

t.test('a forward is the same poll, a copy another one', async (t) => {
  const { poll, message_id } = await ask()
  const passed = { from_chat_id: ada.id, message_id }
  const forward = await done('forwardMessage', passed)
  t.equal(forward.poll.id, poll.id)
  await vote(forward.message_id, 0)
  t.match(await news(1), [{ poll: { id: poll.id, total_voter_count: 1 } }])
  const copy = await done('copyMessage', passed)
  const path = `/sandbox/people/${ada.id}/inbox?chat=${bot.id}&limit=3`
  const [copied, forwarded, first] = (await client.result('GET', path)).messages
  t.equal(copied.message_id, copy.message_id)
  t.not(copied.poll.id, poll.id)
  t.equal(copied.poll.total_voter_count, 0)
  t.same(forwarded.poll, first.poll, 'both show the vote')
  t.match(await call('stopPoll', { message_id: forward.message_id }), bad("poll can't be stopped"))
})
