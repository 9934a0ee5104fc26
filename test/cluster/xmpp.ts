/** Accounts on real XMPP servers, used all the time: each has a bot that polls, and a friend with a client of another make. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from '../../src/database/database.ts'
import { type Client, until } from '../support/client.ts'
import { Slixmpp, type SlixmppClient } from '../support/slixmpp.ts'
import type { XmppServer } from '../support/xmpp-server.ts'
import { type XmppServerKind, xmppServers } from '../support/xmpp-servers.ts'
import { type Account, historyOf } from './accounts.ts'
import { startBot } from './bots.ts'
import type { AccountHistory } from './checker.ts'
import type { NetworkAccount } from './exclusive.ts'
import { Traffic } from './load.ts'
import type { Testing } from './stage.ts'

export interface XmppAccounts {
  readonly all: readonly NetworkAccount[]
  /** Ends the load, waits until all is delivered, and tells what happened to each account. */
  histories(db: Database): Promise<AccountHistory[]>
}

/** Why no XMPP server can be run here; absent where one can. */
export async function xmppMissing(): Promise<string | undefined> {
  const reasons = xmppServers.map(({ skip }) => skip)
  return reasons.every((reason) => reason !== false) ? reasons.join(', ') : undefined
}

const PASSWORD = 'secret'
const EVERY_MS = 300

export async function openXmpp(t: Testing, client: Client, count: number): Promise<XmppAccounts> {
  const slixmpp = new Slixmpp()
  t.teardown(() => slixmpp.stop())
  const all: XmppAccount[] = []
  for (const kind of xmppServers.filter(({ skip }) => skip === false)) {
    const server = await kind.start()
    t.teardown(() => server.stop())
    for (let n = 1; n <= count; n++) {
      const account = await openAccount(
        { client, slixmpp, kind, server },
        `${kind.name.toLowerCase()}${n}`,
      )
      t.teardown(() => account.close())
      all.push(account)
    }
  }
  for (const account of all) account.start()
  return {
    all,
    histories: (db) => Promise.all(all.map((account) => account.history(client, db))),
  }
}

interface Scene {
  readonly client: Client
  readonly slixmpp: Slixmpp
  readonly kind: XmppServerKind
  readonly server: XmppServer
}

async function openAccount({ client, slixmpp, kind, server }: Scene, user: string) {
  const jid = await server.register(user, PASSWORD)
  const friendJid = await server.register(`${user}-friend`, PASSWORD)
  const friend = await slixmpp.client(`${friendJid}/phone`, PASSWORD, server.port)
  const fields = { jid, password: PASSWORD, server: server.server }
  const { credential } = await client.result('POST', '/platforms/xmpp/link/start', fields)
  const credentialId: number = credential.credential_id
  await client.state(credentialId, 'active')
  const { key } = await client.key(credentialId)
  const first = '0 opens the chat'
  friend.send(jid, first)
  const from = await until(async () => {
    const { body } = await client.bot(key, 'getUpdates', {})
    return body.ok && body.result[0]?.message.chat.id
  })
  const traffic = new Traffic({ credentialId, key, to: jid, from })
  traffic.written.push(first)
  const bot = await startBot('polling', client.url, key)
  const account: Account = {
    name: `${user} on ${kind.name}`,
    credentialId,
    key,
    bot,
    traffic,
    stored: async () =>
      friend.seen.flatMap(({ from, body }) => (from.startsWith(jid) && body ? [body] : [])),
  }
  return new XmppAccount(account, client, friend)
}

class XmppAccount implements NetworkAccount {
  readonly #account: Account
  readonly #client: Client
  readonly #friend: SlixmppClient
  readonly #over = new AbortController()
  #running: Promise<void> = Promise.resolve()

  constructor(account: Account, client: Client, friend: SlixmppClient) {
    this.#account = account
    this.#client = client
    this.#friend = friend
  }

  get credentialId(): number {
    return this.#account.credentialId
  }

  start(): void {
    this.#running = this.#run()
  }

  async sends(): Promise<boolean> {
    const { traffic } = this.#account
    const { key, to, from } = traffic.target
    const text = `${++traffic.sends} from ${to}`
    const answer = await this.#client
      .bot(key, 'sendMessage', { chat_id: from, text })
      .catch(() => undefined)
    if (answer?.body?.ok) traffic.sent.push(text)
    else if (answer === undefined || answer.status === 504) traffic.unknown.push(text)
    return answer?.body?.ok === true
  }

  async history(client: Client, db: Database): Promise<AccountHistory> {
    await this.#end()
    return historyOf(this.#account, client, db)
  }

  async close(): Promise<void> {
    await this.#end()
    await this.#account.bot?.close()
  }

  async #end(): Promise<void> {
    this.#over.abort()
    await this.#running
  }

  async #run(): Promise<void> {
    const { traffic } = this.#account
    while (!this.#over.signal.aborted) {
      const text = `${++traffic.writes} to ${traffic.target.to}`
      this.#friend.send(traffic.target.to, text)
      traffic.written.push(text)
      await this.sends()
      await pause(EVERY_MS)
    }
  }
}
