/** The user whose records one of the staff looks at, in this tab alone. */

export interface Viewed {
  readonly user_id: number
  /** As the list of users shows it: perhaps its last digits. */
  readonly phone: string
  /** Who looks: another one who signs in at this tab does not. */
  readonly by: number
}

const KEPT = 'chapar-viewed'
const listeners = new Set<() => void>()
let viewed: Viewed | undefined = kept()

function kept(): Viewed | undefined {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(KEPT) ?? 'null')
    return stored === null ? undefined : (stored as Viewed)
  } catch {
    // A browser may refuse to keep anything, and another page of this address may have written there.
    return undefined
  }
}

export const viewedUser = (): Viewed | undefined => viewed

export function onViewing(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** From now on pages show the records of this user, or one's own again. */
export function view(user: Viewed | undefined): void {
  // Whoever hears of a change begins anew, also a page that needs no sign-in.
  if (viewed?.user_id === user?.user_id && viewed?.by === user?.by) return
  viewed = user
  try {
    if (user) sessionStorage.setItem(KEPT, JSON.stringify(user))
    else sessionStorage.removeItem(KEPT)
  } catch {
    // Then a reload shows one's own records.
  }
  for (const listener of listeners) listener()
}

/** What is of whoever is signed in, whomever they look at. */
const own = /^\/(user$|user\/(sessions|tokens|export)|users|operators)/

/** The header that names the user, where a call is about their records. */
export const viewingHeaders = (path: string): Readonly<Record<string, string>> =>
  viewed && !own.test(path) ? { 'on-behalf-of': `${viewed.user_id}` } : {}
