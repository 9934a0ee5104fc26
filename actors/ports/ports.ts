/** The ports of actors besides the platform. `src/` implements them; `actors/` only knows the shape. */

import type { KeyTerms, Poll } from '../../machines/api-key/events.ts'
import type { LinkState, ShownStep } from '../../machines/link/events.ts'
import type { Happening, ReceiveSettings } from '../../machines/model/happening.ts'
import type { Operation, OperationResult, PublicOperation } from '../../machines/model/operation.ts'
import type { Json } from '../../machines/model/protocol.ts'
import type { LinkReason, Reason } from '../../machines/model/reason.ts'
import type { Filter } from '../../machines/model/update-kinds.ts'
import type { WebhookFacts } from '../../machines/webhook/terms.ts'
import type { AccountIdentity, LinkedAccount, LinkStep, Platform } from './platform.ts'

export interface Logger {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
  error(facts: object, text: string): void
}

/** Milliseconds since 1970, and timers; XState's `SimulatedClock` fits in tests. */
export interface Clock {
  /** Milliseconds since 1970. Whoever sets the time of the machine makes it jump. */
  now(): number
  /** Milliseconds that go on evenly, as those of timers do. */
  steadyNow(): number
  setTimeout(work: () => void, milliseconds: number): unknown
  clearTimeout(timer: unknown): void
}

/** A credential and its owner's epoch. A write for it counts only if no other node has claimed it since. */
export interface Owned {
  readonly credentialId: number
  readonly epoch: number
}

/** A credential that another node has claimed since. */
export interface LostCredential extends Owned {
  /**
   * It was linked again or deleted: nobody else uses the session of its former owner, which ends it on the network.
   * Absent where that was not asked yet.
   */
  readonly signsOut?: boolean
}

/** A key whose credential one owner holds: a key has no epoch of its own. */
export interface OwnedKey extends Owned {
  readonly apiKeyId: number
}

/** The stored state of a credential when its actor begins. */
export interface CredentialFacts extends Owned {
  readonly userId: number
  readonly platform: string
  readonly state: string
  readonly reason: Reason | undefined
  readonly settings: ReceiveSettings
  readonly limitedUntil: number | undefined
  /** When the state began, of one that outlasts a restart of the service. */
  readonly stateSince?: number | undefined
  /** The node that had it before, or this one before its restart; absent if no node had it. */
  readonly former?: FormerOwner
}

interface FormerOwner {
  readonly name: string
  /** Whether it gave the account away. Otherwise it ended with it. */
  readonly hasReleased: boolean
}

/** One line of a credential's timeline. */
export interface Transition extends Owned {
  readonly at: number
  readonly from: string
  readonly to: string
  readonly event: string
  readonly reason: Reason | undefined
  readonly durationMs: number
  readonly publicState: string
  readonly action: string
  readonly limitedUntil: number | undefined
  /** The same line was there before in this loop of reconnects. */
  readonly isRepeat?: true
}

/** `link` is the number of the link that it is of: secrets of an earlier one do not replace those of a later one. */
export interface StoredAccount extends Omit<LinkedAccount, 'recoversChannels'> {
  readonly link: number
}

/** No write changes anything for a credential that another node has claimed since. */
export interface CredentialStore {
  /** Takes ownership: increments the epoch, which fences earlier owners. Undefined if there is no such credential. */
  claim(credentialId: number): Promise<CredentialFacts | undefined>
  /** The account with its secrets decrypted, read anew for every session. */
  account(credentialId: number): Promise<StoredAccount>
  saveSecrets(owned: Owned, link: number, secrets: Json): Promise<void>
  saveIdentity(owned: Owned, identity: AccountIdentity): Promise<void>
  /** From here on the credential is gone for its user; the next owner completes the deletion. */
  saveDeletion(owned: Owned): Promise<void>
  /** The given credentials that another node has claimed since, and whether their sessions here are to be signed out. */
  fenced(owned: readonly Owned[]): Promise<readonly LostCredential[]>
  /**
   * Wipes secrets and revokes keys; what was cut short is done again. `isLeft`: its session may still be signed in on the
   * network, and is signed out later.
   */
  deactivate(owned: Owned, isLeft: boolean): Promise<void>
  /** The network has ended the session of a replaced link: nothing has to sign it out any more. */
  signedOut(credentialId: number, link: number): Promise<void>
  /** Buffered; a crash may lose the newest lines, never their order. */
  record(transition: Transition): void
  /** Receives all reports of a session, before the settings filter them. */
  noteEvents(credentialId: number, happenings: readonly Happening[]): void
  /** Remembers what a probe or an event showed; buffered. */
  noteHealth(owned: Owned, health: { latencyMs?: number; healthy: boolean; at: number }): void
}

/** Whether the database takes writes. */
export interface Storage {
  /**
   * Resolves when a failed write may be tried again: after at most this many milliseconds, but not while the database
   * takes no writes.
   */
  recovered(atMostMs: number): Promise<void>
}

export type Appended =
  | { readonly stored: true; readonly count: number }
  /** Another owner moved the epoch on: the actor must stop. */
  | { readonly stored: false }

export interface UpdateLog {
  /** Opens the log of a credential, unless it is open with this epoch already. Rejects with `not_found`. */
  open(credentialId: number, epoch?: number): Promise<void>
  /**
   * Stores a batch with its ids, mappings and checkpoint in one commit; resolves once committed. Repeated events are
   * dropped by their source key. `apiKeyId` marks what a key sent itself, so that the key does not hear its own echo.
   * Rejects with `EventsUnstorable` where another try, or another database, would not help.
   */
  append(batch: {
    readonly credentialId: number
    readonly epoch: number
    readonly happenings: readonly Happening[]
    readonly checkpoint?: Json
    readonly apiKeyId?: number
    readonly traceId?: string
  }): Promise<Appended>
  /** The id of the next update. Throws `unavailable` for a log that is not open. */
  next(credentialId: number): number
  /** At once where memory has it. Keys with the same page may get the same object. */
  read(credentialId: number, apiKeyId: number, poll: Poll): ReadUpdates | Promise<ReadUpdates>
  /** Calls back once something newer than `after` is committed; returns how to stop listening. */
  listen(credentialId: number, after: number, notify: () => void): () => void
}

export interface ReadUpdates {
  readonly json: string
  readonly count: number
  readonly cursor: number
  readonly head: number
}

/** Between the integers of the bot API and a network's native ids. */
export interface Identities {
  /** The network's id of the account itself: what it writes is shown as written by a bot, as getMe shows it. */
  identified(credentialId: number, native: string): void
  /** Rejects with `chat not found` and its kind where an integer stands for nothing. */
  toNative(
    credentialId: number,
    operation: PublicOperation,
    resolve: (name: string) => Promise<OperationResult>,
  ): Promise<Operation>
  /**
   * The bot API's JSON of a result; the ids it introduces are stored before it resolves. `isSent`: its messages are most
   * likely new. Rejects with `OwnershipLost` where ids may not be stored.
   */
  present(owned: Owned, result: OperationResult, isSent: boolean): Promise<Json>
}

/** Which calls or attempts of a key are kept with their contents. */
export type Keeps = 'none' | 'failed' | 'all'

export interface KeyFacts extends OwnedKey {
  readonly userId: number
  readonly terms: KeyTerms
  readonly revoked: boolean
  readonly cursor: number
  readonly filter: Filter
  readonly webhook: WebhookFacts | undefined
  /**
   * SHA-256 of the secrets that open this key, in base64: a small buffer would keep the large one alive that it was cut
   * from. An old one opens only until its time, in milliseconds.
   */
  readonly secrets: readonly { readonly hash: string; readonly until: number | undefined }[]
  /** Which calls are kept with their parameters and answers; absent: none. */
  readonly keepsCalls?: Keeps
  /** Whether the key may be used from an address; absent: from anywhere. */
  readonly opensFrom?: ((address: string) => boolean) | undefined
}

export interface KeyPosition {
  readonly cursor: number
  /** Undefined if it is what was saved before. */
  readonly changedFilter?: Filter | undefined
  /** When the key last polled, in milliseconds; undefined if it has not, as far as its actor knows. */
  readonly polledAt?: number | undefined
}

export interface KeyStore {
  load(apiKeyId: number): Promise<KeyFacts | undefined>
  /** Buffered, at most 100 ms behind; a crash repeats updates and loses none. */
  saveCursor(key: OwnedKey, position: KeyPosition): void
  /** Resolves once what was saved of the key is stored; rejects where the database does not take it now. */
  stored(apiKeyId: number): Promise<void>
}

export type Platforms = ReadonlyMap<string, Platform>

/** The stored state that a flow of linking begins with. */
export interface LinkFacts {
  readonly sessionId: string
  readonly platform: string
  readonly state: LinkState
  readonly step: ShownStep | undefined
  /** Another process resumes the flow from this; null where the network demanded a live connection. */
  readonly stored: Json
  readonly attemptsLeft: number
  readonly expiresAt: number
  readonly credentialId: number | undefined
  readonly reason: LinkReason | undefined
}

export interface LinkStore {
  saveStep(sessionId: string, step: ShownStep, stored: Json): Promise<void>
  /** Resolves with whether the flow is this node's and was open, or its session is still to be signed out. */
  saveEnd(
    sessionId: string,
    state: LinkState,
    attemptsLeft: number,
    reason?: LinkReason,
  ): Promise<boolean>
  /** Resolves with whether the session of a flow that is over is this node's to sign out: no account can get it any more. */
  claimLeft(sessionId: string): Promise<boolean>
  /** The session of a flow that is over is signed out, or never was: nobody has to resume it any more. */
  saveLeft(sessionId: string): Promise<void>
  /**
   * Creates or revives the credential with its secrets in one commit, and starts its actor. Rejects with `LinkRefused`
   * where it is another account than was to be linked again.
   */
  finish(sessionId: string, account: AccountIdentity, secrets: Json): Promise<number>
}

/** The part of a step that its user may see. */
export function shownStep(
  step: Exclude<LinkStep, { kind: 'done' | 'refused' }>,
  now: number,
): ShownStep {
  switch (step.kind) {
    case 'code':
      return {
        state: 'code_sent',
        sentVia: step.sentVia,
        ...(step.way && { way: step.way }),
        ...(step.length !== undefined && { codeLength: step.length }),
        ...(step.resendAfterSeconds !== undefined && {
          resendAt: now + step.resendAfterSeconds * 1000,
        }),
        ...(step.expiresInSeconds !== undefined && {
          codeUntil: now + step.expiresInSeconds * 1000,
        }),
      }
    case 'password':
      return {
        state: 'password_needed',
        ...(step.hint !== undefined && { passwordHint: step.hint }),
      }
    case 'show': {
      const { form, value, expiresInSeconds } = step
      return { state: 'waiting', show: { form, value, until: now + expiresInSeconds * 1000 } }
    }
  }
}

/** What a flow of linking needs of the service. */
export interface LinkWorld {
  readonly platform: Platform
  readonly store: LinkStore
  readonly clock: Clock
  readonly logger: Logger
  /** Milliseconds an answer may take on the network. */
  readonly answerTakes: number
  /** Ends a session that nobody has, for some seconds at most. */
  signOut(secrets: Json): Promise<void>
  /** Rejects when codes were sent too often. */
  admitResend(): Promise<void>
}
