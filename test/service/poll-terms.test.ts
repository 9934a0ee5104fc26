/** Terms of polls: who may vote and how often, who sees the votes, who adds options, and the description. */
import t from 'tap'
import { refused, scene } from './scene.ts'

const { service, client, bot, ada, key } = await scene(t)
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
/** The next updates, one after the other. */
async function told(count: number): Promise<Record<string, never>[]> {
  const found: Record<string, never>[] = []
  while (found.length < count) {
    const updates = await done('getUpdates', { offset, timeout: 20, limit: 1 })
    if (updates.length === 0) throw new Error(`only ${found.length} of ${count} came`)
    offset = updates.at(-1).update_id + 1
    found.push(...updates)
  }
  return found
}

const addOption = (person: number, chat: number, message: number, text: string) =>
  client.ask('POST', `/sandbox/people/${person}/chats/${chat}/messages/${message}/options`, {
    text,
  })
const inboxPoll = async (person: number, chat: number) => {
  const path = `/sandbox/people/${person}/inbox?chat=${chat}&limit=1`
  return (await client.result('GET', path)).messages[0].poll
}

t.test('a vote is changed where the poll allows it, and only there', async (t) => {
  const fixed = await ask({ allows_revoting: false })
  t.equal(fixed.poll.allows_revoting, false)
  t.equal((await vote(fixed.message_id, 0)).status, 200)
  t.match(await vote(fixed.message_id, 1), bad('REVOTE_NOT_ALLOWED'))
  t.match(await vote(fixed.message_id), bad('REVOTE_NOT_ALLOWED'))
  const quiz = await ask({ type: 'quiz', correct_option_ids: [1], allows_revoting: true })
  t.equal(quiz.poll.allows_revoting, true)
  t.equal((await vote(quiz.message_id, 0)).status, 200)
  t.equal((await vote(quiz.message_id, 1)).status, 200)
  t.match(await told(3), [
    { poll: { id: fixed.poll.id, allows_revoting: false } },
    { poll: { id: quiz.poll.id, options: [{ voter_count: 1 }, { voter_count: 0 }] } },
    { poll: { id: quiz.poll.id, options: [{ voter_count: 0 }, { voter_count: 1 }] } },
  ])
})

t.test('a poll has a description, which its updates leave out', async (t) => {
  const { poll, message_id } = await ask({
    description: '<b>Hot</b> drinks',
    description_parse_mode: 'HTML',
  })
  const description_entities = [{ type: 'bold', offset: 0, length: 3 }]
  t.match(poll, { description: 'Hot drinks', description_entities })
  t.match(await inboxPoll(ada.id, bot.id), { description: 'Hot drinks' })
  await vote(message_id, 1)
  const [state] = await told(1)
  t.match(state, { poll: { id: poll.id, total_voter_count: 1 } })
  t.notOk('description' in state!.poll!)
  const long = bad('message caption is too long')
  t.match(
    await call('sendPoll', { question: 'Tea?', options, description: 'x'.repeat(1025) }),
    long,
  )
})

t.test('votes are hidden from all but the owner until the poll closes', async (t) => {
  const { poll, message_id } = await ask({ hide_results_until_closes: true })
  const { body } = await vote(message_id, 1)
  t.match(body, { result: { total_voter_count: 0, hide_results_until_closes: true } })
  t.match(await told(1), [{ poll: { id: poll.id, total_voter_count: 1 } }])
  const hidden = { total_voter_count: 0, options: [{}, { voter_count: 0 }] }
  t.match(await inboxPoll(ada.id, bot.id), hidden)
  const path = `/sandbox/people/${ada.id}/messages`
  await client.result('POST', path, { to: bot.id, text: 'x', reply_to_message_id: message_id })
  t.match(await told(1), [{ message: { text: 'x', reply_to_message: { message_id } } }])
  t.match(await inboxPollOf(message_id), hidden)
  t.match(await done('stopPoll', { message_id }), { total_voter_count: 1 })
  t.match(await inboxPollOf(message_id), {
    total_voter_count: 1,
    options: [{}, { voter_count: 1 }],
  })

  async function inboxPollOf(message: number) {
    const { messages } = await client.result(
      'GET',
      `/sandbox/people/${ada.id}/inbox?chat=${bot.id}&limit=5`,
    )
    return messages.find((one: { message_id: number }) => one.message_id === message).poll
  }
})

t.test('a person adds an option, which the chat and the bot are told of', async (t) => {
  const { poll, message_id } = await ask({ is_anonymous: false, allow_adding_options: true })
  t.match(await addOption(ada.id, bot.id, message_id, 'White'), { status: 200 })
  const updates = await told(2)
  t.match(
    updates.find(({ message }) => message),
    {
      message: {
        from: { id: ada.id },
        poll_option_added: {
          poll_message: { message_id, chat: { id: ada.id } },
          option_persistent_id: /^3$/,
          option_text: 'White',
        },
      },
    },
  )
  const added = { persistent_id: '3', text: 'White', voter_count: 0, added_by_user: { id: ada.id } }
  t.match(
    updates.find((update) => update.poll),
    {
      poll: { id: poll.id, options: [{}, {}, {}, { ...added, addition_date: Number }] },
    },
  )
  t.equal((await vote(message_id, 3)).status, 200)
  t.match(await told(1), [{ poll_answer: { option_ids: [3], option_persistent_ids: [/^3$/] } }])
  t.match(await told(1), [{ poll: { options: [{}, {}, {}, { ...added, voter_count: 1 }] } }])
  t.match(await addOption(ada.id, bot.id, message_id, 'White'), bad('POLL_OPTION_DUPLICATE'))
  const wanted = `/sandbox/people/${ada.id}/chats/${bot.id}/messages/${message_id}/options`
  const malformed = { status: 400, body: { ok: false, error_code: 400, description: String } }
  for (const body of [
    {},
    { text: 7 },
    { text: '' },
    { text: 'x'.repeat(101) },
    { text: 'x', a: 1 },
  ]) {
    t.match(await client.ask('POST', wanted, body), malformed, JSON.stringify(body))
  }
  const stranger = await service.client()
  t.match(await stranger.ask('POST', wanted, { text: 'Red' }), refused(404, 'Not Found'))
  const unknown = await fetch(`${client.url}${wanted}`, {
    ...{ method: 'POST', body: '{"text":"Red"}' },
    headers: { 'content-type': 'application/json' },
  })
  t.equal(unknown.status, 401)
  t.match(await unknown.json(), { ok: false, error_code: 401, description: 'Unauthorized' })
  t.match(
    await addOption(ada.id, bot.id, message_id, ' '),
    bad('poll option text must be non-empty'),
  )
  const closed = await ask({ is_anonymous: false })
  const refusal = bad("options can't be added to the poll")
  t.match(await addOption(ada.id, bot.id, closed.message_id, 'White'), refusal)
  await done('stopPoll', { message_id })
  t.match(await addOption(ada.id, bot.id, message_id, 'Red'), bad("can't answer closed poll"))
  const wrong = { question: 'Tea?', options, allow_adding_options: true }
  t.match(await call('sendPoll', wrong), bad("options can't be added to anonymous polls"))
  const quiz = { ...wrong, is_anonymous: false, type: 'quiz', correct_option_ids: [0] }
  t.match(await call('sendPoll', quiz), bad("options can't be added to quizzes"))
})

t.test('a channel polls its members alone, or some countries alone', async (t) => {
  const person = (phone: string) =>
    client.result('POST', '/sandbox/people', { phone, first_name: 'Voter' })
  const [iranian, british, anonymous, guest] = [
    await person('+989121234567'),
    await person('+447400123456'),
    await person('+88812345678'),
    await person('+989121234568'),
  ]
  const channel = await client.result('POST', '/sandbox/chats', {
    kind: 'channel',
    title: 'News',
    owner: ada.id,
    members: [bot.id, iranian.id, british.id, anonymous.id],
  })
  const rights = { rights: ['post_messages'] }
  await client.result('PUT', `/sandbox/chats/${channel.id}/members/${bot.id}`, {
    role: 'admin',
    ...rights,
  })
  const post = (more: object) =>
    client.bot(key, 'sendPoll', { chat_id: channel.id, question: 'Tea?', options, ...more })
  const answer = (by: number, message: number, chat = channel.id) =>
    client.ask('PUT', `/sandbox/people/${by}/chats/${chat}/messages/${message}/vote`, {
      option_ids: [0],
    })
  const local = (await post({ country_codes: ['IR', 'FT'] })).body.result
  t.same(local.poll.country_codes, ['IR', 'FT'])
  t.equal((await answer(iranian.id, local.message_id)).status, 200)
  t.equal((await answer(anonymous.id, local.message_id)).status, 200)
  t.match(await answer(british.id, local.message_id), bad('POLL_COUNTRY_RESTRICTED'))
  const closed = (await post({ members_only: true })).body.result
  t.equal(closed.poll.members_only, true)
  t.equal((await answer(british.id, closed.message_id)).status, 200)
  const passed = await client.bot(key, 'forwardMessage', {
    chat_id: ada.id,
    from_chat_id: channel.id,
    message_id: closed.message_id,
  })
  t.equal(passed.body.ok, true)
  const copy = { from_chat_id: channel.id, message_id: closed.message_id }
  const limited = bad('voting can be limited only in channel chats')
  t.match(await call('copyMessage', copy), limited, 'nobody could vote in the copy')
  const onward = { to: guest.id, from: bot.id, message_id: passed.body.result.message_id }
  const shared = await client.result('POST', `/sandbox/people/${ada.id}/forwards`, onward)
  t.match(await answer(guest.id, shared.message_id, ada.id), bad('POLL_MEMBERS_ONLY'))
  t.match(await call('sendPoll', { question: 'Tea?', options, members_only: true }), limited)
  t.match(await call('sendPoll', { question: 'Tea?', options, country_codes: ['IR'] }), limited)
  t.match(await post({ country_codes: ['iran'] }), bad('invalid country code specified'))
  t.match(await post({ country_codes: 'IR' }), bad("can't parse country_codes JSON object"))
  t.match(await post({ country_codes: {} }), bad('expected an Array of String'))
  const many = Array.from({ length: 13 }, () => 'IR')
  t.match(await post({ country_codes: many }), bad('too many country codes specified'))
})
