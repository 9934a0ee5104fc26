/** The API of the built-in messenger: its people, what each of them sees and does, and its records. */
import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type * as media from '../../http/sandbox/content-schemas.ts'
import type * as offers from '../../http/sandbox/offer-schemas.ts'
import type * as profiles from '../../http/sandbox/profile-schemas.ts'
import type * as schemas from '../../http/sandbox/schemas.ts'
import { call } from './call.ts'
import type { RecordPage } from './types.ts'

const MANY = 1000

export const peopleQuery = queryOptions({
  queryKey: ['sandbox', 'people'],
  queryFn: ({ signal }) =>
    call<RecordPage<Person>>('GET', '/sandbox/people', { query: { limit: MANY }, signal }),
  refetchInterval: 10_000,
})

export const groupsQuery = queryOptions({
  queryKey: ['sandbox', 'groups'],
  queryFn: ({ signal }) =>
    call<RecordPage<Group>>('GET', '/sandbox/chats', { query: { limit: MANY }, signal }),
  refetchInterval: 15_000,
})

/** `newest`: the newest message that tells of a change of topics; with another one the topics are read again. */
export const topicsQuery = (chat: number, newest: number) =>
  queryOptions({
    queryKey: ['sandbox', 'topics', chat, newest],
    queryFn: ({ signal }) =>
      call<readonly Topic[]>('GET', `/sandbox/chats/${chat}/topics`, { signal }),
    refetchInterval: 15_000,
  })

/** Only what changes. An empty icon takes the icon away; only a new topic is given a colour. */
export interface TopicLook {
  readonly name?: string
  readonly icon_color?: number
  readonly icon_custom_emoji_id?: string
}

type GeneralChange =
  | { readonly do: 'rename'; readonly name: string }
  | { readonly do: 'close' | 'reopen' | 'hide' | 'unhide' }

/** What a person does with the topics of a forum. */
export function topicsOf(person: number, chat: number) {
  const own = `/sandbox/people/${person}/chats/${chat}`
  return {
    begin: (body: TopicLook) => call<Topic>('POST', `${own}/topics`, { body }),
    change: (topic: number, body: TopicLook | { readonly is_closed: boolean }) =>
      call<true>('PATCH', `${own}/topics/${topic}`, { body }),
    remove: (topic: number) => call<true>('DELETE', `${own}/topics/${topic}`),
    changeGeneral: (body: GeneralChange) => call<true>('POST', `${own}/general_topic`, { body }),
  }
}

export const stickerSetsQuery = queryOptions({
  queryKey: ['sandbox', 'sticker sets'],
  queryFn: ({ signal }) => call<readonly StickerSet[]>('GET', '/sandbox/sticker_sets', { signal }),
})

export const giftsQuery = queryOptions({
  queryKey: ['sandbox', 'gifts'],
  queryFn: ({ signal }) => call<readonly Gift[]>('GET', '/sandbox/gifts', { signal }),
})

/** `data`: the picture in base64. */
export const createGift = (data: string, star_count: number) =>
  call<Gift>('POST', '/sandbox/gifts', { body: { sticker: { data }, star_count } })

interface NewPerson {
  readonly first_name: string
  readonly last_name?: string
  readonly phone?: string
  readonly username?: string
  readonly password?: string
}

export const createPerson = (body: NewPerson) => call<Person>('POST', '/sandbox/people', { body })

export const emptySandbox = () => call<{ emptied: boolean }>('DELETE', '/sandbox/network')

export interface NewGroup {
  readonly kind: 'group' | 'supergroup' | 'channel'
  readonly title: string
  readonly owner: number
  readonly members: readonly number[]
  /** Only a supergroup may have topics. */
  readonly is_forum?: boolean
}

export const createGroup = (body: NewGroup) => call<Group>('POST', '/sandbox/chats', { body })

const memberPath = (chat: number, person: number) => `/sandbox/chats/${chat}/members/${person}`

/** `given` only for an administrator. */
export const setRole = (chat: number, person: number, role: Role, given?: GivenRights) =>
  call<Group>('PUT', memberPath(chat, person), { body: { role, ...given } })

/** The rights that a bot asks for as an administrator, or else those that are usual. */
export const offeredRights = (chat: number, person: number) =>
  call<OfferedRights>('GET', `${memberPath(chat, person)}/offered_rights`)

export const removeMember = (chat: number, person: number) =>
  call<Group>('DELETE', memberPath(chat, person))

export interface Written {
  readonly to: number
  readonly text?: string
  readonly media?: object
  readonly album?: readonly object[]
  readonly location?: object
  readonly venue?: object
  readonly contact?: object
  readonly poll?: object
  readonly dice?: { readonly emoji: string }
  /** A part of the message answered, as it stands there. */
  readonly quote?: { readonly text: string; readonly position: number }
  /** The topic of a forum; without it, the general one. */
  readonly message_thread_id?: number
  /** The one member of a group who shall see it. */
  readonly receiver?: number
  readonly reply_to_message_id?: number
  /** A channel of the writer. */
  readonly send_as?: number
  /** `send_date` in seconds. */
  readonly suggested_post?: { readonly star_count?: number; readonly send_date?: number }
}

/** `send_date` in seconds; without it, the date that was suggested, or now. */
export type PostAnswer =
  | { readonly approve: true; readonly send_date?: number }
  | { readonly approve: false; readonly comment?: string }

interface PressAnswer {
  readonly answered: boolean
  readonly text?: string
  readonly show_alert?: boolean
  readonly url?: string
}

interface Shared {
  readonly to: number
  readonly request_id: number
  readonly user_ids?: readonly number[]
  readonly chat_id?: number
}

export type Reaction = { readonly emoji: string } | { readonly custom_emoji_id: string }

interface InlineQuery {
  readonly bot: number
  readonly chat: number
  readonly query: string
  readonly offset: string
}

/** The calls by which one person acts. */
export function personApi(person: number) {
  const own = `/sandbox/people/${person}`
  const at = ({ chat, message_id }: Message) => `${own}/chats/${chat.id}/messages/${message_id}`
  return {
    write: (body: Written) => call<Message>('POST', `${own}/messages`, { body }),
    edit: (message: Message, text: string) =>
      call<Message>('PATCH', at(message), { body: message.media ? { caption: text } : { text } }),
    answerPost: (message: Message, answer: PostAnswer) =>
      call<true>('POST', `${at(message)}/suggestion`, { body: answer }),
    remove: (message: Message) => call<true>('DELETE', at(message)),
    react: (message: Message, reaction: Reaction | undefined) =>
      call<true>('PUT', `${at(message)}/reactions`, {
        body: { reactions: reaction === undefined ? [] : [reaction] },
      }),
    forward: ({ chat, message_id }: Message, to: number) =>
      call<Message>('POST', `${own}/forwards`, { body: { to, from: chat.id, message_id } }),
    vote: (message: Message, option_ids: readonly number[]) =>
      call<Poll>('PUT', `${at(message)}/vote`, { body: { option_ids } }),
    mark: (message: Message, done: readonly number[], undone: readonly number[]) =>
      call<true>('PUT', `${at(message)}/tasks`, { body: { done, undone } }),
    addOption: (message: Message, text: string) =>
      call<Poll>('POST', `${at(message)}/options`, { body: { text } }),
    addTask: (message: Message, text: string) =>
      call<true>('POST', `${at(message)}/tasks`, { body: { text } }),
    type: (to: number, message_thread_id?: number) =>
      call<true>('POST', `${own}/typing`, {
        body: { to, ...(message_thread_id !== undefined && { message_thread_id }) },
      }),
    stopDraft: (chat: number, draft_id: number) =>
      call<true>('POST', `${own}/stopped_drafts`, { body: { chat, draft_id } }),
    /** Without data, the button that starts a game. */
    press: (
      { chat, message_id, ephemeral_message_id }: Message,
      callback_data: string | undefined,
    ) =>
      call<PressAnswer>('POST', `${own}/presses`, {
        body: {
          chat: chat.id,
          ...(ephemeral_message_id === undefined ? { message_id } : { ephemeral_message_id }),
          ...(callback_data === undefined ? { game: true } : { callback_data }),
        },
      }),
    pay: (body: Paying) => call<Payment>('POST', `${own}/payments`, { body }),
    share: (body: Shared) => call<Message>('POST', `${own}/shares`, { body }),
    openWebApp: (body: { readonly bot: number; readonly chat: number; readonly url: string }) =>
      call<OpenWebApp>('POST', `${own}/web_apps`, { body }),
    sendWebAppData: (to: number, button_text: string, data: string) =>
      call<Message>('POST', `${own}/web_app_data`, { body: { to, button_text, data } }),
    askInline: (body: InlineQuery, signal: AbortSignal) =>
      call<InlineAnswer>('POST', `${own}/inline_queries`, { body, signal }),
    pickInline: (inline_query_id: string, result_id: string) =>
      call<Message>('POST', `${own}/inline_choices`, { body: { inline_query_id, result_id } }),
    putFault: (fault: string, details: object) =>
      call<Faults>('PUT', `${own}/faults/${fault}`, { body: details }),
    clearFault: (fault: string) => call<Faults>('DELETE', `${own}/faults/${fault}`),
    clearFaults: () => call<Faults>('DELETE', `${own}/faults`),
  }
}

export type PersonApi = ReturnType<typeof personApi>

interface NewBot {
  readonly manager: number
  readonly first_name: string
  readonly username: string
  /** The id of the key that asks for a bot. */
  readonly request_id?: number
}

/** The possessions, memberships, payments and delegates of one person. */
export function profileOf(person: number) {
  const own = `/sandbox/people/${person}`
  const boosts = (chat: number) => `${own}/chats/${chat}/boosts`
  return {
    gifts: () => call<readonly OwnedGift[]>('GET', `${own}/gifts`),
    giveGift: (to: number, gift_id: string, text: string) =>
      call<true>('POST', `${own}/gifts`, { body: { to, gift_id, text } }),
    convertGift: (gift: string) => call<true>('POST', `${own}/gifts/${gift}/convert`),
    boosts: (chat: number) => call<readonly Boost[]>('GET', boosts(chat)),
    boost: (chat: number) => call<Boost>('POST', boosts(chat), { body: {} }),
    takeBoost: (chat: number, boost: string) => call<true>('DELETE', `${boosts(chat)}/${boost}`),
    /** Ordinary members of a supergroup wait so long between two messages; 0: not at all. */
    slowDown: (chat: number, seconds: number) =>
      call<true>('PUT', `${own}/chats/${chat}/slow_mode`, { body: { seconds } }),
    /** By an invite link or a public name. */
    follow: (invite_link: string) =>
      call<{ membership: 'in' | 'asked' }>('POST', `${own}/follow`, { body: { invite_link } }),
    openRequests: (chat: number) =>
      call<readonly OpenRequest[]>('GET', `${own}/chats/${chat}/join_requests`),
    answerRequest: (chat: number, asker: number, approve: boolean) =>
      call<true>('POST', `${own}/chats/${chat}/join_requests/${asker}`, { body: { approve } }),
    openDirectMessages: (channel: number) =>
      call<Chat>('PUT', `${own}/chats/${channel}/direct_messages`),
    lookAtInvite: (link: string) => call<InviteLook>('GET', `${own}/invite`, { query: { link } }),
    joinRequests: () => call<readonly JoinRequest[]>('GET', `${own}/join_requests`),
    subscriptions: () => call<readonly Subscription[]>('GET', `${own}/subscriptions`),
    changeSubscription: (charge_id: string, is_canceled: boolean) =>
      call<true>('POST', `${own}/subscriptions`, { body: { charge_id, is_canceled } }),
    communities: () => call<readonly Community[]>('GET', `${own}/communities`),
    makeCommunity: (name: string) =>
      call<Pick<Community, 'id' | 'name'>>('POST', `${own}/communities`, { body: { name } }),
    renameCommunity: (community: number, name: string) =>
      call<Pick<Community, 'id' | 'name'>>('PATCH', `${own}/communities/${community}`, {
        body: { name },
      }),
    /** Only an empty one. */
    deleteCommunity: (community: number) => call<true>('DELETE', `${own}/communities/${community}`),
    /** `chat` may be a bot, too. */
    addToCommunity: (community: number, chat: number) =>
      call<true>('PUT', `${own}/communities/${community}/chats/${chat}`),
    takeFromCommunity: (community: number, chat: number) =>
      call<true>('DELETE', `${own}/communities/${community}/chats/${chat}`),
    joinInCommunity: (community: number, chat: number) =>
      call<{ membership: 'in' | 'asked' }>(
        'POST',
        `${own}/communities/${community}/chats/${chat}/join`,
      ),
    invoice: (link: string) => call<LinkedInvoice>('GET', `${own}/invoice`, { query: { link } }),
    stories: () => call<readonly Story[]>('GET', `${own}/stories`),
    business: () => call<readonly BusinessConnection[]>('GET', `${own}/business`),
    connect: (account: number, rights: readonly string[]) =>
      call<BusinessConnection>('PUT', `${own}/business/${account}`, { body: { rights } }),
    disconnect: (account: number) =>
      call<BusinessConnection>('DELETE', `${own}/business/${account}`),
    bots: () => call<readonly ManagedBot[]>('GET', `${own}/managed_bots`),
    makeBot: (body: NewBot) => call<PersonName>('POST', `${own}/managed_bots`, { body }),
    replaceToken: (bot: number) => call<true>('POST', `${own}/managed_bots/${bot}/token`),
    setPhoto: (data: string) => call<true>('PUT', `${own}/photo`, { body: { data } }),
  }
}

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
type OpenWebApp = Static<typeof offers.OpenWebApp>
export type Invoice = NonNullable<Message['invoice']>
export type Paying = Omit<Static<typeof offers.Pay>, 'tip_amount' | 'wait_seconds'> & {
  readonly tip_amount?: number
}
export type Payment = Static<typeof offers.Payment>
export type Topic = Static<typeof profiles.Topic>
export type StickerSet = Static<typeof profiles.StickerSet>
export type Gift = Static<typeof profiles.Gift>
type OwnedGift = Static<typeof profiles.OwnedGift>
type Boost = Static<typeof profiles.Boost>
export type BusinessConnection = Static<typeof profiles.BusinessConnection>
type Story = Static<typeof profiles.Story>
export type JoinRequest = Static<typeof profiles.JoinRequest>
export type Community = Static<typeof profiles.Community>
type OfferedRights = Static<typeof profiles.OfferedRights>
export type GivenRights = Omit<OfferedRights, 'is_asked'>
export type AdministratorRight = OfferedRights['rights'][number]
type OpenRequest = Static<typeof profiles.OpenRequest>
type InviteLook = Static<typeof profiles.InviteLook>
type ManagedBot = Static<typeof profiles.ManagedBot>
type Subscription = Static<typeof profiles.Subscription>
type LinkedInvoice = Static<typeof profiles.LinkedInvoice>
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
