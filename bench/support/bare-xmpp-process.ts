/** The client library of XMPP without the service: logs in, sends and receives as fast as it can, or as the service does. */
import { type Client, client as connect, type Element, xml } from '@xmpp/client'
import { ns } from '../../src/platforms/xmpp/namespaces.ts'
import { answerParent, processor } from './child.ts'
import { Received, type Sending, sendSpread } from './load.ts'

let client: Client
const received = new Received()
/** By the ids of messages that the server has not acknowledged yet. */
const unacknowledged = new Map<string, () => void>()
let isAsking = false

interface Login {
  readonly service: string
  readonly domain: string
  readonly username: string
  readonly password: string
}

answerParent({
  async start({ service, domain, username, password }: Login) {
    client = connect({
      service,
      domain,
      username,
      resource: async () => 'bare',
      credentials: (authenticate, [mechanism]) => authenticate({ username, password }, mechanism),
    })
    client.on('error', (cause: Error) => process.stderr.write(`${cause.stack}\n`))
    client.on('stanza', (stanza: Element) => {
      if (stanza.is('message') && stanza.getChildText('body')) received.note()
    })
    client.streamManagement.on('ack', ({ attrs: { id = '' } }: Element) => {
      unacknowledged.get(id)?.()
      unacknowledged.delete(id)
    })
    await client.start()
    await client.send(xml('presence'))
    // As the service does: a question would wait until the system has heard that the messages before it are there.
    if (client.socket && 'setNoDelay' in client.socket) client.socket.setNoDelay()
  },
  /** A message counts once the system has taken it: the library waits for nothing else. */
  send: ({ to, ...spread }: Sending) =>
    sendSpread(spread, (text) => {
      const id = crypto.randomUUID()
      return client.send(xml('message', { to, id, type: 'chat' }, xml('body', {}, text)))
    }),
  /** The messages of the service, which count once the server has acknowledged them. */
  sendSafely: ({ to, ...spread }: Sending) =>
    sendSpread(spread, async (text) => {
      const id = crypto.randomUUID()
      const acknowledged = new Promise<void>((resolve) => unacknowledged.set(id, resolve))
      const extensions = [
        xml('active', ns.chatStates),
        xml('request', ns.receipts),
        xml('markable', ns.markers),
        xml('origin-id', { xmlns: ns.ids, id }),
      ]
      const body = xml('body', {}, text)
      await client.send(xml('message', { to, id, type: 'chat' }, body, ...extensions))
      askOnce()
      await acknowledged
    }),
  expect: (count: number) => received.expect(count),
  processor,
  stop: () => client.stop(),
})

/** One question for all that was written in this moment; the library's own comes a quarter of a second after the last message. */
function askOnce() {
  if (isAsking) return
  isAsking = true
  setImmediate(() => {
    isAsking = false
    client.send(xml('r', ns.streamManagement)).catch(() => undefined)
  })
}
