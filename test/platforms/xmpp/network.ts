/** The network of the XMPP tests: one server, one process of slixmpp clients, and a line per account to cut. */
import { randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import { type XmppOptions, xmppPlatform } from '../../../src/platforms/xmpp/platform.ts'
import { quietLogger } from '../../support/logger.ts'
import { Prosody, type ProsodyOptions } from '../../support/prosody.ts'
import { Relay } from '../../support/relay.ts'
import { Slixmpp, type SlixmppClient } from '../../support/slixmpp.ts'
import type { XmppServer, XmppServerOptions } from '../../support/xmpp-server.ts'
import { Files } from './files.ts'
import { MemoryRooms } from './kept-rooms.ts'
import { serverUnderTest } from './under-test.ts'

export type Tuning = Partial<
  Pick<
    XmppOptions,
    | 'resumeMilliseconds'
    | 'confirmMilliseconds'
    | 'tendMilliseconds'
    | 'settleMilliseconds'
    | 'logger'
    | 'keys'
  >
>

export interface XmppAccount {
  readonly jid: string
  readonly user: string
  readonly password: string
  /** Where the account's own connection runs through. */
  readonly relay: Relay
  readonly fields: Readonly<Record<string, string>>
}

export class Network<Server extends XmppServer = XmppServer> {
  readonly server: Server
  readonly files = new Files()
  readonly rooms = new MemoryRooms()
  readonly #slixmpp = new Slixmpp()
  readonly #endings: (() => Promise<void>)[] = []

  private constructor(server: Server) {
    this.server = server
  }

  static async start(t: Test, options?: XmppServerOptions): Promise<Network> {
    return Network.over(t, await serverUnderTest().start(options))
  }

  /** With what only this server can be told to do. */
  static async onProsody(t: Test, options?: ProsodyOptions): Promise<Network<Prosody>> {
    return Network.over(t, await Prosody.start(options))
  }

  /** Stops the server at the end of the test. */
  static over<Server extends XmppServer>(t: Test, server: Server): Network<Server> {
    const network = new Network(server)
    t.teardown(() => network.stop())
    return network
  }

  platform(options: Tuning = {}) {
    return xmppPlatform({
      logger: quietLogger,
      allowPrivate: true,
      media: this.files,
      rooms: this.rooms,
      ...options,
    })
  }

  async account(chosen?: string): Promise<XmppAccount> {
    const { user, jid, password } = await this.#register(chosen)
    const relay = await Relay.start(() => this.server.port)
    this.atEnd(() => relay.stop())
    const fields = { jid, password, server: `xmpp://127.0.0.1:${relay.port}` }
    return { user, jid, password, relay, fields }
  }

  /** Someone else, online with slixmpp. */
  async friend(): Promise<SlixmppClient> {
    return this.device(await this.#register())
  }

  /** Another device of an account. */
  device({ jid, password }: { jid: string; password: string }): Promise<SlixmppClient> {
    return this.#slixmpp.client(`${jid}/phone`, password, this.server.port)
  }

  atEnd(end: () => Promise<void>) {
    this.#endings.push(end)
  }

  async stop(): Promise<void> {
    await this.#slixmpp.stop()
    for (const end of this.#endings) await end()
    await this.files.stop()
    await this.server.stop()
  }

  async #register(password = randomBytes(8).toString('hex')) {
    const user = `user-${randomBytes(4).toString('hex')}`
    return { user, password, jid: await this.server.register(user, password) }
  }
}
