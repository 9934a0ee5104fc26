/** An example of a network, to begin a new one from: texts in private chats, as JSON over HTTP, with a held poll for events. */

import {
  type Handlers,
  handle,
  type LinkedAccount,
  type LinkStep,
  operationsOf,
  type Platform,
  type Request,
  type Session,
  type SessionReport,
} from '../../../actors/ports/platform.ts'
import type { Logger } from '../../../actors/ports/ports.ts'
import { contentName } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import { EventLine } from '../../../src/platforms/kit/event-line.ts'
import { sessionOver } from '../../../src/platforms/kit/failures.ts'
import {
  definePlatform,
  fieldsOf,
  linkInOneStep,
  refused,
} from '../../../src/platforms/kit/platform.ts'
import { RecentMap } from '../../../src/platforms/kit/recent-map.ts'
import { SessionLife } from '../../../src/platforms/kit/session-life.ts'
import { lostBy, steadily } from '../../../src/platforms/kit/steadily.ts'
import type { Event, Letter } from '../kit/network.ts'
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

type Account = { readonly secrets: Secrets; readonly self: string }

const handlers: Handlers<Account & Request> = {
  async send({ secrets, self, requestId, signal }, { chat, content, buttons, replyTo }) {
    if (content.kind !== 'text') {
      throw failed('bad_request', `${contentName(content)} is not supported on Example`)
    }
    if (buttons?.length) throw failed('bad_request', 'buttons are not supported on Example')
    const { text } = content
    if (text.length > TEXT_LENGTH) throw failed('bad_request', 'message is too long')
    const answered = replyTo !== undefined && { replyTo: Number(replyTo) }
    const letter = { to: Number(chat), text, requestId, ...answered }
    const sent = await ask<Letter>(secrets, 'send', letter, signal)
    return { kind: 'message', message: messageOf(sent, self) }
  },
}

export const examplePlatform = (logger: Logger): Platform =>
  definePlatform<Secrets>({
    id: 'example',
    name: 'Example',
    ids: 'integer',
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
      if (!token || !url) throw failed('bad_request', 'fields "token" and "url" are required')
      return linkInOneStep((limit) => tryToken({ token, url }, limit), signal)
    },
    parseSecrets(stored) {
      const { token, url } = fieldsOf(stored)
      return typeof token === 'string' && typeof url === 'string' ? { token, url } : undefined
    },
    open: (account, secrets, report) => new ExampleSession(account, secrets, report, logger),
  })

async function tryToken(secrets: Secrets, signal: AbortSignal): Promise<LinkStep> {
  try {
    return { kind: 'done', account: await whoAmI(secrets, signal), secrets: { ...secrets } }
  } catch (cause) {
    const reason = endingOf(cause).kind === 'revoked' ? 'bad_credentials' : 'unreachable'
    return refused(reason, 'the server does not take the token')
  }
}

class ExampleSession implements Session {
  readonly #account: Account
  readonly #report: SessionReport
  readonly #life: SessionLife
  readonly #line: EventLine
  /** The ids of its own requests. */
  readonly #sent = new RecentMap<string, true>(500)
  readonly #running: Promise<void>
  /** The number of the last event that is stored. */
  #last: number

  constructor(account: LinkedAccount, secrets: Secrets, report: SessionReport, logger: Logger) {
    const { checkpoint, identity, credentialId } = account
    this.#account = { secrets, self: identity.native }
    this.#report = report
    this.#last = typeof checkpoint === 'number' ? checkpoint : 0
    this.#line = new EventLine(report)
    const release = async () => undefined
    this.#life = new SessionLife({ report, logger, facts: { credentialId }, release })
    this.#running = this.#run().catch((cause) => this.#life.end(lostBy(endingOf(cause)), cause))
  }

  async perform(
    operation: Operation,
    requestId: string,
    caller: AbortSignal,
  ): Promise<OperationResult> {
    if (this.#life.isOver) throw sessionOver()
    this.#sent.set(requestId, true)
    const signal = this.#life.within(caller)
    const context = { ...this.#account, requestId, signal }
    try {
      return await handle(handlers, 'Example', context, operation)
    } catch (cause) {
      throw requestFailed(cause)
    }
  }

  async probe(signal: AbortSignal): Promise<number> {
    const began = performance.now()
    await whoAmI(this.#account.secrets, this.#life.within(signal))
    return performance.now() - began
  }

  download(): Promise<never> {
    return Promise.reject(failed('bad_request', 'files are not supported on Example'))
  }

  async close(): Promise<void> {
    await this.#life.close()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#life
    const steadiness = { report: this.#report, signal, endingOf }
    const { secrets } = this.#account
    this.#report.opened(await steadily(() => whoAmI(secrets, signal), steadiness))
    for (;;) await steadily(() => this.#poll(signal), steadiness)
  }

  /** The next events are asked for once these are stored. What this session did itself is no news. */
  async #poll(signal: AbortSignal): Promise<void> {
    const { secrets, self } = this.#account
    const events = await ask<readonly Event[]>(secrets, 'events', { after: this.#last }, signal)
    const last = events.at(-1)?.number
    if (last === undefined) return
    const news = events.filter(({ requestId = '' }) => !this.#sent.has(requestId))
    const happenings = news.map((event) => happeningOf(event, self))
    await this.#line.run(() => this.#line.store(happenings, last))
    this.#last = last
  }
}
