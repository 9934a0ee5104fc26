/** The port to every messenger network: what a platform, a link attempt and a session promise. */
import type { SentWay } from '../../machines/link/events.ts'
import type { ContentName, Surface } from '../../machines/model/content.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Happening } from '../../machines/model/happening.ts'
import type {
  Operation,
  OperationKind,
  OperationOf,
  OperationResult,
} from '../../machines/model/operation.ts'
import type { Explanation, Json } from '../../machines/model/protocol.ts'
import type { LinkReason, Reason } from '../../machines/model/reason.ts'

/** The part of a handler's context that is the same on every network. */
export interface Request {
  /** Used as the network's client-side id if it has one, so that a repeated send makes one message. */
  readonly requestId: string
  readonly signal: AbortSignal
  /** Another session may have carried it out under this `requestId`. */
  readonly isRepeated?: boolean
}

/**
 * Carries out operations of one kind. `Context` is the network's own: the parts of its session, and usually `Request`.
 * Rejects with `RequestFailed`; `certain: false` when it may have happened all the same.
 */
type Handler<Context, Kind extends OperationKind> = (
  context: Context,
  operation: OperationOf<Kind>,
) => Promise<OperationResult>

/** An operation without an entry is unsupported. The keys are what `Capabilities.operations` lists. */
export type Handlers<Context> = {
  readonly [Kind in OperationKind]?: Handler<Context, Kind>
}

export const operationsOf = <Context>(handlers: Handlers<Context>) =>
  Object.keys(handlers) as OperationKind[]

/** The one place that finds the handler of an operation. Throws where the network, here called `name`, has none. */
export function handle<Context>(
  handlers: Handlers<Context>,
  name: string,
  context: Context,
  operation: Operation,
): Promise<OperationResult> {
  const { kind } = operation
  const handler = handlers[kind] as Handler<Context, OperationKind> | undefined
  if (!handler) throw failed('bad_request', `${kind} is not supported on ${name}`)
  return handler(context, operation)
}

export interface LinkField {
  readonly name: string
  readonly label: string
  readonly secret?: boolean
  readonly required: boolean
}

interface LinkMethod {
  /** `phone`, `password`, `token`, `qr`, `pairing_code`. */
  readonly method: string
  readonly fields: readonly LinkField[]
  /** An account may have a password, which is asked for in a step of its own. */
  readonly mayAskPassword?: boolean
}

/** No transfer of a file takes longer, however steadily its bytes move. Callers give up earlier if none move. */
export const LONGEST_TRANSFER_MS = 3_600_000

/** The account on its network. */
export interface AccountIdentity {
  /** Stable over links: linking the same account again yields the same value. */
  readonly native: string
  readonly firstName: string
  readonly lastName?: string
  readonly username?: string
  readonly phone?: string
}

export interface Capabilities {
  readonly operations: readonly OperationKind[]
  readonly surfaces: readonly Surface[]
  /** The kinds of content that a message may carry. */
  readonly content: readonly ContentName[]
  /** The network is the reference's own: as its bots reach it, or as people do. */
  readonly reference?: 'bots' | 'people'
  /** Calls are passed on, and updates may be of kinds that the bot API of this version does not have. */
  readonly passesThrough?: boolean
  /** Parameters of sending methods that are passed over here, since only looks depend on them. */
  readonly cosmetic?: readonly string[]
  /** Animations are GIF files: they are not made anything else. */
  readonly gifs?: boolean
  readonly buttons: boolean
  /** Buttons may also open apps, copy texts and the like. */
  readonly actionButtons?: boolean
  /** A message may bring a keyboard of its own for those who read it. */
  readonly replyKeyboards?: boolean
  /** A message may quote a part of the one it answers, and answer one of another chat. */
  readonly quotes?: boolean
  /** Tasks of checklists and options of polls can be answered. */
  readonly answersParts?: boolean
  /** Takes file_ids of the network's own, which other programs of the account have. */
  readonly ownFileIds?: boolean
  /** A message may come with an effect that plays once. */
  readonly effects?: boolean
  /** A poll may have a text beside its question. */
  readonly pollDescriptions?: boolean
  readonly entities: readonly string[]
  /** Update kinds of the bot API that this platform can produce. */
  readonly updates: readonly string[]
  readonly limits: {
    readonly textLength: number
    readonly captionLength?: number
    /** Seconds after sending during which an edit or a delete for all is possible; absent: no limit. */
    readonly editWindowSeconds?: number
    readonly deleteWindowSeconds?: number
    readonly fileBytes?: number
  }
}

export interface Platform {
  /** The name in paths: `sandbox`, `xmpp`. */
  readonly id: string
  readonly name: string
  /** Why it cannot be used now (missing configuration); absent when it can. */
  readonly unavailable?: string
  readonly linkMethods: readonly LinkMethod[]
  readonly capabilities: Capabilities
  /** `integer`: native ids already are the reference's integers in decimal; `mapped`: the core gives integers. */
  readonly ids: 'integer' | 'mapped'
  /**
   * What two sessions of one account at once do to each other. `exclusive`: the network ends the account's link for
   * good. `displacing`: the newer one puts the older one out. `shared`: nothing.
   */
  readonly sessions: 'exclusive' | 'displacing' | 'shared'
  /**
   * What a send with the id of an earlier one does. `idempotent`: it gives that one's message. `findable`: the network
   * would take it for another one, so for a repeated send the session finds out whether the first arrived; it
   * gives that one's message, sends it if it did not arrive, or rejects with `certain: false` if that cannot be known.
   * `blind`: it sends another one.
   */
  readonly sends: 'idempotent' | 'findable' | 'blind'
  /**
   * Begins a link for `user`; `fields` are those of the method. Rejects with `RequestFailed` on unusable fields. The
   * user matters for networks that are separate for each user, such as the sandbox. `assertMeant` throws for the native
   * id of any account but the one that is linked again: a link that changes something of the account asks it before.
   */
  startLink(
    method: string,
    fields: Readonly<Record<string, string>>,
    signal: AbortSignal,
    user?: number,
    assertMeant?: (native: string) => void,
  ): Promise<LinkAttempt>
  /** Goes on in another process with what a step stored. */
  resumeLink(stored: Json, signal: AbortSignal): Promise<LinkAttempt>
  /** Opens a session; never throws: how it goes is reported. Ends when `signal` aborts. */
  open(account: LinkedAccount, report: SessionReport, signal: AbortSignal): Session
  /**
   * Ends a session that nobody uses any more, by the secrets of its link. Resolves once it has ended, also where it had
   * before; rejects where it may still stand. Absent where a link is no session of its own, but a token or a password.
   */
  signOut?(secrets: Json, permit: WritePermit, signal: AbortSignal): Promise<void>
}

export type LinkAnswer =
  | { readonly kind: 'code'; readonly code: string }
  | { readonly kind: 'password'; readonly password: string }
  | { readonly kind: 'resend' }

/** `stored`: enough to go on in another process, or null where the network demands this live connection. */
export type LinkStep =
  | {
      readonly kind: 'code'
      readonly length?: number
      /** How it was sent, in words a user understands. */
      readonly sentVia: string
      readonly way?: SentWay
      readonly resendAfterSeconds?: number
      readonly expiresInSeconds?: number
      readonly stored: Json
      /** The answer before was wrong; the same step stands. */
      readonly wrong?: boolean
    }
  | {
      readonly kind: 'password'
      readonly hint?: string
      readonly stored: Json
      readonly wrong?: boolean
    }
  | {
      readonly kind: 'show'
      readonly form: 'qr' | 'pairing_code'
      readonly value: string
      readonly expiresInSeconds: number
      readonly stored: Json
    }
  | { readonly kind: 'done'; readonly account: AccountIdentity; readonly secrets: Json }
  | {
      readonly kind: 'refused'
      readonly reason: LinkReason
      readonly description: string
      /** Says why more exactly than `reason`. */
      readonly why?: Explanation
      readonly retryAfterSeconds?: number
    }

export interface LinkAttempt {
  /** The step to show first. */
  readonly step: LinkStep
  /** Gives the user's answer and resolves with the step that follows. Rejects with `RequestFailed`. */
  answer(answer: LinkAnswer, signal: AbortSignal): Promise<LinkStep>
  /** After a `show` step: resolves once the user acted elsewhere or what is shown has changed. */
  changed(signal: AbortSignal): Promise<LinkStep>
  /**
   * Closes connections; does not undo a finished link. `signOut`: the flow is over without one, so what the network has
   * signed in all the same is signed out before; rejects where it may stand. Not for longer than some seconds.
   */
  close(options?: { readonly signOut: boolean }): Promise<void>
}

/** Whether this node may speak for an account. It is asked at each write, because the process may have stood still. */
export interface WritePermit {
  readonly isValid: boolean
  /** Resolves once the node may speak again; rejects once this session never may. */
  valid(): Promise<void>
  /** Calls back once this session never may again; at once if that has happened already. */
  onEnd(listener: () => void): void
}

/** The same write behind its permit: it waits while the node is in doubt. Rejects once the session may never speak again. */
export const permitted =
  <Args extends readonly unknown[], Result>(
    permit: WritePermit,
    write: (...args: Args) => Promise<Result>,
  ): ((...args: Args) => Promise<Result>) =>
  async (...args) => {
    if (!permit.isValid) await permit.valid()
    return write(...args)
  }

/** The input of `open`: the account, its decrypted secrets, and how far its events are stored. */
export interface LinkedAccount {
  readonly credentialId: number
  /** The epoch of the owner that opens the session: it fences everything that the platform writes for the account. */
  readonly epoch: number
  readonly identity: AccountIdentity
  readonly secrets: Json
  /** The checkpoint of the last committed events; null on the first start. */
  readonly checkpoint: Json
  /** Asked before everything that the session writes to the network. Absent: there is no other node. */
  readonly permit?: WritePermit
  /** Whether to fetch missed channel posts after a gap. Ask each time, because the user may change it at any time. */
  recoversChannels(): boolean
}

/** A session reports; it does not throw. Every call returns at once, but the two that store. */
export interface SessionReport {
  /**
   * `latencyMs`: of an answer of the network that came just now over the open connection, so that no probe has to show that the
   * account works.
   */
  opened(identity: AccountIdentity, latencyMs?: number): void
  /** Transient: the credential reconnects with backoff. The session is over. */
  lost(reason: Reason, retryAfterSeconds?: number): void
  /** The network restricts the account for a time; the session goes on. */
  limited(reason: Reason, seconds: number): void
  /** Another client took the session. The session is over; do not take it back. */
  replaced(): void
  /**
   * Signed out elsewhere: linking again helps. The session is over. `mayPass`: the network may say so also while something
   * of its own is out of order, so it is asked once more before that is believed.
   */
  revoked(reason: Reason, mayPass?: boolean): void
  /** Banned, deleted, secrets unreadable: linking again does not help. The session is over. */
  invalid(reason: Reason): void
  /**
   * Some events are lost: messages, or changes of messages. The operator is notified; the session goes on. `unknown`:
   * the network cannot say whether anything is missing.
   */
  skipped(what: 'messages' | 'changes' | 'unknown'): void
  /**
   * The network does not keep the account's rooms for its other devices. The operator is notified; nothing else
   * changes.
   */
  unshared(): void
  /** One update cannot be shown here; `kind` is the network's word for it: letters and underscores. */
  passedOver(kind: string): void
  /** Keys or tokens moved on: resolves once stored; only then may the network be answered. */
  secrets(changed: Json): Promise<void>
  /**
   * Resolves once committed; only then may the session acknowledge to the network. In the network's order within
   * one chat; may repeat what was reported before, may never skip. `checkpoint` covers all events up to here.
   * Rejects when they could not be stored: the session ends, and the next one starts from the stored checkpoint.
   */
  events(happenings: readonly Happening[], checkpoint: Json): Promise<void>
}

export interface Session {
  /**
   * Carries out one operation. `requestId` becomes the network's own client-side id where there is one, so that a
   * repeated send is one message. Rejects with `RequestFailed`; `certain: false` when it may have happened all the same.
   * `isRepeated`: another session may have carried it out under this id, see `Platform.sends`.
   */
  perform(
    operation: Operation,
    requestId: string,
    signal: AbortSignal,
    isRepeated?: boolean,
  ): Promise<OperationResult>
  /** A real round trip; resolves with its latency in milliseconds, rejects when the network does not answer. */
  probe(signal: AbortSignal): Promise<number>
  /** The bytes of a native file from `offset` on. */
  download(file: string, offset: number, signal: AbortSignal): Promise<FileStream>
  /**
   * Only where calls are passed on: the answer of the network for a file at a path that it gave out. `headers` are those of
   * the request that the network may heed. Rejects with `RequestFailed`.
   */
  passFile?(
    path: string,
    request: {
      readonly method: 'GET' | 'HEAD'
      readonly headers: Readonly<Record<string, string>>
    },
    signal: AbortSignal,
  ): Promise<PassedFile>
  /**
   * Before `close`, where another process opens the next session: stores with the secrets what that one needs to go on where
   * this one stops, and leaves the network without a word. From then on it reports no events. Where it cannot, nothing
   * happens, and the next session begins as after any end.
   */
  handOver?(): Promise<void>
  /**
   * `signOut` also ends the account's session on the network. `confirmed` is called once the network has ended it, where
   * the platform has `signOut`.
   */
  close(options: { readonly signOut: boolean; confirmed?(): void }): Promise<void>
}

export interface PassedFile {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Has to be read to its end or destroyed. */
  readonly body: AsyncIterable<Uint8Array> & { destroy(): unknown }
}

export interface FileStream {
  readonly stream: ReadableStream<Uint8Array>
  readonly size?: number
  /** The name that its sender gave it; shown to people, never used as a path. */
  readonly name?: string
}

/** A session that could not begin. It reports its end after `open` has returned, as all reports come. */
export function refusingSession(description: string, report: () => void): Session {
  queueMicrotask(report)
  const refuse = () => Promise.reject(failed('unavailable', description))
  return { perform: refuse, probe: refuse, download: refuse, close: async () => undefined }
}

interface Unavailability {
  /** For users, who cannot change it. */
  readonly description: string
  /** How each session of its accounts is reported. */
  lost(report: SessionReport): void
}

/** Its accounts wait and can be deleted; nothing can be linked. */
export function unavailablePlatform(
  facts: Pick<
    Platform,
    'id' | 'name' | 'ids' | 'sessions' | 'sends' | 'capabilities' | 'linkMethods'
  >,
  { description, lost }: Unavailability,
): Platform {
  const refuse = () => Promise.reject(failed('unavailable', description))
  return {
    ...facts,
    unavailable: description,
    startLink: refuse,
    resumeLink: refuse,
    open: (_, report) => refusingSession(description, () => lost(report)),
    // What is deleted meanwhile is signed out once the platform is available again.
    signOut: refuse,
  }
}
