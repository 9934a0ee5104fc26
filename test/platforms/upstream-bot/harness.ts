/** Telegram's bots as the contract suite drives them: the network is another gateway, with the sandbox behind it. */
import type { Test } from 'tap'
import type { Content } from '../../../machines/model/content.ts'
import { openDatabase } from '../../../src/database/database.ts'
import { telegramBot } from '../../../src/platforms/upstream-bot/flavour.ts'
import { createBotApi } from '../../../src/platforms/upstream-bot/platform.ts'
import type { Network } from '../../../src/sandbox/sandbox.ts'
import type { Client } from '../../support/client.ts'
import { testDatabase } from '../../support/database.ts'
import { fileDesk, fileOwner, fileToSend } from '../../support/files.ts'
import { quietLog } from '../../support/log.ts'
import { Relay } from '../../support/relay.ts'
import { type Service, startService } from '../../support/service.ts'
import type { Account, ContractHarness, Peer } from '../contract/harness.ts'
import { run, Store } from '../contract/recorder.ts'
import { lineFaults } from '../kit/line.ts'
import { peerOf } from '../sandbox/peer.ts'
import { placesIn } from '../sandbox/places.ts'
import { register } from '../sandbox/register.ts'
import { bytesOf } from './bytes.ts'

const inOneStep = 'a token links in one step'
const notTold = 'a bot API tells of it only when a call runs into it'

export async function botApiHarness(t: Test): Promise<ContractHarness> {
  const { database: db } = await testDatabase(t)
  const media = await fileDesk(t, db)
  const owner = await fileOwner(db)
  const upstream = await Upstream.start(t)
  const relay = await Relay.start(() => upstream.port)
  t.teardown(() => relay.stop())
  const platform = (port = relay.port) => {
    const url = `http://127.0.0.1:${port}`
    const address = { flavour: telegramBot, url, allowPrivate: true }
    // The contract wants a cut to be seen; that a short one is passed over has a test of its own.
    const options = { ...address, media, log: quietLog, forgives: 0 }
    const botApi = createBotApi(options)
    t.teardown(() => botApi.close())
    return botApi.platform
  }
  return {
    platform: platform(),
    restarted: () => platform(),
    unknownChat: '999999999',
    absent: {
      code: inOneStep,
      secondFactor: inOneStep,
      expiry: inOneStep,
      restartNetwork: 'two whole services are restarted in a test of their own',
      ban: notTold,
      limit: notTold,
      signOut: 'nobody but its owner takes a token back',
      repeat: 'updates before the offset are never given out again',
      loseAnswer: 'requests have no ids, so nothing can be repeated safely',
      deduplication: 'requests have no ids, so nothing can be repeated safely',
      emptyFiles: 'the reference takes no empty files',
    },
    file: async (kind, bytes) => fileToSend(media, owner, kind, bytes ?? (await bytesOf(kind))),
    ...placesIn(upstream.sandbox, async () => upstream.file('sticker', await bytesOf('sticker'))),
    account: () =>
      accountOf(
        upstream,
        relay,
        () => platform(upstream.port),
        (work) => t.teardown(work),
      ),
    async peer({ native }) {
      const peer = await peerOf(upstream.sandbox, Number(native))
      return { ...peer, send: async (content) => peer.send!(await moved(content)) }
    },
  }

  /** The other side sends from its own store. */
  async function moved(content: Content): Promise<Content> {
    if (content.kind !== 'media' || !('blob' in content.media.file)) return content
    const { stream } = await media.open(content.media.file.blob)
    const bytes = Buffer.concat(await stream.toArray())
    return { ...content, media: await upstream.file(content.media.kind, bytes) }
  }
}

class Upstream {
  readonly #service: Service
  readonly #client: Client
  readonly #owner: number

  private constructor(service: Service, client: Client, owner: number) {
    this.#service = service
    this.#client = client
    this.#owner = owner
  }

  static async start(t: Test): Promise<Upstream> {
    const service = await startService(t)
    const db = openDatabase({ url: service.databaseUrl, log: quietLog })
    t.teardown(() => db.close())
    const client = await service.client()
    const [user] = await db.query<{ id: number }>('select id from app_user')
    return new Upstream(service, client, user!.id)
  }

  get port(): number {
    return Number(new URL(this.#service.url).port)
  }

  get sandbox(): Network {
    return this.#service.gateway.sandbox!.network(this.#owner)
  }

  file(kind: Parameters<typeof fileToSend>[2], bytes: Buffer) {
    return fileToSend(this.#service.gateway.media.service, this.#owner, kind, bytes)
  }

  /** A bot, its token, and how the token is taken back. */
  async bot() {
    const person = await register(this.sandbox)
    const credentialId = await this.#client.link(person)
    await this.#client.result('PATCH', `/platforms/credentials/${credentialId}/settings`, {
      include_self_updates: true,
    })
    const { key, api_key_id } = await this.#client.key(credentialId)
    const revoke = () => this.#client.result('DELETE', `/api_keys/${api_key_id}`)
    return { person, token: key as string, revoke }
  }
}

async function accountOf(
  upstream: Upstream,
  relay: Relay,
  elsewhere: () => ContractHarness['platform'],
  atEnd: (work: () => Promise<void>) => void,
): Promise<Account> {
  const { person, token, revoke } = await upstream.bot()
  const native = `${person.id}`
  return {
    native,
    method: 'token',
    fields: { token },
    wrongFields: { token: `${token.split(':')[0]}:${'x'.repeat(43)}` },
    writeElsewhere: async (peer: Peer, text) => {
      await upstream.sandbox.actions.write(person.id, { to: Number(peer.chat), text })
    },
    forbiddenChat: async () => {
      const { id: owner } = await register(upstream.sandbox)
      const closed = { kind: 'supergroup', title: 'Closed', owner } as const
      return (await upstream.sandbox.chats.create(closed)).chat.native
    },
    ...lineFaults(relay),
    revoke: async () => {
      await revoke()
    },
    replace: async (secrets) => {
      const other = run(elsewhere(), new Store({ identity: { native, firstName: '' }, secrets }))
      atEnd(() => other.stop())
    },
  }
}
