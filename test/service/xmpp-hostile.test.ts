/** What strangers on XMPP may write without keeping a bot from the others. */
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { prosodyMissing } from '../support/prosody.ts'
import { xmppScene } from './xmpp-scene.ts'

const skip = prosodyMissing ?? false

t.test('a message whose name is too long to be kept holds up no others', { skip }, async (t) => {
  const { prosody, slixmpp, client } = await xmppScene(t)
  const jid = await prosody.register('target', 'secret')
  const stranger = await prosody.register('stranger', 'secret')
  const phone = await slixmpp.client(`${stranger}/phone`, 'secret', prosody.port)
  const fields = { jid, password: 'secret', server: prosody.server }
  const { credential } = await client.result('POST', '/platforms/xmpp/link/start', fields)
  await client.state(credential.credential_id, 'active')
  const { key } = await client.key(credential.credential_id)
  let offset = 0
  const next = async () => {
    const { body } = await client.bot(key, 'getUpdates', { offset, limit: 1, timeout: 25 })
    offset = body.result[0].update_id + 1
    return body.result[0]
  }
  phone.send(jid, 'before')
  t.match(await next(), { message: { text: 'before' } })

  const name = randomBytes(5_000).toString('base64')
  phone.sendNamed(jid, name, 'of a long name')
  phone.correct(jid, name, 'of a long name, corrected')
  phone.send(jid, 'after')
  const { message } = await next()
  t.equal(message.text, 'of a long name')
  t.match(await next(), {
    edited_message: { message_id: message.message_id, text: 'of a long name, corrected' },
  })
  t.match(await next(), { message: { text: 'after' } })
})
