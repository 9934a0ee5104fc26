/** The name of the account is known everywhere as soon as it is set. */
import t from 'tap'
import { scene } from './scene.ts'

const { client, ada, key, credentialId } = await scene(t)
const done = async (method: string, parameters: object = {}) => {
  const { body } = await client.bot(key, method, parameters)
  if (!body.ok) throw new Error(`${method}: ${JSON.stringify(body)}`)
  return body.result
}

t.test('getMe, messages and the record of the account show it at once', async (t) => {
  t.match(await done('getMe'), { first_name: 'Bot', username: 'gatebot' })
  for (const name of ['Tea house', 'چاپار', 'Tea house']) {
    await done('setMyName', { name })
    const me = await done('getMe')
    t.match(me, { first_name: name, username: 'gatebot' })
    t.notOk('last_name' in me)
    t.equal((await done('getMyName')).name, name)
    const { from } = await done('sendMessage', { chat_id: ada.id, text: 'hi' })
    t.match(from, { id: me.id, first_name: name })
    const record = await client.result('GET', `/platforms/credentials/${credentialId}`)
    t.match(record.account, { first_name: name, username: 'gatebot' })
  }
})

t.test('a name for one language is that language alone', async (t) => {
  const { first_name } = await done('getMe')
  await done('setMyName', { name: 'Teehaus', language_code: 'de' })
  t.equal((await done('getMyName', { language_code: 'de' })).name, 'Teehaus')
  t.equal((await done('getMe')).first_name, first_name)
})
