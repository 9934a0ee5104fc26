/** The buttons under a message, and keyboards in place of the reader's ordinary one, in the terms of no particular network. */

/** How a button looks: `danger`, `success` or `primary`, and the custom emoji before its text. */
export interface ButtonLook {
  readonly style?: string
  readonly icon?: string
}

export type Button = { readonly text: string; readonly look?: ButtonLook } & (
  | { readonly data: string }
  | { readonly url: string }
  /** Does something else, in the reference's words: no other networks have such buttons. */
  | { readonly action: Readonly<Record<string, unknown>> }
)

export type Buttons = readonly (readonly Button[])[]

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
