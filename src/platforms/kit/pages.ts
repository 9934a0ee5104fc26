/** Reads what a network lists page by page: until it is complete, up to a limit, or until a page comes for the second time. */

interface Page<Cursor> {
  /** The keys of its items. */
  readonly keys: readonly string[]
  readonly isLast: boolean
  /** Where the next page begins; undefined: there is none. `hasNews`: the page has items that no page before had. */
  next(hasNews: boolean): Cursor | undefined
}

interface PagesRead {
  readonly keys: ReadonlySet<string>
  /** Whether the end was reached. */
  readonly isWhole: boolean
}

/** `read` takes the items of a page as well: the next page is asked for once it has resolved. */
export async function readPages<Cursor extends number | string>(
  first: Cursor,
  read: (cursor: Cursor) => Promise<Page<Cursor>>,
  { most = Number.POSITIVE_INFINITY }: { readonly most?: number } = {},
): Promise<PagesRead> {
  const keys = new Set<string>()
  for (let cursor = first; ; ) {
    const page = await read(cursor)
    const hasNews = page.keys.some((key) => !keys.has(key))
    for (const key of page.keys) keys.add(key)
    const next = page.isLast ? undefined : page.next(hasNews)
    if (next === undefined) return { keys, isWhole: true }
    // A network that repeats the same page would repeat it for ever.
    if (keys.size > most || (!hasNews && next === cursor)) return { keys, isWhole: false }
    cursor = next
  }
}
