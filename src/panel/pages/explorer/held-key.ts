/** The text of the newest key, for the page that tries methods: in memory alone, until a reload or the end of the session. */
import { currentSession, onSession } from '../../api/session.ts'

let held: { readonly id: number; readonly key: string } | undefined

onSession(() => {
  if (currentSession().state === 'out') held = undefined
})

export function holdKey(id: number, key: string): void {
  held = { id, key }
}

/** Empty if another key is held, or none. */
export const heldKey = (id: number): string => (held?.id === id ? held.key : '')
