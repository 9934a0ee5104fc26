/** The kinds of updates, as bits: which a key wants is one number. */

/** A kind's place in this list is its number in the log: only ever append. */
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
] as const

export type UpdateKind = (typeof UPDATE_KINDS)[number]

/** Bit n set: the key wants kind n. */
export type KindSet = number

const OPT_IN: readonly UpdateKind[] = ['chat_member', 'message_reaction', 'message_reaction_count']

export const kindNumber = (kind: UpdateKind): number => UPDATE_KINDS.indexOf(kind)

const bits = (kinds: readonly UpdateKind[]): KindSet =>
  kinds.reduce((set, kind) => set | (1 << kindNumber(kind)), 0)

export const DEFAULT_KINDS: KindSet = bits(UPDATE_KINDS.filter((kind) => !OPT_IN.includes(kind)))

/** The reference's reading of `allowed_updates`: unknown names are passed over, none known means the default. */
export function kindsFrom(names: readonly string[]): KindSet {
  const lower = names.map((name) => name.toLowerCase())
  return bits(UPDATE_KINDS.filter((kind) => lower.includes(kind))) || DEFAULT_KINDS
}

export const kindNames = (set: KindSet): UpdateKind[] =>
  UPDATE_KINDS.filter((_, number) => (set & (1 << number)) !== 0)

/** From this update id on, these kinds; an earlier entry stands for the ids before. */
interface FilterEntry {
  readonly from: number
  readonly kinds: KindSet
}

export type Filter = readonly FilterEntry[]

/** The kinds that are wanted now. */
export const currentKinds = (filter: Filter): KindSet => filter.at(-1)?.kinds ?? DEFAULT_KINDS

/** Sets the kinds from `next` on, so that widening never shows older updates. */
export function changeFilter(filter: Filter, kinds: KindSet, next: number): Filter {
  if (currentKinds(filter) === kinds) return filter
  return [...filter.filter((entry) => entry.from < next), { from: next, kinds }]
}

/** Forgets entries that only concern ids at or below the cursor. */
export function pruneFilter(filter: Filter, cursor: number): Filter {
  const inForce = filter.findLastIndex((entry) => entry.from <= cursor + 1)
  return inForce > 0 ? filter.slice(inForce) : filter
}

/** Whether a key with this filter wants an update of this kind number. */
export function wants(filter: Filter, updateId: number, kind: number): boolean {
  const entry = filter.findLast(({ from }) => from <= updateId)
  return ((entry?.kinds ?? DEFAULT_KINDS) & (1 << kind)) !== 0
}
