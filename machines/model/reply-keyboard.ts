/** What a message puts in the place of its readers' ordinary keyboard, or takes away from there. */

interface Prompt {
  /** Stands in the text field while nothing is written there. */
  readonly placeholder?: string
  /** Only for those whom the message speaks to. */
  readonly isSelective?: boolean
}

/** Pressing it writes its text. */
export interface Key {
  readonly text: string
  /** What it asks for besides, in the reference's words: no other networks have keys. */
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
