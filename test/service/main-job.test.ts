/** The main job from end to end: sign in, link, make a key, send, receive. */
import t from 'tap'
import { startService } from '../support/service.ts'

t.test('a linked account sends and receives through its key', async (t) => {
  const service = await startService(t)
  const client = await service.client()
  const [bot, ada] = [await client.person('Bot', 'gatebot'), await client.person('Ada', 'ada_l')]
  const { key } = await client.key(await client.link(bot))

  const sent = await client.bot(key, 'sendMessage', { chat_id: '@ada_l', text: 'hello' })
  t.match(sent, {
    status: 200,
    body: { ok: true, result: { text: 'hello', chat: { id: ada.id } } },
  })

  const waiting = client.bot(key, 'getUpdates', { timeout: 20 })
  await client.write(ada.id, '@gatebot', 'hello yourself')
  const { body, status } = await waiting
  t.equal(status, 200, JSON.stringify(body))
  t.match(body.result, [{ message: { text: 'hello yourself', from: { id: ada.id } } }])

  await service.restart()
  await client.write(ada.id, '@gatebot', 'still there?')
  const again = await client.bot(key, 'getUpdates', {
    timeout: 20,
    offset: body.result[0].update_id + 1,
  })
  t.match(again.body.result, [
    { update_id: body.result[0].update_id + 1, message: { text: 'still there?' } },
  ])
})
