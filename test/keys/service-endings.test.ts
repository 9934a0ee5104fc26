/** A key may end while its owner changes it: the table has the change, and nobody is taken for a stranger. */
import t from 'tap'
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Database } from '../../src/database/database.ts'
import { asOwner, endRevoked, KeyService, type KeyServiceOptions } from '../../src/keys/service.ts'
import { refused } from '../actors/refused.ts'

const made = { created_at: new Date(), expires_at: null, revoked_at: null }
const row = { id: 100_000, ...made, filter: [], scopes: [] }

function serviceOf(actor: object) {
  const stopped = { stop: () => undefined, hasWebhook: false }
  const query = async () => [row]
  const db = {
    query,
    records: async () => 1,
    transaction: async (work: (tx: object) => unknown) => work({ query }),
  } as unknown as Database
  const never = () => Promise.reject(new Error('nobody searches'))
  return new KeyService({
    limits: { perCredential: 100, perUser: 1_000 },
    db,
    source: { db, identity: async () => undefined, names: { of: never } },
    store: { flush: async () => undefined, load: async () => ({}) } as never,
    live: async () => ({ ...stopped, ...actor }) as unknown as ApiKeyActor,
    gate: {} as KeyServiceOptions['gate'],
    wake: () => undefined,
    whyOut: () => undefined,
    now: Date.now,
  })
}

const refuse = (code: 'unauthorized' | 'unavailable') => async () => {
  throw failed(code, 'it ended')
}
const change = { name: 'x', scopes: undefined, expiresAt: undefined }
const usable = { value: { usable: 'quiet' } }

t.test('a change is told to a key only while it lives', async (t) => {
  const revoked = {
    isActive: true,
    snapshot: { value: 'revoked' },
    refresh: refuse('unauthorized'),
  }
  t.match(await serviceOf(revoked).change(1, row.id, change), { api_key_id: row.id })
  const stopped = { isActive: false, snapshot: usable, refresh: refuse('unavailable') }
  t.match(await serviceOf(stopped).change(1, row.id, change), { api_key_id: row.id })
  const broken = { isActive: true, snapshot: usable, refresh: refuse('unavailable') }
  await refused(t, serviceOf(broken).change(1, row.id, change), { code: 'unavailable' })
})

t.test('a new secret is shown even if the actor had stopped already', async (t) => {
  const stopped = { isActive: false, snapshot: usable, rotated: refuse('unavailable') }
  const { key } = await serviceOf(stopped).rotate(1, row.id, 0)
  t.match(key, /^100000:[\w-]{43}$/)
})

t.test('revoked keys end where they live, whatever becomes of others', async (t) => {
  const ended: number[] = []
  const revoke = async () => void ended.push(ended.length)
  const actors: Record<number, object | undefined> = {
    1: { isActive: false, snapshot: usable, revoke: refuse('unavailable') },
    2: { isActive: true, snapshot: { value: 'revoked' }, revoke: refuse('unauthorized') },
    3: undefined,
    4: { isActive: true, snapshot: usable, revoke },
    5: { isActive: true, snapshot: usable, revoke: refuse('unavailable') },
    6: { isActive: true, snapshot: usable, revoke },
  }
  const live = async (id: number) => actors[id] as unknown as ApiKeyActor | undefined
  await endRevoked([1, 2, 3, 4], live)
  await refused(t, endRevoked([5, 6], live), { code: 'unavailable' })
  t.equal(ended.length, 2)
})

t.test('the end of a key is no end of a sign-in', async (t) => {
  const description = 'the key is revoked or has expired'
  await refused(t, asOwner(refuse('unauthorized')()), { code: 'bad_request', description })
  await refused(t, asOwner(refuse('unavailable')()), { code: 'unavailable' })
  t.equal(await asOwner(Promise.resolve(1)), 1)
})
