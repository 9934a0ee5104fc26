/** Collects every native id in events, results and mentions, so that their integers are looked up together. */

import type {
  Chat,
  Content,
  ExternalReply,
  Message,
  Origin,
  Surface,
} from '../../machines/model/content.ts'
import type { Happening } from '../../machines/model/happening.ts'
import type { Invite } from '../../machines/model/membership.ts'
import type { OperationResult } from '../../machines/model/operation.ts'
import type { PastMessage } from '../../machines/model/operation-reading.ts'
import type { Person } from '../../machines/model/person.ts'
import type { Poll } from '../../machines/model/poll.ts'
import type { Text, TextEntity } from '../../machines/model/text.ts'
import type { WantedIds } from '../identities/store.ts'

type HappeningOf<Kind extends Happening['kind']> = Extract<Happening, { kind: Kind }>

const ownsMessage = (happening: HappeningOf<'message' | 'edited' | 'callback'>): boolean =>
  happening.direction === 'own' || happening.kind === 'callback'

/** A poll may come without a message. */
type Written = Content | { readonly kind: 'poll'; readonly poll: Poll }

function textsIn(content: Written): readonly Text[] {
  switch (content.kind) {
    case 'text':
      return [content]
    case 'media':
    case 'paid_media':
      return [content.caption]
    case 'game':
      return content.game.text ? [content.game.text] : []
    case 'poll': {
      const { question, options, explanation, description } = content.poll
      const further = [explanation, description].flatMap((text) => text ?? [])
      return [question, ...options.map(({ text }) => text), ...further]
    }
    default:
      return []
  }
}

/** The people in a result, except those in its messages. */
function peopleIn(result: OperationResult): readonly Person[] {
  switch (result.kind) {
    case 'person':
      return result.person ? [result.person] : []
    case 'member':
      return [result.member.person]
    case 'members':
      return result.members.map(({ person }) => person)
    case 'owned_gifts':
      return result.gifts.flatMap(({ sender }) => sender ?? [])
    case 'business':
      return [result.connection.person]
    case 'boosts':
      return result.boosts.map(({ person }) => person)
    case 'invite':
      return [result.invite.creator]
    case 'access':
      return result.people
    case 'scores':
      return result.scores.map(({ person }) => person)
    case 'transactions':
      return result.transactions.flatMap(({ person }) => person ?? [])
    default:
      return []
  }
}

/** The native id of a person by the public one; undefined if there is none. */
export type Find = (person: string) => Promise<string | undefined>

/** A mention of an unknown person becomes plain text. */
export async function renamedText<Of extends Text>(text: Of, find: Find): Promise<Of> {
  if (text.entities.every(({ person }) => person === undefined)) return text
  const entities: TextEntity[] = []
  for (const entity of text.entities) {
    const person = entity.person === undefined ? undefined : await find(entity.person)
    if (person !== undefined) entities.push({ ...entity, person })
    else if (entity.person === undefined) entities.push(entity)
  }
  return { ...text, entities }
}

export async function renamedContent<Of extends Content>(content: Of, find: Find): Promise<Of> {
  return { ...content, ...(await renamedParts(content, find)) }
}

async function renamedParts(content: Content, find: Find): Promise<object> {
  if (content.kind === 'text') return renamedText(content, find)
  if (content.kind === 'media') return { caption: await renamedText(content.caption, find) }
  if (content.kind === 'poll') return { poll: await renamedPoll(content.poll, find) }
  return {}
}

async function renamedPoll(poll: Poll, find: Find): Promise<Poll> {
  const option = async (option: Poll['options'][number]) => ({
    ...option,
    text: await renamedText(option.text, find),
  })
  return {
    ...poll,
    question: await renamedText(poll.question, find),
    options: await Promise.all(poll.options.map(option)),
    ...(poll.explanation && { explanation: await renamedText(poll.explanation, find) }),
    ...(poll.description && { description: await renamedText(poll.description, find) }),
  }
}

export class IdCollector implements WantedIds {
  readonly chats = new Map<string, Surface>()
  readonly messages = new Map<string, Set<string>>()
  readonly own = new Set<string>()
  readonly mentioned = new Map<string, Set<string>>()
  readonly fresh = new Set<string>()

  /** The messages so far were sent just now. */
  assumeNew(): void {
    for (const natives of this.messages.values())
      for (const native of natives) this.fresh.add(native)
  }

  addHappening(happening: Happening): void {
    switch (happening.kind) {
      case 'poll':
        this.#addContent(happening)
        break
      case 'message':
      case 'edited':
      case 'callback':
        // A button belongs to a message that the account itself sent.
        this.addMessage(happening.message, ownsMessage(happening))
        if (happening.kind === 'callback') this.addPerson(happening.from)
        break
      case 'reaction':
      case 'reaction_count':
      case 'receipt':
        this.#addReaction(happening)
        break
      case 'poll_answer':
      case 'inline_query':
      case 'inline_choice':
      case 'inline_callback':
      case 'shipping_query':
      case 'checkout_query':
      case 'subscription':
      case 'media_purchase':
      case 'managed_bot':
        this.addPerson(happening.person)
        if (happening.kind === 'managed_bot') this.addPerson(happening.bot)
        break
      case 'member':
        this.addChat(happening.chat)
        this.addPerson(happening.by)
        this.#addGuest(happening.after.person, happening.invite)
        break
      case 'business_connection':
        this.addPerson(happening.connection.person)
        break
      case 'business_message':
      case 'business_edited':
      case 'guest_message':
        this.addMessage(happening.letter, happening.direction === 'own')
        break
      case 'draft_stopped':
        this.addChat(happening.chat)
        break
      case 'business_deleted':
        this.addChat(happening.place)
        break
      case 'boost':
      case 'boost_removed':
        this.addChat(happening.chat)
        this.addPerson(happening.boost.person)
        break
      case 'join_request':
        this.addChat(happening.chat)
        this.#addGuest(happening.person, happening.invite)
    }
  }

  /** Somebody who joins, perhaps by the invitation of another. */
  #addGuest(person: Person, invite: Invite | undefined): void {
    this.addPerson(person)
    if (invite) this.addPerson(invite.creator)
  }

  #addReaction(happening: HappeningOf<'reaction' | 'reaction_count' | 'receipt'>): void {
    const { chat, target } = happening
    this.addChat(chat)
    if ('isRecent' in happening) {
      put(this.messages, chat.native, target)
      this.own.add(target)
    } else put(this.mentioned, chat.native, target)
    if ('person' in happening && happening.person) this.addPerson(happening.person)
  }

  addResult(result: OperationResult): void {
    for (const person of peopleIn(result)) this.addPerson(person)
    switch (result.kind) {
      case 'message':
        this.addMessage(result.message, true)
        break
      case 'messages':
        for (const message of result.messages) this.addMessage(message, true)
        break
      case 'chat':
        this.addChat(result.chat)
        if (result.chat.personal) this.addChat(result.chat.personal)
        if (result.chat.pinned) this.#addMentioned(result.chat.pinned)
        break
      case 'history':
        this.#addPast(result.messages)
        break
      case 'chats':
        for (const { chat } of result.chats) this.addChat(chat)
        this.#addPast(result.chats.flatMap(({ last }) => (last ? [last] : [])))
        break
      case 'poll':
        this.#addContent(result)
        break
      case 'topic':
        this.addChat(result.chat)
        put(this.messages, result.chat.native, result.topic.native)
        this.own.add(result.topic.native)
        break
      case 'transactions':
        for (const { chat } of result.transactions) if (chat) this.addChat(chat)
        break
      case 'story':
        this.addChat(result.story.chat)
        break
    }
  }

  /** Newest first; the oldest is added first, since new integers ascend. */
  #addPast(messages: readonly PastMessage[]): void {
    for (const { message, isOwn } of messages.toReversed()) this.addMessage(message, isOwn)
  }

  addMessage(message: Message, isOwn: boolean): void {
    const { chat, native, replyTo, topic } = message
    put(this.messages, chat.native, native)
    if (isOwn) this.own.add(native)
    this.#addParts(message)
    if (topic) put(this.mentioned, chat.native, topic.native)
    if (topic?.message) this.#addParts(topic.message)
    if (!replyTo) return
    put(this.mentioned, chat.native, replyTo.native)
    if (replyTo.message) this.#addParts(replyTo.message)
  }

  #addMentioned(message: Message): void {
    put(this.mentioned, message.chat.native, message.native)
    this.#addParts(message)
  }

  /** Adds the ids in a message, except those of the message it replies to. */
  #addParts({
    chat,
    from,
    fromChat,
    forward,
    via,
    guestCaller,
    sentBy,
    externalReply,
    ephemeral,
    content,
  }: Message): void {
    this.addChat(chat)
    if (from) this.addPerson(from)
    if (fromChat) this.addChat(fromChat)
    if (via) this.addPerson(via)
    if (guestCaller) this.addPerson(guestCaller)
    if (sentBy) this.addPerson(sentBy)
    if (forward) this.#addOrigin(forward)
    if (externalReply) this.#addExternal(externalReply)
    if (ephemeral) this.addPerson(ephemeral.receiver)
    this.#addContent(content)
    if (content.kind === 'story') this.addChat(content.chat)
    if (content.kind !== 'service') return
    if (content.fact === 'joined') for (const person of content.people) this.addPerson(person)
    if (content.fact === 'users_shared')
      for (const one of content.people) this.#addNative(one.native)
    if (content.fact === 'managed_bot_created') this.addPerson(content.bot)
    if (content.fact === 'chat_shared') this.addChat(content.chat)
    if ('post' in content && content.post) this.#addMentioned(content.post)
    if ('about' in content && content.about) this.#addMentioned(content.about)
    if (content.fact === 'gift' && content.gift.sender) this.addPerson(content.gift.sender)
    if (content.fact === 'left') this.addPerson(content.person)
    if (content.fact === 'moved_to') this.chats.set(content.chat, 'supergroup')
    if (content.fact === 'moved_from') this.chats.set(content.chat, 'group')
    if ('message' in content && content.message !== undefined) {
      put(this.mentioned, chat.native, content.message)
    }
  }

  #addExternal({ origin, chat, message, content }: ExternalReply): void {
    this.#addOrigin(origin)
    this.#addContent(content)
    if (chat) this.addChat(chat)
    if (chat && message) put(this.mentioned, chat.native, message)
  }

  #addContent(content: Written): void {
    if (content.kind === 'contact' && content.person) this.#addNative(content.person)
    if (content.kind === 'poll') {
      for (const { added } of content.poll.options) if (added) this.addPerson(added.by)
    }
    if (content.kind === 'checklist') {
      for (const { doneBy } of content.checklist.tasks) if (doneBy) this.addPerson(doneBy)
    }
    for (const { entities } of textsIn(content)) {
      for (const { person } of entities) if (person) this.#addNative(person)
    }
  }

  addChat({ native, surface, directWith, parent }: Chat): void {
    this.chats.set(native, surface)
    if (directWith) this.addPerson(directWith)
    if (parent) this.addChat(parent)
  }

  addPerson({ native }: Person): void {
    this.#addNative(native)
  }

  #addNative(person: string): void {
    if (!this.chats.has(person)) this.chats.set(person, 'private')
  }

  #addOrigin(origin: Origin): void {
    if (origin.from === 'person') this.addPerson(origin.person)
    if (origin.from !== 'chat') return
    this.addChat(origin.chat)
    if (origin.message) put(this.mentioned, origin.chat.native, origin.message)
  }
}

function put(map: Map<string, Set<string>>, key: string, value: string): void {
  const values = map.get(key)
  if (values) values.add(value)
  else map.set(key, new Set([value]))
}
