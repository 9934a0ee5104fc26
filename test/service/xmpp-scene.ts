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
