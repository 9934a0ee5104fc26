/** The service between XMPP clients of another make, who write to its accounts, and the bots of these accounts. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openVault } from '../../src/security/vault.ts'
import { quietLog } from '../support/log.ts'
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
  const postgres = await PostgresProcess.start({ dir: join(folder, 'postgres'), log: quietLog })
  opened.defer(() => postgres.stop())
  await migrate(postgres.url())
  const slixmpp = new Slixmpp()
  opened.defer(() => slixmpp.stop())
  const port = await freePort()
  const keyFile = join(folder, 'keys')
  const db = openDatabase({ url: postgres.url(), log: quietLog })
  opened.defer(() => db.close())
  const vault = await openVault({ db, keyFile, log: quietLog })

  const friends: SlixmppClient[] = []
  for (const name of FRIENDS) {
    const address = await server.register(name, PASSWORD)
    friends.push(await slixmpp.client(`${address}/phone`, PASSWORD, server.port))
  }
  const account = async (name: string) => {
    const jid = await server.register(name, PASSWORD)
    const secrets = { jid, password: PASSWORD, resource: 'chapar', server: server.server }
    const key = await linkedAccount(db, vault, jid, { platform: 'xmpp', secrets })
    const consumer = new Consumer(`http://127.0.0.1:${port}/bot${key}`)
    opened.defer(() => consumer.stop())
    const writers: XmppWriter[] = []
    for (const friend of friends) {
      const writer = new XmppWriter(friend, jid, perSecond)
      opened.defer(async () => writer.stop())
      writers.push(writer)
    }
    return { name, consumer, writers }
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
  for (const { consumer } of accounts) consumer.start()
  const toClose = opened.move()
  return { postgres, service, accounts, close: () => toClose.disposeAsync() }
}
