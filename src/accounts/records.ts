/** What users see of their account, page by page, newest first. */
import { invalidField } from '../../machines/model/failure.ts'

export interface Page {
  readonly limit: number
  /** The cursor that the page before this one ended with. */
  readonly before?: string | undefined
}

export interface PageOf<Item> {
  readonly items: readonly Item[]
  readonly nextBefore: string | null
}

/** Ids grow with time, so they are the cursor. */
export function beforeId({ before }: Page): { readonly id?: { readonly $lt: number } } {
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
