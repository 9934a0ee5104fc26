/** The records of the built-in messenger, as far as the panel shows them. */
export interface PersonName {
  readonly id: number
  readonly first_name: string
  readonly last_name?: string | null
  readonly username?: string | null
}

export interface Faults {
  readonly drop?: { readonly until: string }
  readonly silence?: object
  readonly flood_wait?: { readonly until: string }
  readonly delay?: { readonly milliseconds: number }
  readonly duplicate?: object
  readonly reorder?: object
  readonly lose_answers?: { readonly times: number }
  readonly ban?: object
}

export interface Person extends PersonName {
  readonly phone: string
  readonly deactivated: boolean
  readonly linked_sessions: number
  readonly faults: Faults
}

export interface Chat {
  readonly id: number
  readonly type: string
  readonly title?: string
  readonly first_name?: string
  readonly last_name?: string
  readonly username?: string
  readonly description?: string
}

export type Role = 'owner' | 'admin' | 'member'

export interface Group extends Chat {
  readonly members: readonly { readonly person: PersonName; readonly role: string }[]
}

export interface Entity {
  readonly type: string
  readonly offset: number
  readonly length: number
  readonly url?: string
}

export interface Media {
  readonly type: string
  readonly file: string
  readonly url: string
  readonly file_name?: string
  readonly mime_type?: string
  readonly file_size?: number
  readonly width?: number
  readonly height?: number
  readonly emoji?: string
}

export interface Poll {
  readonly question: string
  readonly options: readonly { readonly text: string; readonly voter_count: number }[]
  readonly total_voter_count: number
  readonly is_closed: boolean
  readonly allows_multiple_answers: boolean
}

export interface InlineButton {
  readonly text: string
  readonly callback_data?: string
  readonly url?: string
}

export interface Message {
  readonly message_id: number
  readonly chat: Chat
  readonly from?: PersonName
  readonly date: number
  readonly edit_date?: number
  readonly text?: string
  readonly entities?: readonly Entity[]
  readonly media?: Media
  readonly caption?: string
  readonly caption_entities?: readonly Entity[]
  readonly location?: { readonly latitude: number; readonly longitude: number }
  readonly venue?: { readonly title: string; readonly address: string }
  readonly contact?: { readonly phone_number: string; readonly first_name: string }
  readonly poll?: Poll
  readonly dice?: { readonly emoji: string; readonly value: number }
  readonly service?: string
  readonly reply_to_message_id?: number
  readonly forwarded_from?: string
  /** The same for all messages of an album. */
  readonly media_group_id?: string
  readonly inline_keyboard?: readonly (readonly InlineButton[])[]
  readonly reactions?: readonly { readonly person: PersonName; readonly emoji?: string }[]
}

/** A key of a keyboard in the place of the ordinary one, with what it asks for. */
export interface Key {
  readonly text: string
  readonly request_contact?: boolean
  readonly request_location?: boolean
  readonly request_poll?: { readonly type?: string }
  readonly request_users?: object
  readonly request_chat?: object
  readonly request_managed_bot?: object
  readonly web_app?: object
}

/** What stands in a chat in the place of the ordinary keyboard. */
export interface StandingKeyboard {
  readonly chat: Chat
  readonly message_id: number
  readonly keyboard?: readonly (readonly Key[])[]
  readonly is_persistent?: boolean
  readonly one_time_keyboard?: boolean
  readonly force_reply?: boolean
  readonly input_field_placeholder?: string
  /** One for once was used: hidden until it is called back. */
  readonly used: boolean
}

export interface Inbox {
  readonly tag: string
  readonly messages: readonly Message[]
  readonly typing: readonly { readonly chat: Chat; readonly person: PersonName }[]
  readonly keyboards: readonly StandingKeyboard[]
  readonly codes: readonly { readonly code: string; readonly expires_at: string }[]
}
