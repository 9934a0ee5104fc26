/** Keyboards that a message shows its readers in place of the ordinary one, or removes. */

interface Prompt {
  /** Stands in the text field while nothing is written there. */
  readonly placeholder?: string
  /** Only for those whom the message speaks to. */
  readonly isSelective?: boolean
}

/** Pressing it writes its text. */
export interface Key {
  readonly text: string
  /** Its other fields, in the reference's names: no other network has such keys. */
  readonly more?: Readonly<Record<string, unknown>>
}

export type ReplyKeyboard =
  | (Prompt & {
      readonly kind: 'keys'
      readonly rows: readonly (readonly Key[])[]
      readonly isPersistent?: boolean
      /** As high as its keys need. */
      readonly isFitted?: boolean
      /** Gone once a key was pressed. */
      readonly isForOnce?: boolean
    })
  | (Prompt & { readonly kind: 'answer' })
  | { readonly kind: 'none'; readonly isSelective?: boolean }
