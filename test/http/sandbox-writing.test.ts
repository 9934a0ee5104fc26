/** Writing, revising, forwarding, typing and reading as a person, over HTTP. */
import t from 'tap'
import { sandboxServer } from './sandbox-rig.ts'

t.test('two people write to each other and read it in their inboxes', async (t) => {
  const { result, person } = await sandboxServer(t)
  const [ada, bob] = [await person('Ada'), await person('Bob', { username: 'bob_b' })]
  const entities = [{ type: 'bold', offset: 0, length: 5 }]
  const hello = await result(`POST /sandbox/people/${ada.id}/messages`, {
    to: '@bob_b',
    text: 'hello 👋',
    entities,
  })
  t.match(hello, { message_id: 1, chat: { id: bob.id, type: 'private' }, from: { id: ada.id } })
  const answer = await result(`POST /sandbox/people/${bob.id}/messages`, {
    to: ada.id,
    text: 'hi',
    reply_to_message_id: hello.message_id,
  })
  t.match(answer, { message_id: 2, chat: { id: ada.id }, reply_to_message_id: 1 })
  const { messages } = await result(`GET /sandbox/people/${bob.id}/inbox?chat=${ada.id}`)
  t.match(messages, [
    { message_id: 2, text: 'hi', reply_to_message_id: 1 },
    { message_id: 1, text: 'hello 👋', entities, chat: { id: ada.id, first_name: 'Ada' } },
  ])
})

t.test('a message is edited, forwarded, copied and deleted', async (t) => {
  const { ask, result, person } = await sandboxServer(t)
  const [ada, bob, eve] = [await person('Ada'), await person('Bob'), await person('Eve')]
  const as = `/sandbox/people/${ada.id}`
  await result(`POST ${as}/messages`, { to: bob.id, text: 'one' })
  const place = `${as}/chats/${bob.id}/messages`
  t.match(await result(`PATCH ${place}/1`, { text: 'two' }), { text: 'two', edit_date: Number })
  t.match(await ask(`PATCH ${place}/1`, { text: 'two' }), {
    status: 400,
    body: {
      description:
        /^Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message$/,
    },
  })
  t.match(
    (await ask(`PATCH ${place}/9`, { text: 'x' })).body.description,
    'message to edit not found',
  )
  const others = await ask(`PATCH /sandbox/people/${bob.id}/chats/${ada.id}/messages/1`, {
    text: 'x',
  })
  t.match(others.body.description, "message can't be edited")

  const passOn = { from: bob.id, message_id: 1, to: eve.id }
  t.match(await result(`POST ${as}/forwards`, passOn), { text: 'two', forwarded_from: 'Ada' })
  const copy = await result(`POST ${as}/forwards`, { ...passOn, as_copy: true })
  t.notOk(copy.forwarded_from)
  const none = await ask(`POST ${as}/forwards`, { ...passOn, message_id: 9 })
  t.match(none.body.description, 'message to forward not found')

  t.equal(await result(`DELETE ${place}/1`), true)
  t.match((await ask(`DELETE ${place}/1`)).body.description, 'message to delete not found')
  t.same((await result(`GET ${as}/inbox?chat=${bob.id}`)).messages, [])
})

t.test('writing is refused for the reasons a client knows', async (t) => {
  const { ask, result, person } = await sandboxServer(t)
  const [ada, bob] = [await person('Ada'), await person('Bob')]
  const write = async (body: object, as = ada.id) => {
    const { body: answer } = await ask(`POST /sandbox/people/${as}/messages`, body)
    return answer.description
  }
  t.match(await write({ to: 5, text: 'x' }), 'Bad Request: chat not found')
  t.match(await write({ to: '@nobody', text: 'x' }), 'Bad Request: chat not found')
  t.match(await write({ to: bob.id, text: ' ' }), 'Bad Request: message text is empty')
  t.match(await write({ to: bob.id, text: 'x'.repeat(4097) }), 'Bad Request: message is too long')
  t.match(
    await write({ to: bob.id, text: 'x', reply_to_message_id: 7 }),
    'Bad Request: message to be replied not found',
  )
  t.match(await write({ to: bob.id }), 'a message carries one thing')
  t.match(await write({ to: bob.id, text: 'x' }, 5), 'Not Found')
  await result(`PUT /sandbox/people/${bob.id}/blocks/${ada.id}`)
  t.match(await write({ to: bob.id, text: 'x' }), 'Forbidden: bot was blocked by the user')
  await result(`DELETE /sandbox/people/${bob.id}/blocks/${ada.id}`)
  await result(`PATCH /sandbox/people/${bob.id}`, { deactivated: true })
  t.match(await write({ to: bob.id, text: 'x' }), 'Forbidden: user is deactivated')
})

t.test('an inbox can be waited for', async (t) => {
  const { result, person } = await sandboxServer(t)
  const [ada, bob] = [await person('Ada'), await person('Bob')]
  const inbox = `GET /sandbox/people/${bob.id}/inbox?chat=${ada.id}`
  const waiting = result(`${inbox}&wait_seconds=30`)
  await result(`POST /sandbox/people/${ada.id}/messages`, { to: bob.id, text: 'there' })
  t.match((await waiting).messages, [{ text: 'there' }])
  t.same((await result(`${inbox}&after=1&wait_seconds=0.1`)).messages, [])
})

t.test('typing is shown to the other side', async (t) => {
  const { ask, result, person } = await sandboxServer(t)
  const [ada, bob] = [await person('Ada'), await person('Bob')]
  t.equal(await result(`POST /sandbox/people/${ada.id}/typing`, { to: bob.id }), true)
  const { typing } = await result(`GET /sandbox/people/${bob.id}/inbox`)
  t.match(typing, [{ chat: { id: ada.id }, person: { id: ada.id }, action: 'typing' }])
  t.equal((await ask(`POST /sandbox/people/${ada.id}/typing`, { to: 5 })).status, 400)
})
