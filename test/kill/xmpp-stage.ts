/** The service between XMPP clients of another make, who write to its accounts, and the bots of these accounts. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openVault } from '../../src/security/vault.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { Slixmpp, type SlixmppClient } from '../support/slixmpp.ts'
import type { XmppServer } from '../support/xmpp-server.ts'
import { linkedAccount } from './account.ts'
import { Consumer } from './consumer.ts'
import { PostgresProcess } from './postgres-process.ts'
import { ServiceProcess } from './service-process.ts'
import { freePort } from './stage.ts'
import { XmppWriter } from './xmpp-writer.ts'

const ACCOUNTS = ['ada', 'bob']
const FRIENDS = ['north', 'east']
const PASSWORD = 'of the kill test'
/** Of what people write to an account this is the part that they write in its room as well. */
const ROOM_SHARE = 0.2
const JOINS_MS = 60_000

export interface XmppStage {
  readonly postgres: PostgresProcess
  readonly service: ServiceProcess
  readonly accounts: readonly {
    readonly name: string
    readonly consumer: Consumer
    readonly writers: readonly XmppWriter[]
  }[]
  close(): Promise<void>
}

/** Stops the server at its end. */
export async function setXmppStage(server: XmppServer, perSecond: number): Promise<XmppStage> {
  await using opened = new AsyncDisposableStack()
  opened.defer(() => server.stop())
  const folder = await mkdtemp(join(tmpdir(), 'chapar-kill-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  // Postgres may run as another account.
  await chmod(folder, 0o755)
  const postgres = await PostgresProcess.start({
    dir: join(folder, 'postgres'),
    logger: quietLogger,
  })
  opened.defer(() => postgres.stop())
  await migrate(postgres.url())
  const slixmpp = new Slixmpp()
  opened.defer(() => slixmpp.stop())
  const port = await freePort()
  const keyFile = join(folder, 'keys')
  const db = openDatabase({ url: postgres.url(), logger: quietLogger })
  opened.defer(() => db.close())
  const vault = await openVault({ db, keyFile, logger: quietLogger })

  const friends: SlixmppClient[] = []
  for (const name of FRIENDS) {
    const address = await server.register(name, PASSWORD)
    friends.push(await slixmpp.client(`${address}/phone`, PASSWORD, server.port))
  }
  const account = async (name: string) => {
    const jid = await server.register(name, PASSWORD)
    const secrets = { jid, password: PASSWORD, resource: 'chapar', server: server.server }
    const key = await linkedAccount(db, vault, jid, { platform: 'xmpp', secrets })
    const url = `http://127.0.0.1:${port}/bot${key}`
    const consumer = new Consumer(url)
    opened.defer(() => consumer.stop())
    const room = `${name}@rooms.xmpp.test`
    for (const friend of friends) await friend.join(room, friend.jid.split('@')[0] ?? '')
    const writers = friends.flatMap((friend) => [
      new XmppWriter(friend, jid, perSecond),
      new XmppWriter(friend, room, perSecond * ROOM_SHARE, true),
    ])
    for (const writer of writers) opened.defer(async () => writer.stop())
    return { name, consumer, writers, joins: () => greet(url, room) }
  }
  const accounts = []
  for (const name of ACCOUNTS) accounts.push(await account(name))

  const service = new ServiceProcess({
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(folder, 'compiled'),
    KILL_DATABASE_URL: postgres.url(),
    KILL_KEY_FILE: keyFile,
    KILL_PORT: `${port}`,
  })
  opened.defer(() => service.stop())
  service.start()
  for (const { consumer, joins } of accounts) {
    consumer.start()
    await joins()
  }
  const toClose = opened.move()
  return { postgres, service, accounts, close: () => toClose.disposeAsync() }
}

/** A bot's first words in a room bring its account into it, to stay. */
async function greet(url: string, room: string): Promise<void> {
  const body = JSON.stringify({ chat_id: `@${room}`, text: 'hello' })
  const headers = { 'content-type': 'application/json' }
  const isSent = async () => {
    // The service may still be starting.
    const response = await fetch(`${url}/sendMessage`, { method: 'POST', headers, body }).catch(
      () => undefined,
    )
    return response?.ok ?? false
  }
  await until(isSent, JOINS_MS)
}
