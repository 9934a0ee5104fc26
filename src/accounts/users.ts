/** Users, known by their phone, which is stored sealed and found by a keyed hash; the lock on a user; pages of what they own. */
import { failed, invalidField } from '../../machines/model/failure.ts'
import type { Database, Queryable } from '../database/database.ts'
import { AppUser } from '../database/entities.ts'
import type { Vault } from '../security/vault.ts'

export interface User {
  readonly id: number
  readonly phone: string
  readonly createdAt: Date
}

/** SQL, since the phone is sealed for this id before the row exists. */
const nextId = `select nextval('app_user_id_seq') as id`

export const phonePlaceOf = (id: number) => ({ table: 'app_user', column: 'phone_sealed', row: id })

export function createUsers(db: Database, vault: Vault) {
  const toUser = async ({ id, phoneSealed, createdAt }: AppUser): Promise<User> => ({
    id,
    phone: (await vault.open(phonePlaceOf(id), phoneSealed)).toString(),
    createdAt,
  })

  return {
    /** The first sign-in with a phone creates its account. */
    async findOrCreate(phone: string, index: Buffer, now: Date): Promise<User> {
      for (;;) {
        const found = await db.records((em) => em.findOne(AppUser, { phoneIndex: index }))
        if (found?.erasingAt) throw beingErased()
        if (found) return toUser(found)
        const [next] = await db.query<{ id: number }>(nextId)
        const id = next!.id
        const phoneSealed = await vault.seal(`user:${id}`, phonePlaceOf(id), Buffer.from(phone))
        const row = { id, phoneIndex: index, phoneSealed, createdAt: now }
        // If two first sign-ins happen at once, one adds the row, and the next iteration finds it.
        await db.records((em) =>
          em.upsert(AppUser, row, { onConflictFields: ['phoneIndex'], onConflictAction: 'ignore' }),
        )
      }
    },

    async idOf(phoneIndex: Buffer): Promise<number | undefined> {
      const live = { phoneIndex, erasingAt: null }
      return (await db.records((em) => em.findOne(AppUser, live, { fields: ['id'] })))?.id
    },

    async get(id: number): Promise<User> {
      const found = await db.records((em) => em.findOne(AppUser, { id }))
      if (!found) throw failed('unauthorized')
      return toUser(found)
    },
  }
}

export interface PageRequest {
  readonly limit: number
  /** The cursor that the page before this one ended with. */
  readonly before?: string | undefined
}

export interface PageOf<Item> {
  readonly items: readonly Item[]
  readonly nextBefore: string | null
}

/** Ids grow with time, so they are the cursor. */
export function beforeId({ before }: PageRequest): { readonly id?: { readonly $lt: number } } {
  if (before === undefined) return {}
  if (!/^[1-9]\d{0,14}$/.test(before)) {
    throw invalidField('before', 'is not a cursor of this list')
  }
  return { id: { $lt: Number(before) } }
}

/** `found` holds one more than the page, if there are more. */
export function toPage<Item extends { readonly id: number }>(
  found: readonly Item[],
  limit: number,
): PageOf<Item> {
  const items = found.slice(0, limit)
  return { items, nextBefore: found.length > limit ? `${items.at(-1)?.id}` : null }
}

const hold = 'select erasing_at from app_user where id = $1 for no key update'

const beingErased = () =>
  failed('unavailable', 'the account with this phone number is being erased', {
    retryAfterSeconds: 60,
  })

/**
 * Call it within a transaction, before other locks: other holders of this user wait for its end. Resolves with whether the
 * user stays: an erasure is never undone.
 */
export async function heldUser(tx: Queryable, userId: number): Promise<boolean> {
  const [user] = await tx.query<{ erasing_at: Date | null }>(hold, [userId])
  return user !== undefined && user.erasing_at === null
}

/** The same for what is refused while the user is being erased. */
export async function holdUser(tx: Queryable, userId: number): Promise<void> {
  if (!(await heldUser(tx, userId))) throw beingErased()
}
