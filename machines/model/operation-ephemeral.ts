/** Operations about messages that do not stay: drafts, shown while written, and ephemeral ones, seen by one member. */

import type { Buttons } from './buttons.ts'
import type { Content } from './content.ts'
import type { Text } from './text.ts'

export const DRAFT_OPERATIONS = ['draft'] as const

/** The next draft with the same number replaces this one. */
export interface DraftOperation<Place> {
  readonly kind: 'draft'
  readonly chat: Place
  readonly draft: number
  readonly text: Text
  /** The reader may stop it; `keeps`: what is written by then stays in sight. */
  readonly stop?: { readonly keeps: boolean }
}

export const EPHEMERAL_OPERATIONS = [
  'send_ephemeral',
  'edit_ephemeral',
  'delete_ephemeral',
] as const

/** Ephemeral messages have numbers of their own. */
interface Target<Place> {
  readonly chat: Place
  readonly receiver: Place
  readonly ephemeral: number
}

export type EphemeralOperation<Place, Item> =
  /** With a callback query, its chat and its person are meant where none is named. */
  | {
      readonly kind: 'send_ephemeral'
      readonly chat?: Place
      readonly receiver?: Place
      /** The callback query that it answers. */
      readonly callback?: string
      /** Shown in the place of the message whose button was pressed. */
      readonly replaces?: boolean
      readonly content: Content
      readonly buttons?: Buttons
      readonly replyTo?: Item
      /** The ephemeral message of the receiver that it answers. */
      readonly replyToEphemeral?: number
      readonly topic?: Item
      readonly isProtected?: boolean
    }
  /** Without a content and a caption only the buttons change. */
  | ({
      readonly kind: 'edit_ephemeral'
      readonly content?: Content
      readonly caption?: Text
      readonly captionAbove?: boolean
      readonly buttons?: Buttons
    } & Target<Place>)
  | ({ readonly kind: 'delete_ephemeral' } & Target<Place>)
