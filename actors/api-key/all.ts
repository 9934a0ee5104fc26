/** All API keys that live: children of one actor, whose system they share. The crash of one is no matter of the others. */
import { type AnyActorRef, createActor, type ErrorActorEvent, fromTransition } from 'xstate'
import { apiKeyMachine } from '../../machines/api-key/machine.ts'
import { Timers } from '../host/timers.ts'
import type { KeyFacts } from '../ports/ports.ts'
import { ApiKeyActor, type ApiKeyWorld, type KeyHome, type KeyRef } from './actor.ts'

/** A system for each key would weigh as much as the rest of it. */
export class ApiKeys implements KeyHome {
  readonly world: ApiKeyWorld
  readonly now: () => number
  readonly #keys = new Map<string, ApiKeyActor>()
  readonly #logic = logicOf((id) => this.#key(id))
  readonly #parent: AnyActorRef

  constructor(world: ApiKeyWorld) {
    this.world = world
    this.now = () => world.clock.now()
    const parent = createActor(parentOf((id, cause) => this.#crashed(id, cause)))
    parent.system.scheduler = new Timers(world.clock)
    this.#parent = parent.start()
  }

  begin(facts: KeyFacts): ApiKeyActor {
    const { apiKeyId, credentialId, terms, revoked, cursor, filter, webhook } = facts
    const input = { apiKeyId, credentialId, terms, revoked, cursor, filter, webhook }
    const actor = createActor(this.#logic, { parent: this.#parent, input })
    const key = new ApiKeyActor(facts, this, actor)
    this.#keys.set(actor.id, key)
    actor.start()
    return key
  }

  stop(key: KeyRef): void {
    this.#parent.send({ type: 'key.stop', key } satisfies StopKey)
    this.#ended(key.id)
  }

  /** Another node has claimed these credentials: held polls are answered with nothing, and the next call asks anew. */
  leave(credentialIds: ReadonlySet<number>): void {
    for (const key of [...this.#keys.values()]) {
      if (!credentialIds.has(key.facts.credentialId)) continue
      key.letGo()
      key.stop()
    }
  }

  #key(id: string): ApiKeyActor {
    const key = this.#keys.get(id)
    if (!key) throw new Error(`no key lives as ${id}`)
    return key
  }

  #crashed(id: string, cause: unknown): void {
    const apiKeyId = this.#keys.get(id)?.facts.apiKeyId
    this.world.logger.error({ apiKeyId, err: cause }, 'a key crashed')
    this.#ended(id, cause)
  }

  #ended(id: string, cause?: unknown): void {
    const key = this.#keys.get(id)
    if (!key) return
    this.#keys.delete(id)
    key.end(cause)
    this.world.ended?.(key)
  }
}

interface StopKey {
  readonly type: 'key.stop'
  readonly key: KeyRef
}

/** It keeps nothing of its children. XState tells it of those that crash. */
const parentOf = (crashed: (id: string, cause: unknown) => void) =>
  fromTransition((nothing: undefined, event: StopKey | ErrorActorEvent, { stopChild }) => {
    if (event.type === 'key.stop') stopChild(event.key)
    // Afterwards, so that whatever goes wrong there does not take all keys along.
    else queueMicrotask(() => crashed(event.actorId, event.error))
    return nothing
  }, undefined)

/** The machine with its effects is one for all keys: a copy for each would weigh ten times the key. */
const logicOf = (keyOf: (id: string) => ApiKeyActor) =>
  apiKeyMachine.provide({
    actions: {
      reply: ({ self }, reply) => keyOf(self.id).settle(reply),
      read: ({ self }, poll) => {
        if (poll) void keyOf(self.id).effects.read(poll)
      },
      listen: ({ self }, poll) => keyOf(self.id).effects.listen(poll),
      stopListening: ({ self }) => keyOf(self.id).effects.stopListening(),
      change: ({ self }, change) => {
        if (change) keyOf(self.id).effects.change(change)
      },
      deliver: ({ self }) => keyOf(self.id).effects.deliver(),
      stopDelivering: ({ self }) => keyOf(self.id).effects.stopDelivering(),
      saveCursor: ({ self, context: { cursor, filter } }) =>
        keyOf(self.id).effects.saveCursor(cursor, filter),
    },
  })
