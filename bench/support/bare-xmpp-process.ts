/** The client library of XMPP without the service: logs in, sends and receives as fast as it can. */
import { type Client, client as connect, type Element, xml } from '@xmpp/client'
import { answerParent, processor } from './child.ts'
import { Received, type Sending, sendSpread } from './load.ts'

let client: Client
const received = new Received()

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
    await client.start()
    await client.send(xml('presence'))
  },
  send: ({ to, ...spread }: Sending) =>
    sendSpread(spread, (text) => {
      const id = crypto.randomUUID()
      return client.send(xml('message', { to, id, type: 'chat' }, xml('body', {}, text)))
    }),
  expect: (count: number) => received.expect(count),
  processor,
  stop: () => client.stop(),
})
