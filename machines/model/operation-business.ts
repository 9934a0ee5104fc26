/** Operations for a business whose account has let this one act for it. */

export const BUSINESS_OPERATIONS = [
  'for_business',
  'business_connection',
  'delete_for_business',
  'set_username',
] as const

export type BusinessOperation<Item> =
  /** Only within `for_business`. */
  | { readonly kind: 'business_connection' }
  | { readonly kind: 'delete_for_business'; readonly messages: readonly Item[] }
  /** Empty: no username. */
  | { readonly kind: 'set_username'; readonly username: string }

export interface ForBusiness<Operation> {
  readonly connection: string
  readonly operation: Operation
}
