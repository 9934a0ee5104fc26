/** The actions of people by the sandbox's own routes: they write, edit, react, vote, forward, type and press buttons. */

import type { BusinessConnection, BusinessRight } from '../../machines/model/business.ts'
import type { Buttons, ReplyKeyboard } from '../../machines/model/buttons.ts'
import type { Chat, Content, Message, Reaction } from '../../machines/model/content.ts'
import { failed } from '../../machines/model/failure.ts'
import type { OwnedGift } from '../../machines/model/gift.ts'
import type { Media } from '../../machines/model/media.ts'
import type { Boost } from '../../machines/model/membership.ts'
import type { Operation, OperationOf } from '../../machines/model/operation.ts'
import type { AdministrationOperation } from '../../machines/model/operation-administration.ts'
import type { TopicOperation } from '../../machines/model/operation-chats.ts'
import type { PostTerms } from '../../machines/model/payment.ts'
import type { Poll } from '../../machines/model/poll.ts'
import type { Quote, TextEntity } from '../../machines/model/text.ts'
import type { Topic } from '../../machines/model/topic.ts'
import { boostsBy, giveBoost, takeBoost } from './boosts/boosts.ts'
import { connectBusiness, connectionsOf, disconnectBusiness } from './business/connections.ts'
import type { MessageRef } from './chats/find-message.ts'
import { joinChat, lookAtInvite } from './chats/joining.ts'
import { findByName } from './chats/lookup.ts'
import { markDelivered } from './chats/reading.ts'
import { senderOf } from './chats/titles.ts'
import type { Hub } from './delivery/hub.ts'
import { callGuests } from './inline/inline-mode.ts'
import { type CallbackAnswer, findAnswer, press } from './messages/callback.ts'
import { addTask, type Marks, markTasks } from './messages/checklists.ts'
import type { Edit } from './messages/edit.ts'
import { type Share, sharedContent, webAppData } from './messages/sharing.ts'
import { openDirectMessages } from './messages/suggested-posts.ts'
import type { Call, NetworkContext } from './network/context.ts'
import { execute } from './operations.ts'
import { subscriptionsOf } from './payments/stars.ts'
import { allowEmojiStatus } from './people/honours.ts'
import { addOption, vote } from './polls/polls.ts'

/** A chat as this person names it: its id, or a public name with the at sign. */
type Addressee = number | string

interface Writing {
  readonly to: Addressee
  readonly text: string
  readonly entities?: readonly TextEntity[]
  readonly replyTo?: number
  readonly topic?: number
  readonly buttons?: Buttons
}

interface Sending {
  readonly to: Addressee
  readonly contents: readonly Content[]
  readonly replyTo?: number
  /** The chat of the message answered, where it is another one. */
  readonly replyFrom?: number
  readonly quote?: Quote
  readonly topic?: number
  readonly buttons?: Buttons
  readonly keyboard?: ReplyKeyboard
  readonly isProtected?: boolean
  readonly effect?: string
  /** The terms on which the message suggests a post to a channel. */
  readonly suggested?: PostTerms
  /** A channel of the person, in whose name it is written to a supergroup. */
  readonly sendAs?: number
  /** The one member of a group who shall see it. */
  readonly receiver?: number
}

type Sender = Pick<Call, 'sendAs'>

type Without<Whole> = Whole extends Edit ? Omit<Whole, 'chat' | 'message'> : never
/** An edit without the message that it changes. */
export type PersonEdit = Without<Edit>

interface NewTopic {
  readonly name: string
  readonly iconColor?: number
  readonly icon?: string
}

interface Press {
  readonly callback: number
  /** Null when the bot did not answer in time. */
  readonly answer: CallbackAnswer | null
}

const text = (value: string, entities: readonly TextEntity[] = []) => ({
  kind: 'text' as const,
  text: value,
  entities,
})

export class PersonActions {
  readonly #context: NetworkContext
  readonly #hub: Hub
  readonly #assertIn: (person: number) => Promise<void>

  /** `assertIn` rejects for a person of another network. */
  constructor(context: NetworkContext, hub: Hub, assertIn: (person: number) => Promise<void>) {
    this.#context = context
    this.#hub = hub
    this.#assertIn = assertIn
  }

  async write(person: number, writing: Writing): Promise<Message> {
    const { text: value, entities, ...rest } = writing
    const [message] = await this.send(person, { ...rest, contents: [text(value, entities)] })
    return message!
  }

  /** One message, or several media as an album. */
  async send(person: number, sending: Sending): Promise<readonly Message[]> {
    await this.#assertIn(person)
    const { to, contents, replyTo, replyFrom, quote, topic, buttons, keyboard, isProtected } =
      sending
    const terms = {
      chat: await this.#find(to),
      ...(replyTo !== undefined && { replyTo: String(replyTo) }),
      ...(replyFrom !== undefined && { replyFrom: String(replyFrom) }),
      ...(quote && { quote }),
      ...(topic !== undefined && { topic: String(topic) }),
      ...(isProtected && { isProtected }),
      ...(sending.effect !== undefined && { effect: sending.effect }),
      ...(sending.suggested && { suggested: sending.suggested }),
    }
    const [content] = contents
    const at = { to: Number(terms.chat), channel: sending.sendAs }
    const sender = await senderOf(this.#context, person, at)
    if (sending.receiver !== undefined) return [await this.#whisper(person, sending, terms)]
    if (contents.length === 1) {
      const operation = { kind: 'send' as const, ...terms, content: content! }
      const markup = { ...(buttons && { buttons }), ...(keyboard && { keyboard }) }
      const message = await this.#message(person, { ...operation, ...markup }, sender)
      await callGuests(this.#context, person, message)
      return [message]
    }
    const media = contents.filter((item) => item.kind === 'media')
    const album = { kind: 'send_album' as const, ...terms, contents: media }
    const result = await this.#do(person, album, sender)
    return result.kind === 'messages' ? result.messages : []
  }

  #whisper(
    person: number,
    { contents, buttons, receiver, sendAs }: Sending,
    { chat, replyTo, topic }: { chat: string; replyTo?: string; topic?: string },
  ): Promise<Message> {
    const [content] = contents
    if (contents.length !== 1) throw failed('bad_request', "an album can't be ephemeral")
    if (sendAs !== undefined) throw failed('bad_request', 'SEND_AS_PEER_INVALID')
    return this.#message(person, {
      kind: 'send_ephemeral',
      chat,
      receiver: String(receiver),
      content: content!,
      ...(replyTo !== undefined && { replyTo }),
      ...(topic !== undefined && { topic }),
      ...(buttons && { buttons }),
    })
  }

  edit(
    person: number,
    ref: MessageRef,
    to: Omit<Writing, 'to' | 'replyTo' | 'topic'>,
  ): Promise<Message> {
    const buttons = to.buttons && { buttons: to.buttons }
    const content = text(to.text, to.entities)
    return this.change(person, ref, { kind: 'edit', content, ...buttons })
  }

  change(person: number, ref: MessageRef, change: PersonEdit): Promise<Message> {
    return this.#message(person, { ...nativeOf(ref), ...change })
  }

  async react(person: number, ref: MessageRef, reactions: readonly Reaction[]): Promise<void> {
    await this.#do(person, { kind: 'react', ...nativeOf(ref), reactions })
  }

  /** Marks a chat as read up to a message, or all of it. */
  async read(person: number, to: Addressee, message?: number): Promise<void> {
    await this.#assertIn(person)
    const upTo = message !== undefined && { message: String(message) }
    await this.#do(person, { kind: 'mark_read', chat: await this.#find(to), ...upTo })
  }

  /** A device of the person gets a private chat up to a message, or all of it. */
  async deliver(person: number, to: Addressee, message?: number): Promise<void> {
    await this.#assertIn(person)
    const call = { context: this.#context, by: { person }, request: crypto.randomUUID() }
    const upTo = message !== undefined && { message: String(message) }
    await markDelivered(call, { chat: await this.#find(to), ...upTo })
  }

  /** Replaces the person's vote by these options of the poll. */
  async vote(person: number, ref: MessageRef, options: readonly number[]): Promise<Poll> {
    await this.#assertIn(person)
    return vote(this.#context, { person }, ref, options)
  }

  addOption(person: number, ref: MessageRef, option: string): Promise<Poll> {
    return this.#announcing(person, () => addOption(this.#context, person, ref, text(option)))
  }

  /** Marks tasks of a checklist as done and as not done, by their ids. */
  markTasks(person: number, ref: MessageRef, marks: Marks): Promise<void> {
    return this.#announcing(person, () => markTasks(this.#context, person, ref, marks))
  }

  addTask(person: number, ref: MessageRef, task: string): Promise<void> {
    return this.#announcing(person, () => addTask(this.#context, person, ref, text(task)))
  }

  /** A change that a service message tells the chat of. */
  async #announcing<Changed>(person: number, change: () => Promise<Changed>): Promise<Changed> {
    await this.#assertIn(person)
    return this.#context.capacity.reserve(this.#context.network, 1, change)
  }

  async stopPoll(person: number, ref: MessageRef): Promise<Poll> {
    const result = await this.#do(person, { kind: 'stop_poll', ...nativeOf(ref) })
    if (result.kind !== 'poll') throw failed('internal', '')
    return result.poll
  }

  async delete(person: number, ref: MessageRef): Promise<void> {
    await this.#do(person, { kind: 'delete', ...nativeOf(ref) })
  }

  async forward(person: number, from: MessageRef, to: Addressee, isCopy = false): Promise<Message> {
    await this.#assertIn(person)
    const { chat, message } = nativeOf(from)
    const kind = isCopy ? 'copy' : 'forward'
    return this.#message(person, { kind, from: chat, message, chat: await this.#find(to) })
  }

  async type(person: number, to: Addressee, action: string, topic?: number): Promise<void> {
    await this.#assertIn(person)
    const within = topic !== undefined && { topic: String(topic) }
    await this.#do(person, { kind: 'act', chat: await this.#find(to), action, ...within })
  }

  async createTopic(person: number, chat: number, look: NewTopic): Promise<Topic> {
    const result = await this.#do(person, { kind: 'create_topic', chat: String(chat), ...look })
    if (result.kind !== 'topic') throw failed('internal', '')
    return result.topic
  }

  async administer(
    person: number,
    operation: AdministrationOperation<string, string> | OperationOf<'answer_join'>,
  ): Promise<void> {
    await this.#do(person, operation)
  }

  async giveGift(person: number, to: number, gift: string, words: string): Promise<void> {
    const said = { text: words, entities: [] }
    const terms = { chat: String(to), gift, text: said, paysUpgrade: false }
    await this.#do(person, { kind: 'send_gift', ...terms })
  }

  /** The newest gifts that the person has kept. */
  async ownedGifts(person: number): Promise<readonly OwnedGift[]> {
    const all = { without: [], byPrice: false, limit: 100 }
    const result = await this.#do(person, { kind: 'owned_gifts', ...all })
    return result.kind === 'owned_gifts' ? result.gifts : []
  }

  async convertGift(person: number, gift: string): Promise<void> {
    await this.#do(person, { kind: 'convert_gift', gift })
  }

  /** Lets an account act in the person's private chats. */
  async connectBusiness(
    person: number,
    account: number,
    rights: readonly BusinessRight[],
  ): Promise<BusinessConnection> {
    await Promise.all([this.#assertIn(person), this.#assertIn(account)])
    return connectBusiness(this.#context, person, account, rights)
  }

  async disconnectBusiness(person: number, account: number): Promise<BusinessConnection> {
    await this.#assertIn(person)
    return disconnectBusiness(this.#context, person, account)
  }

  async businessConnections(person: number): ReturnType<typeof connectionsOf> {
    await this.#assertIn(person)
    return connectionsOf(this.#context.db, person)
  }

  async boost(person: number, chat: number, seconds: number): Promise<Boost> {
    await this.#assertIn(person)
    return giveBoost(this.#context, person, chat, seconds)
  }

  async subscriptions(person: number): ReturnType<typeof subscriptionsOf> {
    await this.#assertIn(person)
    return subscriptionsOf(this.#context, person)
  }

  async boosts(person: number, chat: number): Promise<readonly Boost[]> {
    await this.#assertIn(person)
    return boostsBy(this.#context, person, chat)
  }

  async takeBoost(person: number, chat: number, boost: string): Promise<void> {
    await this.#assertIn(person)
    await takeBoost(this.#context, person, chat, boost)
  }

  /** Whether `account` may set the person's emoji status. */
  async allowEmojiStatus(person: number, account: number, isAllowed: boolean): Promise<void> {
    await Promise.all([this.#assertIn(person), this.#assertIn(account)])
    await allowEmojiStatus(this.#context, person, account, isAllowed)
  }

  /** Without a photo, removes the newest one of the profile, or that of the chat. */
  async setPhoto(person: number, photo: Media | undefined, chat?: number): Promise<void> {
    const given = photo && { photo }
    await this.#do(
      person,
      chat === undefined
        ? { kind: 'set_profile_photo', ...given }
        : { kind: 'set_photo', chat: String(chat), ...given },
    )
  }

  async changeTopic(person: number, operation: TopicOperation<string, string>): Promise<void> {
    await this.#do(person, operation)
  }

  /** Presses a button, without data the one that starts a game, and waits for its answer until the signal aborts. */
  async press(
    person: number,
    at: MessageRef & { readonly isEphemeral?: boolean },
    data: string | undefined,
    signal: AbortSignal,
  ): Promise<Press> {
    await this.#assertIn(person)
    const { db, wake } = this.#context
    const callback = await press(db, wake, person, at, data, at.isEphemeral)
    return { callback, answer: await this.#hub.until(() => findAnswer(db, callback), signal) }
  }

  /** Shares the people or the chat that a key asks for. */
  async share(person: number, share: Share): Promise<Message> {
    await this.#assertIn(person)
    const content = await sharedContent(this.#context, person, share)
    return this.#message(person, { kind: 'send', chat: `${share.to}`, content })
  }

  /** Sends what came of a web app that a key has opened. */
  async sendWebAppData(person: number, sent: Parameters<typeof webAppData>[2]): Promise<Message> {
    await this.#assertIn(person)
    const content = await webAppData(this.#context, person, sent)
    return this.#message(person, { kind: 'send', chat: `${sent.to}`, content })
  }

  /** Opens the conversation of a person with a channel, where it is not open yet. */
  async openDirectMessages(person: number, channel: number): Promise<Chat> {
    await this.#assertIn(person)
    return openDirectMessages(this.#context, person, channel)
  }

  /** Joins by an invite link or a public name. `asked`: an administrator has to approve first. */
  async join(person: number, way: string): Promise<'in' | 'asked'> {
    await this.#assertIn(person)
    return joinChat(this.#context, person, way)
  }

  async lookAtInvite(person: number, link: string): ReturnType<typeof lookAtInvite> {
    await this.#assertIn(person)
    return lookAtInvite(this.#context, link)
  }

  async #message(person: number, operation: Operation, sender?: Sender): Promise<Message> {
    const result = await this.#do(person, operation, sender)
    if (result.kind !== 'message') throw failed('internal', '')
    return result.message
  }

  async #do(person: number, operation: Operation, sender?: Sender) {
    await this.#assertIn(person)
    const by = { person }
    const call = { context: this.#context, by, request: crypto.randomUUID(), ...sender }
    return execute(call, operation)
  }

  async #find(to: Addressee): Promise<string> {
    if (typeof to === 'number' || !to.startsWith('@')) return String(to)
    return (await findByName(this.#context, to.slice(1))).native
  }
}

const nativeOf = ({ chat, message }: MessageRef) => ({
  chat: String(chat),
  message: String(message),
})
