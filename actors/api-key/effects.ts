/** What an API key's actor does to the world: reading the log for its polls, waiting for the log to grow. */
import type { ApiKeyEvent, ChangeWebhook, Poll } from '../../machines/api-key/events.ts'
import type { ApiKeyContext, HeldPoll } from '../../machines/api-key/setup.ts'
import { settle } from '../../machines/model/failure.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import type { Filter } from '../../machines/model/update-kinds.ts'
import type { KeyFacts, KeyStore } from '../ports/ports.ts'
import { KeyWebhook, type KeyWebhookWorld } from './webhook.ts'

export interface EffectsWorld extends KeyWebhookWorld {
  readonly keys: KeyStore
  /** Why nothing comes for the account any more; undefined for one that works, or may soon. */
  whyOut?(credentialId: number): Failure | undefined
}

type Facts = Pick<KeyFacts, 'apiKeyId' | 'userId' | 'credentialId' | 'epoch'>

interface KeyActor {
  send(event: ApiKeyEvent): void
  getSnapshot(): { readonly context: ApiKeyContext }
}

/** A moment of patience lets a burst leave in one answer. */
const BURST_MS = 1

export class ApiKeyEffects {
  readonly #facts: Facts
  readonly #world: EffectsWorld
  readonly #actor: KeyActor
  /** The one that the store knows, or is about to: what has not changed is not written again. */
  #filter: Filter
  /** Most keys have none. */
  #webhook: KeyWebhook | undefined
  #stop: (() => void) | undefined
  #burst: unknown
  #holdsPolls = true

  constructor(facts: KeyFacts, world: EffectsWorld, actor: KeyActor) {
    this.#facts = facts
    this.#filter = facts.filter
    this.#world = world
    this.#actor = actor
  }

  saveCursor(cursor: number, filter: Filter): void {
    const changed = filter === this.#filter ? undefined : filter
    this.#filter = filter
    this.#world.keys.saveCursor(this.#facts, cursor, changed)
  }

  get webhook(): KeyWebhook | undefined {
    return this.#webhook
  }

  deliver(): void {
    this.#ownWebhook().deliver()
  }

  stopDelivering(): void {
    this.#webhook?.stop()
  }

  change(change: ChangeWebhook): void {
    this.#ownWebhook().change(change)
  }

  async read(poll: Poll): Promise<void> {
    const { apiKeyId, credentialId } = this.#facts
    const { updates, clock, logger } = this.#world
    const onDefect = (cause: unknown) => logger.error({ apiKeyId, err: cause }, 'a poll failed')
    const outcome = await settle(() => updates.read(credentialId, apiKeyId, poll), onDefect)
    if (!outcome.ok) {
      this.#actor.send({ type: 'poll.failed', poll, failure: outcome.failure })
      return
    }
    const read = this.#holdsPolls ? poll : { ...poll, timeoutMs: 0 }
    const out = this.#world.whyOut?.(credentialId)
    this.#actor.send({ type: 'poll.read', poll: read, ...outcome.result, out, now: clock.now() })
  }

  /** From now on no poll is held, also none that is being read for just now. */
  endPolls(): void {
    this.#holdsPolls = false
  }

  /** Reads once there is something newer than the poll has seen; what it listened for before is let go. */
  listen(poll: HeldPoll): void {
    this.stopListening()
    const { updates, clock } = this.#world
    this.#stop = updates.listen(this.#facts.credentialId, poll.head, () => {
      this.#burst ??= clock.setTimeout(() => {
        this.stopListening()
        void this.read(poll)
      }, BURST_MS)
    })
  }

  stopListening(): void {
    this.#stop?.()
    this.#stop = undefined
    if (this.#burst !== undefined) this.#world.clock.clearTimeout(this.#burst)
    this.#burst = undefined
  }

  /** The actor has ended: it leaves its state without a word. */
  end(): void {
    this.stopListening()
    this.stopDelivering()
  }

  #ownWebhook(): KeyWebhook {
    this.#webhook ??= new KeyWebhook(this.#facts, this.#world, this.#actor)
    return this.#webhook
  }
}
