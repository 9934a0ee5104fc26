/** The connection of a person's business account to an account that acts for it: its operations and its events. */
import type { Chat, Message } from './content.ts'
import type { Person } from './person.ts'

/** The reference's names without `can_`. */
export const BUSINESS_RIGHTS = [
  'reply',
  'read_messages',
  'delete_sent_messages',
  'delete_all_messages',
  'edit_name',
  'edit_bio',
  'edit_profile_photo',
  'edit_username',
  'change_gift_settings',
  'view_gifts_and_stars',
  'convert_gifts_to_stars',
  'transfer_and_upgrade_gifts',
  'transfer_stars',
  'manage_stories',
] as const

export type BusinessRight = (typeof BUSINESS_RIGHTS)[number]

export interface BusinessConnection {
  readonly id: string
  /** The owner of the business. */
  readonly person: Person
  /** Unix time in seconds. */
  readonly at: number
  readonly rights: readonly BusinessRight[]
  readonly isEnabled: boolean
}

/** A private chat of the business, as its owner sees it. */
export type BusinessEvent =
  | { readonly kind: 'business_connection'; readonly connection: BusinessConnection }
  | { readonly kind: 'business_message'; readonly connection: string; readonly letter: Message }
  | { readonly kind: 'business_edited'; readonly connection: string; readonly letter: Message }
  | {
      readonly kind: 'business_deleted'
      readonly connection: string
      readonly place: Chat
      readonly messages: readonly string[]
    }

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
