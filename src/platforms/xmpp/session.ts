/** One account, live: what comes in is stored in order, what goes out is confirmed, short cuts are survived. */
import { type Element, xml } from '@xmpp/client'
import { failed } from '../../../actors/errors.ts'
import type { LinkedAccount, Session, SessionReport } from '../../../actors/platform.ts'
import type { Operation, OperationResult } from '../../../machines/operation.ts'
import { Archive } from './archive.ts'
import { CatchUp } from './catch-up.ts'
import { parseCheckpoint } from './checkpoint.ts'
import { delivered } from './delivery.ts'
import { conditionOf, endingOf } from './failures.ts'
import { Inbox } from './inbox.ts'
import { Ledger } from './ledger.ts'
import type { Log } from './log.ts'
import { Lookup } from './lookup.ts'
import { ns } from './namespaces.ts'
import { Operations } from './operations.ts'
import { Outbox } from './outbox.ts'
import { RequestRefused, Requests } from './requests.ts'
import { loginOf, type Secrets } from './secrets.ts'
import { Sent } from './sent.ts'
import { Stream } from './stream.ts'
import { receipt } from './writing.ts'

export interface SessionOptions {
  /** For how long a cut connection is taken up again before it is reported as lost; 0: not at all. */
  readonly resumeMilliseconds: number
  /** For how long a message waits for its acknowledgement. */
  readonly confirmMilliseconds: number
  /** See `LinkOptions`. */
  readonly allowPrivate: boolean
  readonly log: Log
}

export class XmppSession implements Session {
  readonly #account: LinkedAccount
  readonly #report: SessionReport
  readonly #log: Log
  readonly #own: string
  readonly #domain: string
  readonly #stream: Stream
  readonly #requests: Requests
  readonly #archive: Archive
  readonly #inbox: Inbox
  readonly #ledger: Ledger
  readonly #outbox: Outbox
  readonly #catchUp: CatchUp
  readonly #operations: Operations
  readonly #ending = new AbortController()
  #binding = new AbortController()
  #hasArchive = false
  #isOpened = false

  constructor(
    account: LinkedAccount,
    secrets: Secrets,
    report: SessionReport,
    options: SessionOptions,
  ) {
    const login = loginOf(secrets, options.allowPrivate)
    const own = `${login.local}@${login.domain}`
    const sent = new Sent()
    this.#account = account
    this.#report = report
    this.#log = options.log
    this.#own = own
    this.#domain = login.domain
    this.#stream = new Stream(
      { login, resumeMilliseconds: options.resumeMilliseconds },
      {
        bound: () => this.#bind(),
        resumed: () => this.#log.info({ account: own }, 'the stream was resumed'),
        stanza: (stanza) => this.#receive(stanza),
        acknowledged: (id) => this.#outbox.acknowledged(id),
        ended: (cause) => this.#end(cause),
      },
    )
    this.#requests = new Requests(own, (stanza, signal) => this.#stream.sendWhenUp(stanza, signal))
    this.#archive = new Archive(own, this.#requests)
    this.#outbox = new Outbox({
      stream: this.#stream,
      requests: this.#requests,
      domain: login.domain,
      confirmMilliseconds: options.confirmMilliseconds,
    })
    const checkpoint = parseCheckpoint(account.checkpoint)
    this.#ledger = new Ledger({ own, checkpoint, sent }, report, {
      found: (id) => this.#outbox.acknowledged(id),
      receiptWanted: (to, id) => this.#whisper(receipt(to, id)),
    })
    this.#catchUp = new CatchUp(this.#archive, this.#ledger, options.log)
    this.#inbox = new Inbox({
      commit: (deliveries) => this.#ledger.commit(deliveries),
      failed: (cause) => this.#end(cause),
    })
    this.#operations = new Operations({
      own,
      sent,
      stream: this.#stream,
      requests: this.#requests,
      outbox: this.#outbox,
      lookup: new Lookup(own, this.#archive, sent),
    })
  }

  perform(operation: Operation, requestId: string, signal: AbortSignal): Promise<OperationResult> {
    return this.#operations.perform(operation, requestId, this.#within(signal))
  }

  async probe(signal: AbortSignal): Promise<number> {
    const started = performance.now()
    await this.#ping(this.#within(signal))
    return performance.now() - started
  }

  download(): Promise<never> {
    return Promise.reject(failed('bad_request', 'files are not supported on XMPP'))
  }

  /** XMPP knows no sign-out beyond the end of the stream. */
  async close(): Promise<void> {
    this.#abort(new Error('The session is closed'))
    await this.#stream.close()
  }

  #bind() {
    this.#binding.abort()
    this.#binding = new AbortController()
    const { signal } = this.#binding
    this.#begin(signal).catch((cause) => {
      if (!signal.aborted) this.#end(cause)
    })
  }

  /**
   * Before the first presence the server sends no messages of its own accord, so the catch-up comes before. It runs
   * once more after it, for what arrived in between; live messages wait until then.
   */
  async #begin(signal: AbortSignal): Promise<void> {
    const unconfirmed = this.#outbox.open
    await this.#inbox.hold()
    this.#hasArchive = await this.#catchUp.begin(signal)
    if (!this.#isOpened) this.#report.opened(this.#account.identity)
    this.#isOpened = true
    if (this.#hasArchive) await this.#catchUp.run(signal)
    await this.#enableCarbons(signal)
    await this.#stream.sendWhenUp(xml('presence'), signal)
    const caughtUp = this.#hasArchive ? await this.#catchUp.run(signal) : new Set<string>()
    if (this.#hasArchive) this.#outbox.repeat(unconfirmed)
    else this.#outbox.abandon(unconfirmed)
    this.#inbox.release(caughtUp)
  }

  async #enableCarbons(signal: AbortSignal): Promise<void> {
    try {
      await this.#requests.ask('set', xml('enable', ns.carbons), { signal })
    } catch (cause) {
      if (!(cause instanceof RequestRefused)) throw cause
      this.#log.warn({ account: this.#own }, 'the server does not tell of other devices')
    }
  }

  #receive(stanza: Element) {
    if (this.#requests.take(stanza) || !stanza.is('message') || this.#archive.take(stanza)) return
    if (stanza.attrs.type === 'error') return this.#bounce(stanza)
    const trust = { own: this.#own, domain: this.#domain, archive: this.#hasArchive }
    const delivery = delivered(stanza, trust)
    if (delivery) this.#inbox.push(delivery)
    else this.#log.warn({ from: stanza.attrs.from }, 'dropped a forged copy of a message')
  }

  #bounce(stanza: Element) {
    const { id, from } = stanza.attrs
    const condition = conditionOf(stanza)
    if (id && this.#outbox.bounced(id, condition)) return
    this.#log.warn({ id, from, condition }, 'a message came back')
  }

  /** For what nobody waits for: a receipt that gets lost is asked for again by who wants it. */
  #whisper(stanza: Element) {
    this.#stream.send(stanza).catch((cause) => {
      this.#log.info({ err: cause }, 'a receipt was not sent')
    })
  }

  async #ping(signal: AbortSignal): Promise<void> {
    try {
      await this.#requests.ask('get', xml('ping', ns.ping), { to: this.#domain, signal })
    } catch (cause) {
      // An error is an answer too: the server lives.
      if (!(cause instanceof RequestRefused)) throw cause
    }
  }

  #within(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, this.#ending.signal])
  }

  #abort(cause: unknown) {
    this.#binding.abort()
    this.#ending.abort(cause)
    this.#outbox.abandon(this.#outbox.open, cause)
  }

  #end(cause: unknown) {
    if (this.#ending.signal.aborted) return
    this.#abort(cause)
    const ending = endingOf(cause)
    this.#log.info({ account: this.#own, err: cause, ending }, 'the session ended')
    this.#stream.close().catch((err) => this.#log.warn({ err }, 'the stream did not close'))
    if (ending.kind === 'replaced') this.#report.replaced()
    else this.#report[ending.kind](ending.reason)
  }
}
