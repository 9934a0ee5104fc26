/** An API key's actor beside a log that its test writes. */
import type { Test } from 'tap'
import type { ApiKeyActor, ApiKeyWorld, PollRequest } from '../../../actors/api-key/actor.ts'
import { ApiKeys } from '../../../actors/api-key/actor.ts'
import { Turns } from '../../../actors/host/time.ts'
import type { KeyFacts, KeyStore, ReadUpdates, UpdateLog } from '../../../actors/ports/ports.ts'
import type { Webhooks } from '../../../actors/ports/webhooks.ts'
import type { Poll } from '../../../machines/api-key/events.ts'
import { TestClock, thrown } from '../../support/clock.ts'
import { FakeLogger, FakeUpdateLog, only } from '../../support/fakes.ts'

export const keyFacts = (more: Partial<KeyFacts> = {}): KeyFacts => ({
  apiKeyId: 5,
  userId: 1,
  credentialId: 2,
  epoch: 1,
  terms: { scopes: ['bot:send', 'bot:receive'], expiresAt: undefined },
  revoked: false,
  cursor: 100,
  filter: [],
  webhook: undefined,
  secrets: [],
  ...more,
})

export class ApiKeyRig {
  readonly clock = new TestClock()
  readonly logger = new FakeLogger()
  readonly saved: number[] = []
  /** Whether what is saved gets to the table. */
  onStored: () => Promise<void> = async () => undefined
  readonly polls: Poll[] = []
  readonly listeners = new Set<() => void>()
  readonly keys: ApiKeys
  /** Keys that have ended, in that order. */
  readonly ended: ApiKeyActor[] = []
  readonly actor: ApiKeyActor
  /** The newest id in the log. */
  newest = 100
  onRead: (poll: Poll) => Promise<ReadUpdates> = async (poll) => this.page(poll)

  constructor(t: Test, facts: Partial<KeyFacts> = {}, more: Partial<ApiKeyWorld> = {}) {
    const calls: Partial<UpdateLog> = {
      next: () => this.newest + 1,
      read: (_, __, poll) => {
        this.polls.push(poll)
        return this.onRead(poll)
      },
      listen: (_, after, notify) => {
        if (this.newest > after) queueMicrotask(notify)
        this.listeners.add(notify)
        return () => this.listeners.delete(notify)
      },
    }
    this.keys = new ApiKeys({
      updates: new FakeUpdateLog(t, calls).port,
      keys: only<KeyStore>(t, 'KeyStore', {
        saveCursor: (_, { cursor }) => this.saved.push(cursor),
        stored: () => this.onStored(),
      }),
      clock: this.clock,
      logger: this.logger,
      turns: new Turns(this.clock, thrown),
      webhooks: only<Webhooks>(t, 'Webhooks', {}),
      rates: { key: { perSecond: 30, burst: 30 }, chat: { perSecond: 1, burst: 2 } },
      ...more,
    })
    this.actor = this.begin(facts)
    t.teardown(() => this.actor.stop())
  }

  begin(facts: Partial<KeyFacts> = {}): ApiKeyActor {
    const key = this.keys.begin(keyFacts(facts))
    key.onEnd(() => this.ended.push(key))
    return key
  }

  page({ after, keepNewest, limit }: Poll): ReadUpdates {
    const cursor = keepNewest === undefined ? after : Math.max(after, this.newest - keepNewest)
    const count = Math.min(limit, this.newest - cursor)
    const ids = Array.from({ length: count }, (_, index) => cursor + 1 + index)
    return { json: JSON.stringify(ids), count, cursor, head: cursor + count }
  }

  /** Commits updates and tells those who listen. */
  commit(count = 1): void {
    this.newest += count
    for (const notify of this.listeners) notify()
  }

  poll(more: Partial<PollRequest> = {}, signal = new AbortController().signal, key = this.actor) {
    return key.poll({ offset: 0, limit: 100, timeoutMs: 50_000, ...more }, signal)
  }
}
