/** A live key gets its changes in the order in which they were stored. */
import t from 'tap'
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { KeyFacts } from '../../actors/ports/ports.ts'
import type { Database } from '../../src/database/database.ts'
import { KeyService, type KeyServiceOptions } from '../../src/keys/service.ts'

t.test('of two changes at once the newer one is what the key goes on with', async (t) => {
  let stored = 0
  const told: unknown[] = []
  const reading: (() => void)[] = []
  const row = { created_at: new Date(), expires_at: null, revoked_at: null, filter: [], scopes: [] }
  const db = {
    query: async () => [row],
    records: async () => {
      stored += 1
    },
  } as unknown as Database
  const store = {
    flush: async () => undefined,
    load: async () => {
      const facts = { cursor: stored }
      await new Promise<void>((resolve) => reading.push(resolve))
      return facts as KeyFacts
    },
  } as unknown as KeyServiceOptions['store']
  const snapshot = { value: { usable: 'quiet' } }
  const actor = { snapshot, refresh: async (facts: KeyFacts) => told.push(facts.cursor) }
  const live = async () => actor as unknown as ApiKeyActor
  const gate = {} as KeyServiceOptions['gate']
  const limits = { perCredential: 100, perUser: 1_000 }
  const nothing = () => undefined
  const never = () => Promise.reject(new Error('nobody searches'))
  const service = new KeyService({
    db,
    source: { db, identity: async () => undefined, names: { of: never } },
    store,
    live,
    gate,
    limits,
    wake: nothing,
    whyOut: nothing,
    now: Date.now,
  })
  const change = () =>
    service.change(1, 100_000, { name: 'x', scopes: undefined, expiresAt: undefined })
  const settled = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  }
  const first = change()
  await settled()
  const second = change()
  await settled()
  // The newest reader is served first.
  while (reading.length > 0) {
    reading.pop()?.()
    await settled()
  }
  await Promise.all([first, second])
  t.same(told, [1, 2])
})

t.test('a sleeping key whose expiry moves delivers to its webhook again', async (t) => {
  const woken: number[] = []
  let isLive = true
  const row = { id: 100_000, created_at: new Date(), revoked_at: null, filter: [], scopes: [] }
  const serviceOf = (webhook: object) =>
    new KeyService({
      db: { query: async () => [{ ...row, ...webhook }], records: async () => 1 } as never,
      source: {
        db: { query: async () => [{ ...row, ...webhook }] } as never,
        identity: async () => undefined,
        names: { of: () => Promise.reject(new Error('nobody searches')) },
      },
      store: { flush: async () => undefined, load: async () => undefined } as never,
      live: async () =>
        isLive ? ({ snapshot: { value: { usable: 'webhook' } } } as never) : undefined,
      gate: {} as KeyServiceOptions['gate'],
      limits: { perCredential: 100, perUser: 1_000 },
      wake: (id) => woken.push(id),
      whyOut: () => undefined,
      now: Date.now,
    })
  const change = { name: undefined, scopes: undefined, expiresAt: null }
  const [polled, delivered] = [
    serviceOf({}),
    serviceOf({
      webhook: {
        url: 'https://bot.example/',
        header_names: [],
        due_at: null,
        failing_since: null,
        error_at: null,
        success_at: null,
      },
    }),
  ]
  await delivered.change(1, 100_000, change)
  t.same(woken, [], 'one that is awake is told')
  isLive = false
  await polled.change(1, 100_000, change)
  t.same(woken, [], 'one that is polled is woken by its polls')
  await delivered.change(1, 100_000, change)
  t.same(woken, [100_000])
})
