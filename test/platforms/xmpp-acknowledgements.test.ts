/** The server is told to forget a stanza only when it is dealt with, and all before it are. */
import { EventEmitter } from 'node:events'
import { type Client, type Element, xml } from '@xmpp/client'
import t from 'tap'
import { Acknowledgements } from '../../src/platforms/xmpp/acknowledgements.ts'
import { ns } from '../../src/platforms/xmpp/namespaces.ts'

function stage(resumed = 0) {
  const sent: Element[] = []
  const streamManagement = Object.assign(new EventEmitter(), { enabled: true, inbound: 0 })
  const client = Object.assign(new EventEmitter(), {
    streamManagement,
    send: async (element: Element) => void sent.push(element),
  })
  const acknowledgements = new Acknowledgements(client as unknown as Client, resumed)
  const comes = (name: string, xmlns?: string) => {
    client.emit('element', xml(name, xmlns && { xmlns }))
    return acknowledgements.expect()
  }
  return {
    sent,
    message: () => comes('message'),
    ask: () => comes('r', ns.streamManagement),
    enabled: () => comes('enabled', ns.streamManagement),
    handled: () => streamManagement.inbound,
    acknowledgements,
  }
}

t.test('stanzas are acknowledged in their order, each once it is stored', async (t) => {
  const { message, handled, acknowledgements } = stage()
  const [first, second, third] = [message(), message(), message()]
  t.equal(acknowledgements.received, 3)
  t.equal(handled(), 0)
  second()
  t.equal(handled(), 0)
  first()
  t.equal(handled(), 2)
  third()
  third()
  t.equal(handled(), 3)
})

t.test(
  'what another process may go on from is known once nothing waits amid the handled',
  async (t) => {
    const { message, acknowledgements } = stage(4)
    t.equal(acknowledgements.handled, 4)
    const [first, second] = [message(), message()]
    t.equal(acknowledgements.handled, 4, 'neither is handled, so both come again')
    second()
    t.equal(acknowledgements.handled, undefined)
    first()
    t.equal(acknowledgements.handled, 6)
  },
)

t.test('a server that asked too early is answered when all is stored', async (t) => {
  const { message, ask, sent } = stage()
  const [first, second] = [message(), message()]
  ask()
  first()
  t.equal(sent.length, 0)
  second()
  t.match(sent, [{ name: 'a', attrs: { h: 2 } }])
  message()()
  t.equal(sent.length, 1, 'it has not asked again')
})

t.test('a new stream counts anew, and a resumed one goes on', async (t) => {
  const { message, enabled, handled } = stage(7)
  t.equal(handled(), 7)
  const before = message()
  enabled()
  before()
  t.equal(handled(), 0)
  message()()
  t.equal(handled(), 1)
})
