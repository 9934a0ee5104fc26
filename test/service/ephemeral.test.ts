/** A message for one member of a group is not shown to all of it. */
import t from 'tap'
import { refused, scene } from './scene.ts'

const { client, bot, ada, key } = await scene(t)
const call = (method: string, body: object) => client.bot(key, method, body)

t.test('it is refused, in all the ways that libraries ask for it', async (t) => {
  const inbox = async () =>
    (await client.result('GET', `/sandbox/people/${ada.id}/inbox?chat=${bot.id}`)).messages.length
  t.equal((await call('sendMessage', { chat_id: ada.id, text: 'for all' })).status, 200)
  const before = await inbox()
  t.equal(before, 1)
  const why = 'the network has no messages that one member of a chat alone can see'
  for (const [parameter, value] of [
    ['ephemeral_message_parameters', { receiver_user_id: ada.id }],
    ['ephemeral_message_parameters', JSON.stringify({ receiver_user_id: ada.id })],
    ['receiver_user_id', ada.id],
    ['callback_query_id', '12345'],
  ] as const) {
    const answer = await call('sendMessage', {
      chat_id: ada.id,
      text: 'secret',
      [parameter]: value,
    })
    const description = `Bad Request: parameter "${parameter}" is not supported on Sandbox: ${why}`
    t.match(answer, refused(400, description), parameter)
  }
  t.equal(await inbox(), before, 'nobody has seen it')
  const form = new URLSearchParams({ chat_id: `${ada.id}`, text: 'x', receiver_user_id: '7' })
  const posted = await fetch(`${client.url}/bot${key}/sendMessage`, { method: 'POST', body: form })
  t.equal(posted.status, 400)
})

t.test('who asks for nothing in particular is served', async (t) => {
  const nothing = {
    allow_paid_broadcast: false,
    message_effect_id: '',
    suggested_post_parameters: null,
  }
  const { status } = await call('sendMessage', { chat_id: ada.id, text: 'hello', ...nothing })
  t.equal(status, 200)
})
