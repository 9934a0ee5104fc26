/** The client library of XMPP without the service: logs in, sends and receives as fast as it can, or as the service does. */
import { setTimeout as pause } from 'node:timers/promises'
import { type Client, client as connect, type Element, xml } from '@xmpp/client'
import { ns } from '../../src/platforms/xmpp/namespaces.ts'
import { BareStore } from './bare-store.ts'
import { answerParent, processor } from './child.ts'
import { Received, type Sending, sendSpread, TEXT } from './load.ts'
import { now } from './statistics.ts'

let client: Client
const received = new Received()
/** By the ids of messages that the server has not acknowledged yet. */
const unacknowledged = new Map<string, () => void>()
let isAsking = false
/** When the last message came. */
let cameAt = 0

interface Login {
  readonly service: string
  readonly domain: string
  readonly username: string
  readonly password: string
  /** Messages are stored here before they are acknowledged to the server. */
  readonly databaseUrl?: string
}

function sendWords(to: string, text: string): Promise<void> {
  const id = crypto.randomUUID()
  return client.send(xml('message', { to, id, type: 'chat' }, xml('body', {}, text)))
}

async function sendSafely(to: string, text: string): Promise<void> {
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
}

answerParent({
  async start({ service, domain, username, password, databaseUrl }: Login) {
    client = connect({
      service,
      domain,
      username,
      resource: async () => 'bare',
      credentials: (authenticate, [mechanism]) => authenticate({ username, password }, mechanism),
    })
    client.on('error', (cause: Error) => process.stderr.write(`${cause.stack}\n`))
    const take = databaseUrl === undefined ? () => received.note() : await storing(databaseUrl)
    client.on('stanza', (stanza: Element) => {
      if (!stanza.is('message') || !stanza.getChildText('body')) return
      cameAt = now()
      take(stanza)
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
  send: ({ to, ...spread }: Sending) => sendSpread(spread, (text) => sendWords(to, text)),
  /** The messages of the service, which count once the server has acknowledged them. */
  sendSafely: ({ to, ...spread }: Sending) => sendSpread(spread, (text) => sendSafely(to, text)),
  /** One message. Resolves with when it began. */
  async sendOne({ to, isSafe }: { readonly to: string; readonly isSafe: boolean }) {
    const began = now()
    await (isSafe ? sendSafely : sendWords)(to, TEXT)
    return began
  },
  /** Resolves with when the next message has come. */
  async next() {
    await received.expect(1)
    return cameAt
  },
  expect: (count: number) => received.expect(count),
  processor,
  async stop() {
    await client.stop()
    await database?.close()
  },
})

/** As often as the service stores a flood. */
const BATCH_EVERY_MS = 50
let database: BareStore | undefined

/** Stores batch after batch, and acknowledges to the server what is stored by then. */
async function storing(databaseUrl: string): Promise<(message: Element) => void> {
  const store = await BareStore.open(databaseUrl, 'bare_xmpp')
  database = store
  const send = client.send.bind(client)
  const waiting: Element[] = []
  let [isOwed, isDraining, stored] = [false, false, 0]
  const answer = () => {
    isOwed = false
    const h = client.streamManagement.inbound - waiting.length
    send(xml('a', { xmlns: ns.streamManagement, h })).catch(() => undefined)
  }
  // The library answers the server's questions at once.
  client.send = async (stanza) => {
    if (!stanza.is('a', ns.streamManagement)) return send(stanza)
    isOwed = true
    if (waiting.length === 0 && !isDraining) answer()
  }
  const drain = async () => {
    while (waiting.length > 0) {
      await pause(BATCH_EVERY_MS)
      const batch = waiting.slice()
      const rows = batch.map((message) => rowOf(message, ++stored))
      await store.store(rows, rows.at(-1)?.sourceKey ?? '')
      waiting.splice(0, batch.length)
      received.note(batch.length)
      if (isOwed) answer()
    }
    isDraining = false
  }
  return (message) => {
    waiting.push(message)
    if (isDraining) return
    isDraining = true
    void drain()
  }
}

function rowOf(message: Element, id: number) {
  const { from, id: named, to } = message.attrs
  const archived = message.getChild('stanza-id', ns.ids)?.attrs.id
  const date = Math.floor(Date.now() / 1000)
  const shown = {
    message_id: named,
    date,
    chat: from,
    from,
    to,
    text: message.getChildText('body'),
  }
  const payload = JSON.stringify({ message: shown }).slice(1, -1)
  return { id, sourceKey: `archive:${archived}`, chatId: 1, payload }
}

/** One question for all that was written in this moment; the library's own comes a quarter of a second after the last message. */
function askOnce() {
  if (isAsking) return
  isAsking = true
  setImmediate(() => {
    isAsking = false
    client.send(xml('r', ns.streamManagement)).catch(() => undefined)
  })
}
