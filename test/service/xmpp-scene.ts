/** The service beside a real XMPP server, and people with a client of their own. */
import type { Test } from 'tap'
import { Prosody } from '../support/prosody.ts'
import { startService } from '../support/service.ts'
import { Slixmpp } from '../support/slixmpp.ts'

export async function xmppScene(t: Test, options: Parameters<typeof startService>[1] = {}) {
  const prosody = await Prosody.start()
  t.teardown(() => prosody.stop())
  const slixmpp = new Slixmpp()
  t.teardown(() => slixmpp.stop())
  const service = await startService(t, options)
  return { prosody, slixmpp, service, client: await service.client() }
}

/** The scene with a linked account, its key, and a friend with a client of their own. */
export async function linkedXmpp(
  t: Test,
  user: string,
  options: Parameters<typeof startService>[1] = {},
) {
  const scene = await xmppScene(t, options)
  const { prosody, slixmpp, client } = scene
  const jid = await prosody.register(user, 'secret')
  const friendJid = await prosody.register('friend', 'friend-secret')
  const friend = await slixmpp.client(`${friendJid}/phone`, 'friend-secret', prosody.port)
  const { server } = prosody
  const link = { jid, password: 'secret', server }
  const linked = await client.result('POST', '/platforms/xmpp/link/start', link)
  const { credential_id } = linked.credential
  await client.state(credential_id, 'active')
  const { key } = await client.key(credential_id)
  return { ...scene, jid, friend, friendJid, key }
}
