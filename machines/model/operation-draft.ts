/** Operations that show a message while it is being written. */
import type { Text } from './text.ts'

export const DRAFT_OPERATIONS = ['draft'] as const

/** The next draft with the same number replaces this one. */
export interface DraftOperation<Place> {
  readonly kind: 'draft'
  readonly chat: Place
  readonly draft: number
  readonly text: Text
}
