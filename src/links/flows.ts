/** Link flows of users: begun on a platform, found again by their session id or the token of their page, one actor each. */

import { randomBytes } from 'node:crypto'
import { ActorRegistry } from '../../actors/host/actor.ts'
import { Supervision } from '../../actors/host/host.ts'
import { within } from '../../actors/host/time.ts'
import { activateLink, type LinkActor } from '../../actors/link/actor.ts'
import type { LinkAttempt, LinkStep, Platform, WritePermit } from '../../actors/ports/platform.ts'
import {
  type Clock,
  type LinkFacts,
  type Logger,
  type Platforms,
  shownStep,
} from '../../actors/ports/ports.ts'
import { OPEN_STATES, type ShownStep } from '../../machines/link/events.ts'
import { failed, LinkRefused, RequestFailed, readBack } from '../../machines/model/failure.ts'
import type { Json } from '../../machines/model/protocol.ts'
import { noteIn } from '../audit/log.ts'
import type { Database } from '../database/database.ts'
import { databaseNow, LinkPage, LinkSession } from '../database/entities.ts'
import { maskAddress, maskPhone } from '../security/redact.ts'
import { hashSecret, isToken, newToken } from '../security/secrets.ts'
import type { LinkGate } from './limits.ts'
import type { NewLink, OpenLink, PostgresLinkStore, StoredLink } from './store.ts'

type DoneStep = Extract<LinkStep, { kind: 'done' }>

const LIVES_MS = 900_000
const ATTEMPTS = 5

interface LinkFlowsOptions {
  readonly store: PostgresLinkStore
  readonly platforms: Platforms
  readonly clock: Clock
  readonly logger: Logger
  readonly answerTakes: number
  readonly gate: LinkGate
  /** An actor crashed; `kind` says of which kind. */
  onCrash?(kind: string): void
}

export interface LinkFlow {
  readonly link: StoredLink
  /** The network may ask for a password after the code. */
  readonly mayAskPassword: boolean
  readonly actor: LinkActor
}

interface LinkRequest {
  readonly userId: number
  readonly platform: string
  readonly method: string
  readonly fields: Readonly<Record<string, string>>
  readonly relinks: number | undefined
}

export class LinkFlows {
  readonly #options: LinkFlowsOptions
  readonly #actors: ActorRegistry<string, LinkActor>
  readonly #links = new WeakMap<LinkActor, StoredLink>()
  /** Attempts this process began, until their actor takes them over. */
  readonly #begun = new Map<string, LinkAttempt>()
  #ending: Promise<void> | undefined

  constructor(options: LinkFlowsOptions) {
    this.#options = options
    this.#actors = new ActorRegistry(
      (sessionId) => this.#activate(sessionId),
      new Supervision({ kind: 'link', ...options }),
    )
  }

  /** Rejects with what the platform has against it; nothing is stored then. */
  async start(request: LinkRequest): Promise<LinkFlow> {
    const { answerTakes, store } = this.#options
    const { relinks, method, fields, userId } = request
    const platform = this.platform(request.platform)
    if (platform.unavailable) throw failed('bad_request', platform.unavailable)
    const target = await this.#options.gate.start(request)
    const assertMeant = relinks === undefined ? undefined : await store.onlyFor(relinks)
    const attempt = await within(answerTakes, undefined, (signal) =>
      platform.startLink(method, fields, signal, userId, assertMeant),
    )
    try {
      return await this.#begin(request, target, attempt)
    } catch (cause) {
      await attempt.close()
      throw cause
    }
  }

  async #begin(
    request: LinkRequest,
    target: string | undefined,
    attempt: LinkAttempt,
  ): Promise<LinkFlow> {
    const { store, clock } = this.#options
    const step = refuseAtOnce(attempt.step)
    const sessionId = randomBytes(16).toString('base64url')
    const link = {
      sessionId,
      userId: request.userId,
      platform: request.platform,
      method: request.method,
      relinks: request.relinks,
      target,
      step:
        step.kind === 'done'
          ? undefined
          : { ...shownStep(step, clock.now()), ...hiddenAccount(request.fields) },
      stored: step.kind === 'done' ? null : step.stored,
      attemptsLeft: ATTEMPTS,
      expiresAt: clock.now() + LIVES_MS,
    }
    if (step.kind === 'done') {
      await this.#finishAtOnce(link, step)
      await attempt.close()
    } else {
      await store.create(link)
      this.#begun.set(sessionId, attempt)
    }
    try {
      return await readBack(this.find(sessionId, request.userId))
    } finally {
      // No actor takes it over any more: the caller closes it.
      this.#begun.delete(sessionId)
    }
  }

  async #finishAtOnce(link: NewLink, { account, secrets }: DoneStep): Promise<void> {
    const { store, logger } = this.#options
    try {
      await store.create(link)
      await store.finish(link.sessionId, account, secrets)
    } catch (cause) {
      // A refused one is kept to be signed out.
      if (!(cause instanceof LinkRefused)) {
        const leave = async () => {
          if (await store.claimLeft(link.sessionId)) await this.#signOut(link, secrets)
        }
        await leave().catch((err) =>
          logger.warn({ err }, 'a link that failed may have left a session signed in'),
        )
      }
      throw cause
    }
  }

  /** Ends a session that the network has opened and that no account can get: it is claimed. */
  async #signOut(link: Pick<NewLink, 'platform'>, secrets: Json): Promise<void> {
    const platform = this.platform(link.platform)
    await within(SIGN_OUT_MS, undefined, async (signal) =>
      platform.signOut?.(secrets, always, signal),
    )
  }

  /** Rejects with `not_found`, also for another user's flow. */
  async find(sessionId: string, userId: number): Promise<LinkFlow> {
    const actor = await this.#actors.find(sessionId)
    const link = this.#links.get(actor)
    if (link?.userId !== userId) throw failed('not_found')
    const { linkMethods } = this.platform(link.platform)
    const { mayAskPassword = false } =
      linkMethods.find(({ method }) => method === link.method) ?? {}
    return { link, actor, mayAskPassword }
  }

  /** Takes a flow from a node that has ended, unless another node is faster. */
  async adopt(sessionId: string, from: number | null): Promise<void> {
    const node = await this.#options.store.adopt(sessionId, from)
    const actor = this.#actors.peek(sessionId)
    const link = actor && this.#links.get(actor)
    if (node === undefined || !link) return
    // This process had it under its number before, and nobody since.
    if (link.node === from) this.#links.set(actor, { ...link, node })
    else {
      actor.stop()
      await actor.closed
    }
  }

  /** The open links of this user, newest first. */
  open(...wanted: Parameters<PostgresLinkStore['open']>): Promise<OpenLink[]> {
    return this.#options.store.open(...wanted)
  }

  /** Cancels what this user has under way here, or had at a node that has ended. */
  async endAll(userId: number): Promise<void> {
    const { store } = this.#options
    await this.#endLeft(async () => {
      const left = await store.leftOf(userId)
      // An actor that began with an open flow would go on with it, and may link it.
      for (const { sessionId, attemptsLeft } of left) {
        await store.saveEnd(sessionId, 'cancelled', attemptsLeft)
      }
      return left
    })
    // An actor stays until it has signed out: a second one would ask the network beside it.
    await Promise.all(
      this.#actorsOf(userId).map((actor) =>
        actor.ask({ type: 'link.cancel' }).catch(unlessRefused),
      ),
    )
  }

  /** Resolves once the sessions of this user's flows that have ended here are signed out, or could not be. */
  async signedOut(userId: number): Promise<void> {
    await Promise.all(this.#actorsOf(userId).map(({ effects }) => effects.leaving))
  }

  onErased(listener: (userId: number) => void): void {
    this.#options.store.onErased(listener)
  }

  #actorsOf(userId: number): LinkActor[] {
    const actors = [...this.#actors.live()].map(([, actor]) => actor)
    return actors.filter((actor) => this.#links.get(actor)?.userId === userId)
  }

  platform(id: string): Platform {
    const platform = this.#options.platforms.get(id)
    if (!platform) throw failed('not_found')
    return platform
  }

  passivate(idleMilliseconds: number): void {
    this.#actors.passivate(idleMilliseconds)
  }

  /** Ends flows that nobody was there to end, and has sessions signed out for which nobody had the time. Never rejects. */
  endLeft(): Promise<void> {
    this.#ending ??= this.#endLeft(() => this.#options.store.leftOverdue()).finally(() => {
      this.#ending = undefined
    })
    return this.#ending
  }

  async #endLeft(look: () => Promise<Pick<StoredLink, 'sessionId' | 'platform'>[]>): Promise<void> {
    const { platforms, logger } = this.#options
    const failures: unknown[] = []
    try {
      for (const { sessionId, platform } of await look()) {
        if (platforms.get(platform)?.unavailable) continue
        // Its actor does it as it begins. Another node may have been faster.
        await this.#actors.find(sessionId).catch((err) => {
          if (!(err instanceof RequestFailed)) failures.push(err)
        })
      }
    } catch (err) {
      failures.push(err)
    }
    const [err] = failures
    if (failures.length > 0) logger.warn({ err, failures: failures.length }, UNENDED)
  }

  stop(): Promise<void> {
    return this.#actors.stop()
  }

  async #activate(sessionId: string): Promise<LinkActor> {
    const stored = await this.#options.store.load(sessionId)
    if (!stored) throw failed('not_found')
    const node = await this.#take(stored)
    const live = this.#begun.get(sessionId)
    this.#begun.delete(sessionId)
    if (stored.isUnreadable && !live) await this.#giveUp(stored)
    const link = { ...(live ? stored : { ...stored, ...resumable(stored) }), node }
    const platform = this.platform(link.platform)
    const admitResend = () => this.#options.gate.resend(link)
    const signOut = (secrets: Json) => this.#signOut(link, secrets)
    const actor = activateLink(link, live, { ...this.#options, platform, admitResend, signOut })
    this.#links.set(actor, link)
    return actor
  }

  /**
   * An open flow is one node's. A request for it may come here where nodes do not forward requests. Resolves with the number
   * of the node that has it.
   */
  async #take({ sessionId, state, node }: StoredLink): Promise<number | null> {
    const { store } = this.#options
    if (!OPEN_STATES.includes(state) || store.isOwn(node)) return node
    const adopted = await store.adopt(sessionId, node)
    if (adopted !== undefined) return adopted
    throw failed('unavailable', 'the link session is at another node', { retryAfterSeconds: 1 })
  }

  /** It is looked for no more. */
  async #giveUp({ sessionId, attemptsLeft }: StoredLink): Promise<void> {
    const { store } = this.#options
    await store.saveEnd(sessionId, 'expired', attemptsLeft)
    await store.saveLeft(sessionId)
  }
}

/** A flow that only its first process could continue ends in any other process. */
export function resumable(facts: LinkFacts): LinkFacts {
  const isLost = OPEN_STATES.includes(facts.state) && facts.stored === null
  return isLost ? { ...facts, state: 'expired' } : facts
}

const SIGN_OUT_MS = 5_000
const UNENDED = 'a link flow that nobody has ended may have left a session signed in'

const always: WritePermit = { isValid: true, valid: async () => {}, onEnd: () => undefined }

/** The first step of a flow; a network that refuses at once is a refusal of the request. */
function refuseAtOnce(step: LinkStep): Exclude<LinkStep, { kind: 'refused' }> {
  if (step.kind !== 'refused') return step
  const { reason, description, retryAfterSeconds, why } = step
  const more = { reason, ...why }
  if (retryAfterSeconds === undefined) throw failed('bad_request', description, more)
  // A rate limit of the network is refused differently from an unavailable network.
  if (reason === 'flood_wait') throw failed('rate_limited', '', { retryAfterSeconds })
  throw failed('unavailable', description, { retryAfterSeconds, ...more })
}

/** The account that the fields of a link name, as anybody may see it. */
function hiddenAccount({ phone, jid }: LinkRequest['fields']): Pick<ShownStep, 'phone' | 'jid'> {
  return {
    ...(phone !== undefined && { phone: maskPhone(`+${phone.replace(/\D/g, '')}`) }),
    ...(jid !== undefined && { jid: maskAddress(jid) }),
  }
}

/** A flow that is over already has nothing to cancel. */
const unlessRefused = (cause: unknown): void => {
  if (!(cause instanceof RequestFailed)) throw cause
}

interface PagePlace {
  readonly sessionId: string
  readonly userId: number
}

export class LinkPages {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  /** The token is in this answer and nowhere else; a flow's earlier one opens nothing any more. */
  async create(sessionId: string): Promise<string> {
    const token = newToken('lnk')
    const page = { sessionId, hash: hashSecret(token), createdAt: databaseNow() }
    await this.#db.records((em) =>
      em.transactional(async (tx) => {
        await tx.upsert(LinkPage, page)
        await noteIn(tx)
      }),
    )
    return token
  }

  /** Rejects with `not_found` for every wrong token. */
  async find(token: string): Promise<PagePlace> {
    if (!isToken('lnk', token)) throw failed('not_found')
    const hash = hashSecret(token)
    const link = await this.#db.records(async (em) => {
      const page = await em.findOne(LinkPage, { hash })
      const live = page && { id: page.sessionId, expiresAt: { $gt: databaseNow() } }
      return live && em.findOne(LinkSession, live, { fields: ['userId'] })
    })
    if (!link) throw failed('not_found')
    return { sessionId: link.id, userId: link.userId }
  }
}
