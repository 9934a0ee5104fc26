/** All API keys that live on this node. The crash of one does not touch the others. */
import { apiKeyMachine } from '../../machines/api-key/machine.ts'
import { ActorHost } from '../host/host.ts'
import type { KeyFacts } from '../ports/ports.ts'
import { ApiKeyActor, type ApiKeyWorld, type KeyRef } from './actor.ts'
import type { ApiKeyEffects } from './effects.ts'

type ApiKeyHost = ActorHost<typeof apiKeyMachine, ApiKeyEffects, ApiKeyActor>

export class ApiKeys {
  readonly #world: ApiKeyWorld
  readonly #host: ApiKeyHost
  #asked = 0

  constructor(world: ApiKeyWorld) {
    this.#world = world
    this.#host = new ActorHost<typeof apiKeyMachine, ApiKeyEffects, ApiKeyActor>({
      provide,
      // A system for each key would weigh as much as the rest of it.
      sharedClock: world.clock,
      // Only the key's own machine sees it.
      newRequestId: () => String(++this.#asked),
      ended({ effects, facts: { apiKeyId } }, err) {
        effects.end()
        if (err !== undefined) world.logger.error({ apiKeyId, err }, 'a key crashed')
      },
    })
  }

  begin(facts: KeyFacts): ApiKeyActor {
    const { apiKeyId, credentialId, terms, revoked, cursor, filter, webhook } = facts
    const input = { apiKeyId, credentialId, terms, revoked, cursor, filter, webhook }
    const create = (ref: KeyRef) => new ApiKeyActor(facts, this.#world, ref, this.#host)
    return this.#host.begin({ input, clock: this.#world.clock }, create)
  }

  /** Another node has claimed these credentials: held polls are answered with nothing, and the next call loads the key. */
  leave(credentialIds: ReadonlySet<number>): void {
    for (const key of [...this.#host.live()]) {
      if (!credentialIds.has(key.facts.credentialId)) continue
      key.letGo()
      key.stop()
    }
  }
}

const provide = (host: ApiKeyHost) =>
  apiKeyMachine.provide({
    actions: {
      reply: host.reply,
      read: ({ self }, poll) => {
        if (poll) void host.effectsOf(self).read(poll)
      },
      listen: ({ self }, poll) => host.effectsOf(self).listen(poll),
      stopListening: ({ self }) => host.effectsOf(self).stopListening(),
      change: ({ self }, change) => {
        if (change) host.effectsOf(self).change(change)
      },
      deliver: ({ self }) => host.effectsOf(self).deliver(),
      stopDelivering: ({ self }) => host.effectsOf(self).stopDelivering(),
      saveCursor: ({ self, context: { cursor, filter } }) =>
        host.effectsOf(self).saveCursor(cursor, filter),
    },
  })
