/** Gifts: people and accounts buy them with Stars; owners keep, sell, upgrade and pass them on. */
import { randomBytes, randomInt } from 'node:crypto'
import { badRequest, notFound } from '../../../machines/model/failure.ts'
import type { AcceptedGifts, Gift, OwnedGift } from '../../../machines/model/gift.ts'
import type { Media } from '../../../machines/model/media.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { GiftGroup } from '../../../machines/model/operation-gifts.ts'
import type { StarTransaction } from '../../../machines/model/operation-payments.ts'
import type { Text } from '../../../machines/model/text.ts'
import type { Queryable } from '../../database/database.ts'
import { openPrivateChat } from '../chats/private-chat.ts'
import { announce, withOutbox } from '../chats/transaction.ts'
import { parseChatId, personOf } from '../delivery/mapping.ts'
import { storedMedia } from '../files/files.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import { type PersonRow, personJson } from '../network/rows.ts'

const TEXT_LENGTH = 128
/** The part of the price that the owner gets for a gift, as in the reference. */
const CONVERTED = 0.85
const MONTHS: Readonly<Record<number, number>> = { 3: 1000, 6: 1500, 12: 2500 }

const done: OperationResult = { kind: 'done' }

interface GiftRow extends Omit<Gift, 'upgradeStars' | 'total' | 'remaining'> {
  readonly upgradeStars: number | null
  readonly total: number | null
  readonly remaining: number | null
}

interface OwnedRow {
  readonly id: string
  readonly gift: GiftRow
  readonly sender: PersonRow | null
  readonly at: number
  readonly text: Text
  readonly isSaved: boolean
  readonly prepaid: number | null
  readonly unique: OwnedGift['unique'] | null
}

const giftJson = `jsonb_build_object('id', g.id::text, 'sticker', g.sticker, 'stars', g.stars,
  'upgradeStars', g.upgrade_stars, 'total', g.total, 'remaining', g.remaining)`

const selecting = `
  select o.id, ${giftJson} as gift, ${personJson('s')} as sender, o.text,
    floor(extract(epoch from o.at))::bigint as at, o.is_saved as "isSaved",
    o.prepaid_stars as prepaid, o."unique"
  from sandbox_owned_gift o join sandbox_gift g on g.id = o.gift_id
  left join sandbox_person s on s.id = o.sender_id`

const giftOf = ({ upgradeStars, total, remaining, ...row }: GiftRow): Gift => ({
  ...row,
  ...(upgradeStars !== null && { upgradeStars }),
  ...(total !== null && { total }),
  ...(remaining !== null && { remaining }),
})

const ownedOf = ({ gift, sender, prepaid, unique, ...row }: OwnedRow): OwnedGift => ({
  ...row,
  gift: giftOf(gift),
  ...(sender && { sender: personOf(sender) }),
  ...(prepaid !== null && { prepaidStars: prepaid }),
  ...(unique ? { unique } : { convertStars: Math.floor(gift.stars * CONVERTED) }),
})

interface NewGift {
  readonly sticker: Media
  readonly stars: number
  readonly upgradeStars?: number
  readonly total?: number
}

/** Adds a gift to those that can be sent in this network. */
export async function makeGift(context: NetworkContext, gift: NewGift): Promise<Gift> {
  if (gift.sticker.kind !== 'sticker') throw badRequest('wrong file type')
  const id = `5${randomInt(1e9).toString().padStart(9, '0')}${randomInt(1e8, 1e9)}`
  const sticker = await storedMedia(context, gift.sticker, `sandbox:gift:${id}`)
  await context.db.query(
    `insert into sandbox_gift (id, user_id, sticker, stars, upgrade_stars, total, remaining)
     values ($1, $2, $3, $4, $5, $6, $6)`,
    [
      ...[id, context.network, JSON.stringify(sticker), gift.stars],
      ...[gift.upgradeStars ?? null, gift.total ?? null],
    ],
  )
  const { total, ...rest } = gift
  return { id, ...rest, sticker, ...(total !== undefined && { total, remaining: total }) }
}

export async function availableGifts({
  context: { db, network },
}: Pick<Call, 'context'>): Promise<OperationResult & { readonly kind: 'gifts' }> {
  const rows = await db.query<{ gift: GiftRow }>(
    `select ${giftJson} as gift from sandbox_gift g
     where g.user_id = $1 and g.remaining is distinct from 0 order by g.stars, g.id limit 1000`,
    [network],
  )
  return { kind: 'gifts', gifts: rows.map(({ gift }) => giftOf(gift)) }
}

/** A person or a channel of the network. */
async function ownerOf(
  { db, network }: NetworkContext,
  native: number,
  kinds: readonly string[] = ['channel'],
): Promise<GiftOwner> {
  const [row] = await db.query<{ id: number; accepted: AcceptedGifts | null }>(
    native > 0
      ? `select id, gift_settings -> 'accepted' as accepted from sandbox_person
         where id = $1 and user_id = $2 and not deactivated`
      : `select id, null::jsonb as accepted from sandbox_chat
         where native = $1 and user_id = $2 and kind = any($3)`,
    native > 0 ? [native, network] : [native, network, kinds],
  )
  if (!row) throw notFound(native > 0 ? 'user' : 'chat')
  const { id, accepted } = row
  return native > 0 ? { person: id, chat: null, accepted } : { person: null, chat: id, accepted }
}

/** `accepted` is null where every gift is welcome. */
interface GiftOwner {
  readonly person: number | null
  readonly chat: number | null
  readonly accepted: AcceptedGifts | null
}

function assertAccepted({ accepted }: GiftOwner, group: keyof AcceptedGifts): void {
  if (accepted && !accepted[group]) throw badRequest('USER_DISALLOWED_STARGIFTS')
}

export async function sendGift(
  { context, by }: Call,
  { chat, gift: id, text, paysUpgrade }: OperationOf<'send_gift'>,
): Promise<OperationResult> {
  const native = parseChatId(chat)
  const owner = await ownerOf(context, native)
  assertText(text)
  await withOutbox(context, async (tx, outbox) => {
    const [row] = await tx.query<{ gift: GiftRow }>(
      `update sandbox_gift g set remaining = remaining - 1
       where id::text = $1 and user_id = $2 and remaining is distinct from 0
       returning ${giftJson} as gift`,
      [id, context.network],
    )
    if (!row) throw badRequest('STARGIFT_INVALID')
    const gift = giftOf(row.gift)
    assertAccepted(owner, gift.total === undefined ? 'unlimited' : 'limited')
    if (paysUpgrade && gift.upgradeStars === undefined)
      throw badRequest('STARGIFT_UPGRADE_UNAVAILABLE')
    const prepaid = paysUpgrade ? (gift.upgradeStars ?? 0) : 0
    const stars = gift.stars + prepaid
    await pay(tx, by.person, stars)
    await enter(tx, {
      person: by.person,
      at: context.now(),
      stars,
      partner: owner.person,
      chat: owner.chat,
      purpose: 'gift_purchase',
      details: { gift },
    })
    const owned = randomBytes(12).toString('hex')
    await tx.query(
      `insert into sandbox_owned_gift
         (id, gift_id, person_id, chat_id, sender_id, at, text, prepaid_stars)
       values ($1, $2, $3, $4, $5, to_timestamp($6), $7, nullif($8, 0))`,
      [
        ...[owned, gift.id, owner.person, owner.chat, by.person],
        ...[context.now() / 1000, JSON.stringify(text), prepaid],
      ],
    )
    if (owner.person === null || owner.person === by.person) return
    await openPrivateChat(tx, by.person, owner.person)
    const [stored] = await tx.query<OwnedRow>(`${selecting} where o.id = $1`, [owned])
    await announce({ outbox }, by, native, { fact: 'gift', gift: ownedOf(stored!) })
  })
  return done
}

export async function giftPremium(
  { context, by }: Call,
  { person, months, stars, text }: OperationOf<'gift_premium'>,
): Promise<OperationResult> {
  const owner = await ownerOf(context, parseChatId(person))
  assertText(text)
  assertAccepted(owner, 'premium')
  if (MONTHS[months] === undefined) throw badRequest('PREMIUM_MONTHS_INVALID')
  if (MONTHS[months] !== stars) throw badRequest('STARS_AMOUNT_INVALID')
  await context.db.transaction(async (tx) => {
    await pay(tx, by.person, stars)
    await enter(tx, {
      person: by.person,
      at: context.now(),
      stars,
      partner: owner.person,
      purpose: 'premium_purchase',
      details: { premiumMonths: months },
    })
    await tx.query(
      `update sandbox_person set premium_until =
         greatest(premium_until, to_timestamp($2)) + make_interval(months => $3) where id = $1`,
      [owner.person, context.now() / 1000, months],
    )
  })
  return done
}

function assertText({ text }: Text): void {
  if ([...text].length > TEXT_LENGTH) throw badRequest('GIFT_MESSAGE_TOO_LONG')
}

/** Remembers Stars that moved without an invoice, for the list of a person's transactions. */
async function enter(tx: Queryable, entry: StarEntry): Promise<void> {
  const { person, at, stars, isIncoming = false, partner, chat, purpose, details = {} } = entry
  await tx.query(
    `insert into sandbox_star_entry
       (id, person_id, at, amount, is_incoming, partner_id, chat_id, purpose, details)
     values ($1, $2, to_timestamp($3), $4, $5, $6, $7, $8, $9)`,
    [
      ...[randomBytes(16).toString('hex'), person, at / 1000, stars, isIncoming],
      ...[partner ?? null, chat ?? null, purpose, JSON.stringify(details)],
    ],
  )
}

interface StarEntry {
  readonly person: number
  /** Unix time in milliseconds. */
  readonly at: number
  readonly stars: number
  readonly isIncoming?: boolean
  readonly partner?: number | null
  readonly chat?: number | null
  readonly purpose: StarTransaction['purpose']
  readonly details?: Pick<StarTransaction, 'gift' | 'premiumMonths'>
}

/** Rejects where the balance is too low. */
async function pay(tx: Queryable, person: number, stars: number): Promise<void> {
  const paid = await tx.query(
    'update sandbox_person set stars = stars - $2 where id = $1 and stars >= $2 returning id',
    [person, stars],
  )
  if (paid.length === 0) throw badRequest('BALANCE_TOO_LOW')
}

const GROUPS: Readonly<Record<GiftGroup, string>> = {
  unsaved: 'not o.is_saved',
  saved: 'o.is_saved',
  unlimited: 'g.total is null and o."unique" is null',
  limited_upgradable: 'g.total is not null and g.upgrade_stars is not null and o."unique" is null',
  limited_non_upgradable: 'g.total is not null and g.upgrade_stars is null and o."unique" is null',
  unique: 'o."unique" is not null',
}

export async function ownedGifts(
  { context, by }: Call,
  { chat, without, byPrice, after, limit }: OperationOf<'owned_gifts'>,
): Promise<OperationResult> {
  const { person, chat: channel } = await ownerOf(
    context,
    chat === undefined ? by.person : parseChatId(chat),
    // Only channels are given any.
    ['channel', 'supergroup', 'group'],
  )
  const offset = after === undefined ? 0 : Number(/^\d{1,9}$/.exec(after)?.[0] ?? Number.NaN)
  if (Number.isNaN(offset)) throw badRequest('OFFSET_INVALID')
  const rows = await context.db.query<OwnedRow & { readonly total: number }>(
    `${selecting.replace('select', 'select count(*) over ()::int as total,')}
     where (o.person_id = $1 or o.chat_id = $2)
       ${without.map((group) => `and not (${GROUPS[group]})`).join(' ')}
     order by ${byPrice ? 'g.stars desc, ' : ''}o.at desc, o.id offset $3 limit $4`,
    [person, channel, offset, limit],
  )
  const total = rows[0]?.total ?? 0
  const next = offset + rows.length
  const more = next < total && { next: String(next) }
  return {
    kind: 'owned_gifts',
    total,
    gifts: rows.map(({ total: _, ...row }) => ownedOf(row)),
    ...more,
  }
}

/** Locks a gift of this owner until the end of the transaction. */
async function lockGift(tx: Queryable, owner: number, id: string): Promise<OwnedGift> {
  const [row] = await tx.query<OwnedRow>(
    `${selecting} where o.id = $1 and o.person_id = $2 for update of o`,
    [id, owner],
  )
  if (!row) throw badRequest('STARGIFT_NOT_FOUND')
  return ownedOf(row)
}

export async function convertGift(
  { context: { db }, by }: Call,
  { gift: id }: OperationOf<'convert_gift'>,
): Promise<OperationResult> {
  await db.transaction(async (tx) => {
    const { convertStars } = await lockGift(tx, by.person, id)
    if (convertStars === undefined) throw badRequest('STARGIFT_CONVERT_INVALID')
    await tx.query('delete from sandbox_owned_gift where id = $1', [id])
    await tx.query('update sandbox_person set stars = stars + $2 where id = $1', [
      by.person,
      convertStars,
    ])
  })
  return done
}

export async function upgradeGift(
  { context: { db }, by }: Call,
  { gift: id, keepsDetails, stars }: OperationOf<'upgrade_gift'>,
): Promise<OperationResult> {
  await db.transaction(async (tx) => {
    const { gift, prepaidStars, unique } = await lockGift(tx, by.person, id)
    if (unique || gift.upgradeStars === undefined) throw badRequest('STARGIFT_UPGRADE_UNAVAILABLE')
    const price = prepaidStars === undefined ? gift.upgradeStars : 0
    if (stars !== price) throw badRequest('STARS_AMOUNT_INVALID')
    await pay(tx, by.person, price)
    const [row] = await tx.query<{ upgrades: number }>(
      'update sandbox_gift set upgrades = upgrades + 1 where id = $1 returning upgrades',
      [gift.id],
    )
    const made = { name: `Gift${gift.id.slice(-4)}`, number: row?.upgrades ?? 1 }
    await tx.query(
      `update sandbox_owned_gift set "unique" = $2,
         sender_id = case when $3 then sender_id end,
         text = case when $3 then text else '{"text": "", "entities": []}' end where id = $1`,
      [id, JSON.stringify(made), keepsDetails],
    )
  })
  return done
}

export async function transferGift(
  { context, by }: Call,
  { gift: id, chat, stars }: OperationOf<'transfer_gift'>,
): Promise<OperationResult> {
  const owner = await ownerOf(context, parseChatId(chat))
  if (stars !== 0) throw badRequest('STARS_AMOUNT_INVALID')
  assertAccepted(owner, 'unique')
  await context.db.transaction(async (tx) => {
    const { unique } = await lockGift(tx, by.person, id)
    if (!unique) throw badRequest('STARGIFT_TRANSFER_UNAVAILABLE')
    await tx.query(
      'update sandbox_owned_gift set person_id = $2, chat_id = $3, sender_id = $4 where id = $1',
      [id, owner.person, owner.chat, by.person],
    )
  })
  return done
}

export async function setGiftSettings(
  { context: { db }, by }: Call,
  { showsButton, accepted }: OperationOf<'set_gift_settings'>,
): Promise<OperationResult> {
  await db.query('update sandbox_person set gift_settings = $2 where id = $1', [
    by.person,
    JSON.stringify({ showsButton, accepted }),
  ])
  return done
}

export async function starBalance({ context: { db }, by }: Call): Promise<OperationResult> {
  const [row] = await db.query<{ stars: number }>(
    'select stars from sandbox_person where id = $1',
    [by.person],
  )
  return { kind: 'stars', stars: row?.stars ?? 0 }
}

/** From the business to the account that acts for it. */
export async function transferStars(
  { context: { db, now }, by, business }: Call,
  { stars }: OperationOf<'transfer_stars'>,
): Promise<OperationResult> {
  if (!business) throw badRequest('BUSINESS_CONNECTION_INVALID')
  await db.transaction(async (tx) => {
    await pay(tx, by.person, stars)
    await tx.query('update sandbox_person set stars = stars + $2 where id = $1', [
      business.account,
      stars,
    ])
    const moved = { at: now(), stars, purpose: 'business_account_transfer' } as const
    const { account } = business
    await enter(tx, { ...moved, person: by.person, partner: account })
    await enter(tx, { ...moved, person: account, partner: by.person, isIncoming: true })
  })
  return done
}
