/** The kinds of updates, as bits: which a key wants is one number. */

/** A kind's place in this list is its number in the log: only ever append. At most 52 find room. */
export const UPDATE_KINDS = [
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'business_connection',
  'business_message',
  'edited_business_message',
  'deleted_business_messages',
  'guest_message',
  'message_reaction',
  'message_reaction_count',
  'inline_query',
  'chosen_inline_result',
  'callback_query',
  'shipping_query',
  'pre_checkout_query',
  'purchased_paid_media',
  'poll',
  'poll_answer',
  'my_chat_member',
  'chat_member',
  'chat_join_request',
  'chat_boost',
  'removed_chat_boost',
  'managed_bot',
  'deleted_messages',
  'subscription',
  'stopped_message_generation',
  'widget_query',
  'shared_widget_query',
  // Beyond the reference.
  'message_delivered',
  'message_read',
] as const

export type UpdateKind = (typeof UPDATE_KINDS)[number]

/** Bit n set: the key wants kind n. Up to 53 bits, so `&` and `|`, which have 32, do not do. */
type KindSet = number

/** The number of all kinds that are not in the list: the last bit that a double holds exactly. */
export const OTHER_KIND = 52

const OPT_IN: readonly string[] = [
  'chat_member',
  'message_reaction',
  'message_reaction_count',
  'message_delivered',
  'message_read',
]

const numbers: ReadonlyMap<string, number> = new Map(
  UPDATE_KINDS.map((kind, number) => [kind, number]),
)

export const kindNumber = (kind: string): number => numbers.get(kind) ?? OTHER_KIND

const HALF = 2 ** 32
const bit = (kind: number): KindSet => 2 ** kind

/** The set of all kinds that are not in the list. */
export const OTHER_KINDS: KindSet = bit(OTHER_KIND)

/** Whether the set has the kind. In halves of 32 bits: it runs for every update that is read. */
export const hasKind = (set: KindSet, kind: number): boolean =>
  ((kind < 32 ? set >>> kind : (set / HALF) >>> (kind - 32)) & 1) === 1

export const bothKinds = (one: KindSet, other: KindSet): KindSet =>
  ((one / HALF) | (other / HALF)) * HALF + ((one | other) >>> 0)

const bits = (kinds: readonly string[]): KindSet =>
  kinds.reduce((set, kind) => bothKinds(set, bit(kindNumber(kind))), 0)

export const DEFAULT_KINDS: KindSet =
  bits(UPDATE_KINDS.filter((kind) => !OPT_IN.includes(kind))) + OTHER_KINDS

/** Kinds that are wanted. `others` has the names of those that are not in the list; absent: all of these. */
export interface Wanted {
  readonly kinds: KindSet
  readonly others?: readonly string[]
}

const MOST_OTHERS = 100
const KIND_NAME = /^[a-z][a-z0-9_]{0,63}$/

/**
 * The reference's reading of `allowed_updates`: unknown names are passed over, none known means the default. `others`:
 * unknown names count as well, because updates of any kind may come.
 */
export function wantedFrom(names: readonly string[], { others }: { others: boolean }): Wanted {
  const lower = names.map((name) => name.toLowerCase())
  const kinds = bits(UPDATE_KINDS.filter((kind) => lower.includes(kind)))
  if (kinds === 0) return { kinds: DEFAULT_KINDS }
  const unknown = lower.filter((name) => !numbers.has(name) && KIND_NAME.test(name))
  if (!others || unknown.length === 0) return { kinds }
  return {
    kinds: kinds + OTHER_KINDS,
    others: [...new Set(unknown)].sort().slice(0, MOST_OTHERS),
  }
}

/** Undefined for the default. */
export function namesWanted({ kinds, others }: Wanted): string[] | undefined {
  if (kinds === DEFAULT_KINDS) return undefined
  return [...UPDATE_KINDS.filter((_, number) => hasKind(kinds, number)), ...(others ?? [])]
}

/** From this update id on, these kinds, or the default; an earlier entry stands for the ids before. */
interface FilterEntry extends Partial<Wanted> {
  readonly from: number
}

export type Filter = readonly FilterEntry[]

/** The kinds that are wanted now. */
export const currentlyWanted = (filter: Filter): Wanted => {
  const { kinds = DEFAULT_KINDS, others } = filter.at(-1) ?? {}
  return { kinds, ...(others && { others }) }
}

/** Sets the kinds from `next` on, so that widening never shows older updates. */
export function changeFilter(filter: Filter, { kinds, others }: Wanted, next: number): Filter {
  const current = currentlyWanted(filter)
  if (current.kinds === kinds && `${current.others}` === `${others}`) return filter
  // The default is no number in the table: it grows with the list.
  const set = kinds === DEFAULT_KINDS ? {} : { kinds, ...(others && { others }) }
  return [...filter.filter((entry) => entry.from < next), { from: next, ...set }]
}

/** Forgets entries that only concern ids at or below the cursor. */
export function pruneFilter(filter: Filter, cursor: number): Filter {
  const inForce = filter.findLastIndex((entry) => entry.from <= cursor + 1)
  return inForce > 0 ? filter.slice(inForce) : filter
}

/** The kind of an update, by its stored text `"kind":{…}`. */
const nameIn = (payload: string): string => payload.slice(1, payload.indexOf('"', 1))

interface StoredUpdate {
  readonly updateId: number
  readonly kind: number
  readonly payload: string
}

/** Whether a key with this filter wants the update. */
export function wants(filter: Filter, { updateId, kind, payload }: StoredUpdate): boolean {
  const entry = filter.findLast(({ from }) => from <= updateId)
  if (!hasKind(entry?.kinds ?? DEFAULT_KINDS, kind)) return false
  return kind !== OTHER_KIND || (entry?.others?.includes(nameIn(payload)) ?? true)
}
