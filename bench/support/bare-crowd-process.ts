/** Many clients of a network's library in one process, without the service: each signs in and stays. */
import { MemoryStorage, TelegramClient } from '@mtcute/node'
import { client as connect, type Element, xml } from '@xmpp/client'
import { trust } from '../../test/support/telegram-dc/crypto.ts'
import { answerParent, memory, processor } from './child.ts'
import { APPLICATION, type Device, type TelegramAddress } from './telegram.ts'

export interface Telegram {
  readonly address: TelegramAddress
  readonly devices: readonly Device[]
}

export interface Xmpp {
  readonly service: string
  readonly domain: string
  readonly users: readonly string[]
  readonly password: string
}

/** As many at once as the service opens. */
const AT_ONCE = 20

/** Clients that are not opened yet; each resolves with how it is closed. */
let waiting: (() => Promise<() => Promise<unknown>>)[] = []
const close: (() => Promise<unknown>)[] = []

answerParent({
  async telegram({ address, devices }: Telegram) {
    await trust(address.pem)
    waiting = devices.map((device) => () => openTelegram(address, device))
  },
  xmpp({ users, ...server }: Xmpp) {
    waiting = users.map((username) => () => openXmpp(server, username))
  },
  /** Resolves once so many more are there. */
  async open(count: number) {
    const some = waiting.splice(0, count)
    const work = async () => {
      for (let open = some.shift(); open; open = some.shift()) close.push(await open())
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
  },
  memory,
  processor,
  stop: () => Promise.all(close.map((end) => end())),
})

async function openTelegram({ entrance }: TelegramAddress, { key }: Device) {
  const storage = new MemoryStorage()
  storage.authKeys.set(entrance.id, Buffer.from(key, 'base64'))
  const client = new TelegramClient({
    apiId: APPLICATION.id,
    apiHash: APPLICATION.hash,
    storage,
    logLevel: 0,
    defaultDcs: { main: entrance, media: { ...entrance, mediaOnly: true } },
  })
  await client.connect()
  await client.notifyLoggedIn((await client.getMe()).raw)
  await client.startUpdatesLoop()
  return () => client.destroy()
}

async function openXmpp(
  { service, domain, password }: Omit<Xmpp, 'users'>,
  username: string,
): Promise<() => Promise<unknown>> {
  const client = connect({
    service,
    domain,
    username,
    resource: async () => 'bare',
    // Its own SCRAM would take a hundred times as long as all the rest.
    credentials: (authenticate) => authenticate({ username, password }, 'PLAIN'),
  })
  client.on('error', (cause: Error) => process.stderr.write(`${cause.stack}\n`))
  client.on('stanza', (_stanza: Element) => undefined)
  await client.start()
  await client.send(xml('presence'))
  return () => client.stop()
}
