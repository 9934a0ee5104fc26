/** An example of a network, to begin a new one from: texts in private chats, as JSON over HTTP, with a held poll for events. */
import {
  type Handlers,
  handle,
  type LinkedAccount,
  operationsOf,
  type Platform,
  type Request,
  type Session,
  type SessionReport,
} from '../../../actors/ports/platform.ts'
import type { Logger } from '../../../actors/ports/ports.ts'
import { contentName } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { GuardedAgent } from '../../../src/net/guard.ts'
import { sessionOver } from '../../../src/platforms/kit/failures.ts'
import { HttpClient } from '../../../src/platforms/kit/http-client.ts'
import {
  definePlatform,
  fieldsOf,
  linkInOneStep,
  refused,
} from '../../../src/platforms/kit/platform.ts'
import { Poller } from '../../../src/platforms/kit/poller.ts'
import { SentRequests } from '../../../src/platforms/kit/sent-requests.ts'
import { SessionLife } from '../../../src/platforms/kit/session-life.ts'
import { lostBy, steadily } from '../../../src/platforms/kit/steadily.ts'
import type { Event } from '../kit/network.ts'
import {
  ask,
  endingOf,
  happeningOf,
  messageOf,
  requestFailed,
  type Secrets,
  whoAmI,
} from './network.ts'

const TEXT_LENGTH = 1_000
/** Longer than the server holds a poll. */
const POLL_MS = 40_000

type Account = { readonly http: HttpClient; readonly self: string }

const handlers: Handlers<Account & Request> = {
  async send({ http, self, requestId, signal }, { chat, content, buttons, replyTo }) {
    if (content.kind !== 'text') {
      throw failed('bad_request', `${contentName(content)} is not supported on Example`)
    }
    if (buttons?.length) throw failed('bad_request', 'buttons are not supported on Example')
    const { text } = content
    if (text.length > TEXT_LENGTH) throw failed('bad_request', 'message is too long')
    const letter = { to: Number(chat), text, requestId, replyTo: replyTo && Number(replyTo) }
    return { kind: 'message', message: messageOf(await ask(http, 'send', letter, signal), self) }
  },
}

/** The account names the server, so `agent` must be one that dials public addresses only. */
export const examplePlatform = (logger: Logger, agent: GuardedAgent): Platform =>
  definePlatform<Secrets>({
    id: 'example',
    name: 'Example',
    ids: 'integer',
    sessions: 'shared',
    sends: 'idempotent',
    linkMethods: [
      {
        method: 'token',
        fields: [
          { name: 'token', label: 'Token', required: true, secret: true },
          { name: 'url', label: 'Address of the server', required: true },
        ],
      },
    ],
    capabilities: {
      operations: operationsOf(handlers),
      surfaces: ['private'],
      content: ['text'],
      buttons: false,
      entities: [],
      updates: ['message', 'edited_message', 'deleted_messages'],
      limits: { textLength: TEXT_LENGTH },
    },
    logger,
    async startLink(_method, { token, url }, signal) {
      if (!token || !url || !URL.canParse(url)) {
        throw failed('bad_request', 'fields "token" and "url" are required')
      }
      return linkInOneStep((limit) => tryToken({ token, url }, agent, limit), signal)
    },
    parseSecrets(stored) {
      const { token, url } = fieldsOf(stored)
      return typeof token === 'string' && typeof url === 'string' ? { token, url } : undefined
    },
    open: (account, secrets, report) =>
      new ExampleSession(account, clientOf(secrets, agent), report, logger),
  })

const clientOf = ({ token, url: root }: Secrets, agent: GuardedAgent) =>
  new HttpClient({ root, agent, headers: { authorization: `Bearer ${token}` } })

async function tryToken(secrets: Secrets, agent: GuardedAgent, signal: AbortSignal) {
  try {
    const account = await whoAmI(clientOf(secrets, agent), signal)
    return { kind: 'done', account, secrets: { ...secrets } } as const
  } catch (cause) {
    const reason = endingOf(cause).kind === 'revoked' ? 'bad_credentials' : 'unreachable'
    return refused(reason, 'the server does not take the token')
  }
}

class ExampleSession implements Session {
  readonly #account: Account
  readonly #life: SessionLife
  readonly #poller: Poller<number>
  readonly #sent = new SentRequests()
  readonly #running: Promise<void>

  constructor(account: LinkedAccount, http: HttpClient, report: SessionReport, logger: Logger) {
    const { checkpoint, identity, credentialId } = account
    this.#account = { http, self: identity.native }
    this.#poller = new Poller({
      report,
      cursor: typeof checkpoint === 'number' ? checkpoint : undefined,
      checkpointOf: (number) => number,
      read: (after, signal) => this.#read(after, signal),
    })
    const release = async () => http.end()
    this.#life = new SessionLife({ report, logger, facts: { credentialId }, release })
    this.#running = this.#run(report).catch((cause) =>
      this.#life.end(lostBy(endingOf(cause)), cause),
    )
  }

  async perform(...[operation, requestId, caller]: Parameters<Session['perform']>) {
    if (this.#life.isOver) throw sessionOver()
    this.#sent.add(requestId)
    const signal = this.#life.within(caller)
    try {
      return await handle(handlers, 'Example', { ...this.#account, requestId, signal }, operation)
    } catch (cause) {
      throw requestFailed(cause)
    }
  }

  async probe(signal: AbortSignal): Promise<number> {
    const began = performance.now()
    await whoAmI(this.#account.http, this.#life.within(signal))
    return performance.now() - began
  }

  download(): Promise<never> {
    return Promise.reject(failed('bad_request', 'files are not supported on Example'))
  }

  async close(): Promise<void> {
    await this.#life.close()
    await this.#running
  }

  async #run(report: SessionReport): Promise<void> {
    const { signal } = this.#life
    const steadiness = { report, signal, endingOf }
    report.opened(await steadily(() => whoAmI(this.#account.http, signal), steadiness))
    await this.#poller.run(steadiness)
  }

  /** The server holds the request for some seconds, or until there are events. What this session did itself is no news. */
  async #read(after = 0, signal: AbortSignal) {
    const { http, self } = this.#account
    const events = await ask<readonly Event[]>(http, 'events', { after }, signal, POLL_MS)
    const news = events.filter(({ requestId = '' }) => !this.#sent.has(requestId))
    const happenings = news.map((event) => happeningOf(event, self))
    return { happenings, cursor: events.at(-1)?.number }
  }
}
