/** Points in time inside texts, which clients show each in their reader's own way. */
import t from 'tap'
import { scene } from './scene.ts'

const { client, bot, ada, key } = await scene(t)
const html = '<tg-time unix="1700000000" format="tDw">then</tg-time>'
const told = { type: 'date_time', offset: 0, length: 4, unix_time: 1_700_000_000 }
const messages = async () =>
  (await client.result('GET', `/sandbox/people/${ada.id}/inbox?chat=${bot.id}`)).messages

t.test('a text tells the time that is meant, to the bot and to people', async (t) => {
  const { body } = await client.bot(key, 'sendMessage', {
    chat_id: ada.id,
    text: html,
    parse_mode: 'HTML',
  })
  const entities = [{ ...told, date_time_format: 'wDt' }]
  t.strictSame(body.result.entities, entities)
  t.strictSame((await messages())[0].entities, entities)
})

t.test('no format is shown where none is given', async (t) => {
  const { body } = await client.bot(key, 'sendMessage', {
    chat_id: ada.id,
    text: 'then',
    entities: [told],
  })
  t.strictSame(body.result.entities, [told])
})

t.test('what a person writes tells it, too', async (t) => {
  const entities = [{ ...told, date_time_format: 'r' }]
  await client.result('POST', `/sandbox/people/${ada.id}/messages`, {
    to: bot.id,
    text: 'then',
    entities,
  })
  const { body } = await client.bot(key, 'getUpdates', { timeout: 20 })
  t.strictSame(body.result[0].message.entities, entities)
})
