/** The buttons under a message, in the terms of no particular network. */

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
