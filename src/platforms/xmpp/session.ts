/** The session of one account: stores incoming messages in order, confirms outgoing ones, and survives short interruptions. */
import { type Element, xml } from '@xmpp/client'
import type { Dispatcher } from 'undici'
import type {
  FileStream,
  LinkedAccount,
  Session,
  SessionReport,
} from '../../../actors/ports/platform.ts'
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import { SentRequests } from '../kit/sent-requests.ts'
import { SessionLife } from '../kit/session-life.ts'
import type { Passages } from '../kit/steadily.ts'
import { Archive, nowSeconds } from './archive.ts'
import { CatchUp } from './catch-up.ts'
import { parseBeside, parseCheckpoints } from './checkpoint.ts'
import { delivered, type IncomingMessage, recovered } from './delivery.ts'
import { endingOf } from './endings.ts'
import { conditionOf } from './failures.ts'
import { type Context, perform } from './handlers.ts'
import { History } from './history.ts'
import { Inbox } from './inbox.ts'
import { Ledger } from './ledger.ts'
import { type LeftSession, leftText } from './left-session.ts'
import { download } from './media/download.ts'
import { measured } from './media/measure.ts'
import { HttpUploads, type UploadParts } from './media/uploads.ts'
import { fingerprintOf, isRandom } from './message-identity.ts'
import { Outbox } from './outbox.ts'
import { Places } from './places.ts'
import { enableCarbons, ping, Requests } from './requests.ts'
import { KeptRooms, type OwedRooms, type RoomStore } from './rooms/kept.ts'
import { Rooms, type RoomsParts } from './rooms/rooms.ts'
import type { StoredKey } from './sasl/scram.ts'
import { type LoginOptions, loginOf, secretsJson, type XmppSecrets } from './secrets.ts'
import { Stream } from './stream.ts'
import { receipt } from './writing.ts'

export interface SessionOptions
  extends LoginOptions,
    Pick<RoomsParts, 'logger' | 'tendMilliseconds'> {
  /** How long a broken connection is resumed before it counts as lost; 0: not at all. */
  readonly resumeMilliseconds: number
  /** For how long a message waits for its acknowledgement. */
  readonly confirmMilliseconds: number
  /** After which times, once it is present, a new stream reads the archive again. */
  readonly settleMilliseconds: readonly number[]
  readonly passages: Passages
  /** Through which shared files are fetched. */
  readonly agent: Dispatcher
  readonly rooms: RoomStore
  readonly owed: OwedRooms
  /** The gateway's own store, from which files are sent. */
  readonly media: UploadParts['media']
}

/** How many of its own messages a session leaves to the next one: those whose copies may still come. */
const mostLeft = 100

export class XmppSession implements Session {
  readonly #account: LinkedAccount
  readonly #report: SessionReport
  readonly #options: SessionOptions
  readonly #own: string
  readonly #domain: string
  readonly #stream: Stream
  readonly #requests: Requests
  readonly #archive: Archive
  readonly #inbox: Inbox
  readonly #ledger: Ledger
  readonly #outbox: Outbox
  readonly #catchUp: CatchUp
  readonly #rooms: Rooms
  readonly #sent = new SentRequests()
  /** What only calls need: most accounts have none for long. */
  #parts: Pick<Context, 'stream' | 'places' | 'uploads' | 'history'> | undefined
  readonly #life: SessionLife
  #binding = new AbortController()
  #hasArchive = false
  #isOpened = false
  /** The stream is one of its own: what the session before has left is of no use any more. */
  #isBound = false
  /** Since when all that a new stream begins with is done. Unix time in seconds. */
  #settledAt: number | undefined
  #secrets: XmppSecrets
  #saving: Promise<void> = Promise.resolve()

  constructor(
    account: LinkedAccount,
    secrets: XmppSecrets,
    report: SessionReport,
    options: SessionOptions,
  ) {
    const { left, ...kept } = secrets
    this.#secrets = kept
    const derived = (salted: StoredKey) => this.#keepKey(salted)
    const login = { ...loginOf(secrets, options, derived), permit: account.permit }
    const own = `${login.local}@${login.domain}`
    const sent = this.#sent
    this.#account = account
    this.#report = report
    this.#options = options
    this.#own = own
    this.#life = new SessionLife({
      report,
      logger: options.logger,
      facts: { account: own },
      release: (cause) => this.#release(cause),
    })
    this.#domain = login.domain
    this.#stream = new Stream(
      {
        login,
        resumeMilliseconds: options.resumeMilliseconds,
        passage: options.passages.to(login.service),
        ...(left && { inherited: () => this.#take(left.session) }),
      },
      {
        bound: () => this.#bind(),
        resumed: () => {
          options.logger.info({ account: own }, 'the stream was resumed')
          if (left?.session && !this.#isBound && !this.#isOpened) this.#goOn(left.session)
        },
        stanza: (stanza) => this.#receive(stanza),
        settled: () => this.#inbox.settled(),
        acknowledged: (id) => this.#outbox.acknowledged(id),
        ended: (cause) => this.#end(cause),
      },
    )
    this.#requests = new Requests(own, (stanza, signal) => this.#stream.sendWhenUp(stanza, signal))
    this.#archive = new Archive(own, own, this.#requests)
    this.#outbox = new Outbox({
      stream: this.#stream,
      requests: this.#requests,
      domain: login.domain,
      confirmMilliseconds: options.confirmMilliseconds,
    })
    this.#ledger = new Ledger(
      {
        own,
        checkpoints: parseCheckpoints(account.checkpoint, own),
        sent,
        ...parseBeside(account.checkpoint, options.owed.of(account)?.keys()),
      },
      report,
      {
        found: (delivery, id) => this.#found(delivery, id),
        receiptWanted: (to, id) => this.#whisper(receipt(to, id)),
        invited: () => this.#rooms.invited(),
        recall: async () => (this.#hasArchive ? this.#catchUp.recall(this.#life.signal) : []),
        measured: (happenings) => measured(happenings, options.agent, this.#life.signal),
      },
    )
    this.#catchUp = new CatchUp(this.#archive, this.#ledger, options.logger, (archived) =>
      recovered(archived, own),
    )
    this.#inbox = new Inbox({
      commit: (deliveries) => this.#ledger.commit(deliveries),
      failed: (cause) => this.#end(cause),
    })
    this.#rooms = new Rooms({
      own,
      nick: login.local,
      stream: this.#stream,
      requests: this.#requests,
      ledger: this.#ledger,
      logger: options.logger,
      kept: new KeptRooms(options.rooms, account, options.owed),
      unshared: () => report.unshared(),
      tendMilliseconds: options.tendMilliseconds,
      reflected: (delivery, id) => this.#found(delivery, id),
      sent: (id) => sent.has(id),
      failed: (cause) => {
        // What rooms say counts before it is stored: only their archives have it now.
        this.#settledAt = undefined
        this.#end(cause)
      },
    })
  }

  perform(
    operation: Operation,
    requestId: string,
    signal: AbortSignal,
    isRepeated = false,
  ): Promise<OperationResult> {
    return this.#life.during(signal, (either) =>
      perform({ ...this.#forCalls(), requestId, signal: either, isRepeated }, operation),
    )
  }

  #forCalls() {
    const [own, sent, requests] = [this.#own, this.#sent, this.#requests]
    const [archive, rooms, stream] = [this.#archive, this.#rooms, this.#stream]
    const [domain, ledger, outbox] = [this.#domain, this.#ledger, this.#outbox]
    this.#parts ??= {
      stream,
      history: new History({ own, archive, requests, rooms, ledger }),
      uploads: new HttpUploads({ ...this.#options, requests, domain }),
      places: new Places({ own, sent, archive, requests, outbox, rooms }),
    }
    return this.#parts
  }

  async probe(signal: AbortSignal): Promise<number> {
    const started = performance.now()
    await this.#life.during(signal, (either) => ping(this.#requests, this.#domain, either))
    return performance.now() - started
  }

  download(link: string, offset: number, signal: AbortSignal): Promise<FileStream> {
    return download(this.#options.agent, link, offset, this.#life.within(signal))
  }

  /** Only where nothing is under way that this process alone knows of; else the next session logs in. */
  async handOver(): Promise<void> {
    const isAtRest = this.#settledAt && this.#outbox.isIdle && this.#rooms.isAtRest
    if (!isAtRest || this.#life.isOver || !(await this.#stream.leave())) return
    // What is not stored is not counted: the server sends it to the next session.
    await Promise.all([this.#inbox.settled(), this.#rooms.settled()])
    await this.#ledger.settled()
    const stream = this.#settledAt && this.#stream.inheritance
    if (!stream) return
    const sent = this.#sent.newest(mostLeft)
    const text = leftText({ stream, hasArchive: this.#hasArchive, sent, rooms: this.#rooms.states })
    if (text !== undefined) await this.#save({}, text)
  }

  /** XMPP knows no sign-out beyond the end of the stream. */
  async close(): Promise<void> {
    await this.#life.close()
  }

  /** Makes sure that no later session uses what was left: the counters are right only once. */
  async #take(left: LeftSession | undefined): Promise<LeftSession['stream'] | undefined> {
    try {
      await this.#save({})
      return left?.stream
    } catch (err) {
      this.#options.logger.info({ account: this.#own, err }, 'a stream that was left is not used')
      return undefined
    }
  }

  /** The server goes on as if nothing had been: what it told the session before, it does not tell again. */
  #goOn({ hasArchive, sent, rooms }: LeftSession) {
    const { signal } = this.#binding
    this.#hasArchive = hasArchive
    this.#sent.restore(sent)
    this.#ledger.expectNoRepeats()
    this.#rooms.restore(rooms)
    this.#report.opened(this.#account.identity)
    this.#isOpened = true
    this.#rooms.goOn(signal).then(
      () => {
        this.#inbox.release(new Set())
        this.#settledAt = nowSeconds()
      },
      (cause) => {
        if (!signal.aborted) this.#end(cause)
      },
    )
  }

  #bind() {
    this.#isBound = true
    this.#settledAt = undefined
    this.#binding.abort()
    this.#binding = new AbortController()
    const { signal } = this.#binding
    this.#begin(signal).catch((cause) => {
      if (!signal.aborted) this.#end(cause)
    })
  }

  /**
   * Before the first presence the server sends no messages of its own accord, so the catch-up comes before, if there is
   * anything to catch up with. It runs once more after it, for what arrived in between; live messages wait until then. See
   * `settle` for what comes later.
   */
  async #begin(signal: AbortSignal): Promise<void> {
    const unconfirmed = this.#outbox.open
    const place = this.#ledger.checkpoint(this.#own)?.mam
    this.#rooms.left()
    await this.#inbox.hold()
    this.#ledger.expectRepeats()
    this.#hasArchive = await this.#catchUp.begin(signal)
    const wasHere = this.#isOpened || this.#account.checkpoint !== null
    if (!this.#isOpened) this.#report.opened(this.#account.identity)
    this.#isOpened = true
    if (!this.#hasArchive && wasHere) this.#report.skipped('unknown')
    if (this.#hasArchive && unconfirmed.length > 0 && place) {
      // A message that was archived before one that did arrive is not among those after the checkpoint.
      const earlier = await this.#archive.before(place, signal)
      for (const { message } of earlier) this.#outbox.found(message.attrs.id ?? '')
    }
    const isBehind = this.#hasArchive && this.#catchUp.isBehind
    const before = isBehind ? await this.#catchUp.run(signal) : []
    if (!(await enableCarbons(this.#requests, signal))) {
      this.#options.logger.warn({ account: this.#own }, 'the server does not tell of other devices')
    }
    const caughtUp = this.#ledger.checkpoint(this.#own)
    await this.#stream.sendWhenUp(xml('presence'), signal)
    const after = this.#hasArchive ? await this.#catchUp.run(signal) : []
    const toPeople = unconfirmed.filter(({ proof }) => proof === 'acknowledgement')
    if (this.#hasArchive) await this.#outbox.repeatMissing(toPeople, this.#archive, signal)
    else this.#outbox.abandon(toPeople)
    this.#inbox.release(new Set([...before, ...after]))
    const { settleMilliseconds } = this.#options
    const settling =
      this.#hasArchive && caughtUp && this.#catchUp.settle(caughtUp, settleMilliseconds, signal)
    const entering = this.#rooms.begin(signal, (room) => {
      this.#outbox.repeat(unconfirmed.filter(({ to }) => to === room.address))
    })
    await Promise.all([settling, entering])
    this.#settledAt = signal.aborted ? undefined : nowSeconds()
  }

  /** Messages of a room are not awaited: the room, or its archive, repeats them after an absence. */
  #receive(stanza: Element): Promise<void> | undefined {
    if (this.#requests.take(stanza) || this.#rooms.take(stanza)) return undefined
    if (!stanza.is('message') || this.#archive.take(stanza)) return undefined
    if (stanza.attrs.type === 'error') return this.#bounce(stanza)
    const { readUntil } = this.#catchUp
    const account = { own: this.#own, domain: this.#domain, archive: this.#hasArchive }
    const delivery = delivered(stanza, { ...account, readUntil, settledAt: this.#settledAt })
    if (!delivery || delivery.kept) return undefined
    if (this.#isNamedByArchive(delivery)) return this.#readFromArchive(delivery)
    return this.#inbox.push(delivery)
  }

  /** The account's other device gave it an id that it may use again, and only the archive has a better one. */
  #isNamedByArchive({ own, archived, message }: IncomingMessage): boolean {
    return own && archived === undefined && this.#hasArchive && !isRandom(message.attrs.id ?? '')
  }

  async #readFromArchive(delivery: IncomingMessage): Promise<void> {
    const fingerprint = fingerprintOf(delivery.message)
    try {
      const keys = await this.#catchUp.run(this.#binding.signal, false)
      if ([...keys].some((key) => key.endsWith(fingerprint))) return
    } catch (cause) {
      this.#options.logger.info({ err: cause }, 'the archive did not show a message of the account')
    }
    await this.#inbox.push(delivery)
  }

  /** A message that this session sent is in an archive, or has come back from its room. */
  #found({ archived, room, archive, named }: IncomingMessage, id: string) {
    const home = room && this.#rooms.find(archive)
    if (room && archived) this.#sent.place(id, archived)
    if (archived) home?.wrote(id, archived)
    else if (named) home?.called(id, named)
    this.#outbox.found(id)
  }

  #bounce(stanza: Element): undefined {
    const { id, from } = stanza.attrs
    const condition = conditionOf(stanza)
    if (id && this.#outbox.bounced(id, condition, from)) return
    this.#options.logger.warn({ id, from, condition }, 'a message came back')
  }

  /** Sends without waiting: the other side asks again for a lost receipt. */
  #whisper(stanza: Element) {
    this.#stream.send(stanza).catch((cause) => {
      this.#options.logger.info({ err: cause }, 'a receipt was not sent')
    })
  }

  /** Without it the next login takes longer, and nothing else. */
  #keepKey(salted: StoredKey) {
    this.#save({ salted }).catch((cause) => {
      this.#options.logger.info({ err: cause }, 'the key of an account was not stored')
    })
  }

  /** One after the other: the last is to stay. */
  #save(change: Partial<XmppSecrets>, left?: string): Promise<void> {
    this.#secrets = { ...this.#secrets, ...change }
    const stored = secretsJson(this.#secrets, left)
    const saved = this.#saving.then(() => this.#report.secrets(stored))
    this.#saving = saved.catch(() => undefined)
    return saved
  }

  async #release(cause: unknown): Promise<void> {
    this.#binding.abort()
    this.#outbox.abandon(this.#outbox.open, cause)
    await this.#stream.close()
  }

  #end(cause: unknown) {
    this.#life.end(endingOf(cause), cause)
  }
}
