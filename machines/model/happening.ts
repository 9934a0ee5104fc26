/** An event on the network as a session reports it, before it becomes an update of the bot API. */
import type { BusinessEvent } from './business.ts'
import type { Buttons } from './buttons.ts'
import type { Chat, Message, Reaction, Service, Surface } from './content.ts'
import type { Boost, Invite, Member } from './membership.ts'
import type { InlineQuery } from './operation-inline.ts'
import type { Order, PostalAddress } from './payment.ts'
import type { Person } from './person.ts'
import type { Poll } from './poll.ts'

interface Happened {
  /** Stable native identity of this event: the same event reported twice has the same key. */
  readonly sourceKey: string
  /** `own`: done by the account itself, on any device. */
  readonly direction: 'incoming' | 'own'
  /** Unix time in seconds. */
  readonly at: number
  /** Fetched after a gap rather than pushed live. */
  readonly recovered?: boolean
}

/** The content of a pressed button: words of the bot, or the name of the game that it starts. */
type Pressed = { readonly data: string } | { readonly game: string }

export type Happening =
  | (Happened & { readonly kind: 'message' | 'edited'; readonly message: Message })
  | (Happened & {
      readonly kind: 'deleted'
      /** Absent if the network does not say it; the core finds the chat by the message ids. */
      readonly chat?: string
      readonly surface?: Surface
      readonly messages: readonly string[]
    })
  | (Happened &
      Pressed & {
        readonly kind: 'callback'
        readonly callback: string
        readonly from: Person
        readonly message: Message
        readonly buttons?: Buttons
      })
  /** A person changed their reactions to a message. */
  | (Happened & {
      readonly kind: 'reaction'
      readonly chat: Chat
      /** The message's native id. */
      readonly target: string
      readonly person: Person
      readonly before: readonly Reaction[]
      readonly after: readonly Reaction[]
    })
  /** For anonymous reactions: the current count of each. */
  | (Happened & {
      readonly kind: 'reaction_count'
      readonly chat: Chat
      readonly target: string
      readonly counts: readonly { readonly reaction: Reaction; readonly count: number }[]
    })
  /** `read`: the account's own messages up to this one were read; `delivered`: this one has reached a device. */
  | (Happened & {
      readonly kind: 'receipt'
      readonly state: 'delivered' | 'read'
      readonly chat: Chat
      /** The message's native id. */
      readonly target: string
      /** Absent where the network does not say who. */
      readonly person?: Person
      /** Sent in this session: it may be reported before the answer to the send has named the message. */
      readonly isRecent?: true
    })
  /** A poll that the account sent, or one that was stopped, stands differently. */
  | (Happened & { readonly kind: 'poll'; readonly poll: Poll })
  | (Happened & {
      readonly kind: 'poll_answer'
      readonly poll: string
      readonly person: Person
      /** Places of the options chosen; none: the vote was taken back. */
      readonly options: readonly number[]
    })
  /** The membership of a person changed; the account's own where `isSelf`. */
  | (Happened & {
      readonly kind: 'member'
      readonly chat: Chat
      readonly by: Person
      readonly isSelf: boolean
      readonly before: Member
      readonly after: Member
      readonly invite?: Invite
      /** The new member had asked to join without an invite link. */
      readonly viaRequest?: boolean
    })
  | (Happened & BusinessEvent)
  | (Happened & { readonly kind: 'boost'; readonly chat: Chat; readonly boost: Boost })
  | (Happened & { readonly kind: 'boost_removed'; readonly chat: Chat; readonly boost: Boost })
  | (Happened & {
      readonly kind: 'join_request'
      readonly chat: Chat
      readonly person: Person
      readonly bio?: string
      readonly invite?: Invite
      /** Only for the bot that answers in the administrators' place: the name of its query. */
      readonly query?: string
    })
  /** An update of a network that speaks the bot API itself, as it came. */
  | (Happened & {
      readonly kind: 'update'
      /** The name of its kind, which may be newer than this version. */
      readonly update: string
      readonly chatId?: number
      readonly surface?: Surface
      /** The JSON text of its members without the id, in the form of the log. */
      readonly payload: string
    })

  /** A person writes to the account in inline mode. */
  | (Happened & {
      readonly kind: 'inline_query'
      readonly id: string
      readonly person: Person
      readonly query: InlineQuery
    })
  /** A person sent one of the results that the account offered. */
  | (Happened & {
      readonly kind: 'inline_choice'
      readonly result: string
      readonly person: Person
      readonly query: InlineQuery
      /** The id of the message, where it has buttons. */
      readonly inline?: string
    })
  /** Somebody named the account in a chat that it is no member of. */
  | (Happened & {
      readonly kind: 'guest_message'
      readonly id: string
      /** As its author sees it. */
      readonly letter: Message
    })
  /** A button of a message that a person sent by way of the account. */
  | (Happened &
      Pressed & {
        readonly kind: 'inline_callback'
        readonly callback: string
        readonly person: Person
        readonly inline: string
        /** The same for all messages of one chat. */
        readonly place: string
      })

  /** A buyer asks for the ways of shipping to an address. */
  | (Happened & {
      readonly kind: 'shipping_query'
      readonly id: string
      readonly person: Person
      readonly payload: string
      readonly address: PostalAddress
    })
  /** A buyer is about to pay; the account has to agree. */
  | (Happened & {
      readonly kind: 'checkout_query'
      readonly id: string
      readonly person: Person
      readonly payload: string
      readonly currency: string
      readonly total: number
      readonly option?: string
      readonly order?: Order
    })
  /** A buyer ended a subscription or took it up again. */
  | (Happened & {
      readonly kind: 'subscription'
      readonly person: Person
      readonly payload: string
      readonly state: 'canceled' | 'active'
    })
  /** A reader has paid for media that the account sent with a payload. */
  | (Happened & {
      readonly kind: 'media_purchase'
      readonly person: Person
      readonly payload: string
    })
  /** The reader of a draft wants no more of it. */
  | (Happened & { readonly kind: 'draft_stopped'; readonly chat: Chat; readonly draft: number })
  /** A bot was made for the account, which manages it, or its owner has replaced its token. */
  | (Happened & { readonly kind: 'managed_bot'; readonly person: Person; readonly bot: Person })

/** The source key of a poll's end: some networks report it to the account that stopped the poll, too. */
export const endKey = ({ id, voters }: Poll): string | undefined =>
  id === undefined ? undefined : `poll_ended:${id}:${voters}`

/** Happenings that carry a message. */
export type Telling = Extract<Happening, { readonly message: Message }>

/** The receive settings of a credential. */
export interface ReceiveSettings {
  readonly includeSelfUpdates: boolean
  readonly includeChannelUpdates: boolean
  readonly includeChannelUpdateRecovery: boolean
  readonly includeDeletedUpdates: boolean
}

/** Changes of state are updates for a bot, no matter who made them. */
const ALWAYS_TOLD: readonly Happening['kind'][] = ['member', 'poll']

/** So are these service messages, as in the reference. */
const TOLD_FACTS: ReadonlySet<Service['fact']> = new Set<Service['fact']>([
  'left',
  'title',
  'photo',
  'pinned',
  'topic_created',
  'topic_edited',
  'topic_closed',
  'topic_reopened',
  'general_topic_hidden',
  'general_topic_unhidden',
  'post_approved',
  'post_approval_failed',
  'post_declined',
  'post_paid',
  'post_refunded',
  'refunded',
  'option_added',
])

const isToldFact = (happening: Happening): boolean =>
  happening.kind === 'message' &&
  happening.message.content.kind === 'service' &&
  TOLD_FACTS.has(happening.message.content.fact)

/** Whether the receive settings let this event become an update. */
export function admits(settings: ReceiveSettings, happening: Happening): boolean {
  const channel = surfaceOf(happening) === 'channel'
  const isAlwaysTold = ALWAYS_TOLD.includes(happening.kind) || isToldFact(happening)
  const isEcho = happening.direction === 'own' && !isAlwaysTold
  if (isEcho && !settings.includeSelfUpdates) return false
  if (channel && !settings.includeChannelUpdates) return false
  if (channel && happening.recovered && !settings.includeChannelUpdateRecovery) return false
  return !isDeletion(happening) || settings.includeDeletedUpdates
}

const isDeletion = (happening: Happening): boolean =>
  happening.kind === 'update'
    ? happening.update === 'deleted_messages'
    : happening.kind === 'deleted'

function surfaceOf(happening: Happening): Surface | undefined {
  if (happening.kind === 'deleted' || happening.kind === 'update') return happening.surface
  if ('message' in happening) return happening.message.chat.surface
  return 'chat' in happening ? happening.chat.surface : undefined
}
