/** The records of the built-in messenger, derived from the schemas that its routes answer by. */
import type { Static } from 'typebox'
import type * as media from '../../http/sandbox/content-schemas.ts'
import type * as offers from '../../http/sandbox/offer-schemas.ts'
import type * as profiles from '../../http/sandbox/profile-schemas.ts'
import type * as schemas from '../../http/sandbox/schemas.ts'

export type PersonName = Pick<Person, 'id' | 'first_name'> & {
  readonly last_name?: string | null
  readonly username?: string | null
}
export type Person = Static<typeof schemas.Person>
export type Faults = Static<typeof schemas.Faults>

export type Chat = Static<typeof schemas.Chat>
export type Group = Static<typeof profiles.ChatWithMembers>
export type Role = 'owner' | 'admin' | 'member'

export type Inbox = Static<typeof schemas.Inbox>
export type Message = Inbox['messages'][number]
export type Entity = Static<typeof schemas.Entity>
export type Media = Static<typeof media.ShownMedia>
export type Poll = Static<typeof media.PollBody>
export type InlineButton = NonNullable<Message['inline_keyboard']>[number][number]
export type InlineAnswer = Static<typeof offers.Answer>
export type InlineResult = Static<typeof offers.Result>
export type OpenWebApp = Static<typeof offers.OpenWebApp>
export type Invoice = NonNullable<Message['invoice']>
export type Paying = Omit<Static<typeof offers.Pay>, 'tip_amount' | 'wait_seconds'> & {
  readonly tip_amount?: number
}
export type Payment = Static<typeof offers.Payment>
export type Topic = Static<typeof profiles.Topic>
export type StickerSet = Static<typeof profiles.StickerSet>
export type Gift = Static<typeof profiles.Gift>
export type OwnedGift = Static<typeof profiles.OwnedGift>
export type Boost = Static<typeof profiles.Boost>
export type BusinessConnection = Static<typeof profiles.BusinessConnection>
export type Story = Static<typeof profiles.Story>
export type JoinRequest = Static<typeof profiles.JoinRequest>
export type Community = Static<typeof profiles.Community>
export type OfferedRights = Static<typeof profiles.OfferedRights>
export type GivenRights = Omit<OfferedRights, 'is_asked'>
export type AdministratorRight = OfferedRights['rights'][number]
export type OpenRequest = Static<typeof profiles.OpenRequest>
export type InviteLook = Static<typeof profiles.InviteLook>
export type ManagedBot = Static<typeof profiles.ManagedBot>
export type Subscription = Static<typeof profiles.Subscription>
export type LinkedInvoice = Static<typeof profiles.LinkedInvoice>
export type StandingKeyboard = Static<typeof schemas.StandingKeyboard>

/** A key of a keyboard in the place of the ordinary one, with what it asks for. The schema leaves that open. */
export interface Key {
  readonly text: string
  readonly request_contact?: boolean
  readonly request_location?: boolean
  readonly request_poll?: { readonly type?: string }
  readonly request_users?: { readonly request_id: number; readonly max_quantity?: number }
  readonly request_chat?: { readonly request_id: number; readonly chat_is_channel?: boolean }
  readonly request_managed_bot?: { readonly request_id: number }
  readonly web_app?: { readonly url: string }
}
