/** A person of the sandbox at a device of their own: writes, edits, reacts, votes, forwards, types, presses. */

import type {
  Buttons,
  Content,
  Message,
  Poll,
  Reaction,
  TextEntity,
  Topic,
} from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Operation } from '../../../machines/model/operation.ts'
import type { TopicOperation } from '../../../machines/model/operation-topics.ts'
import type { ReplyKeyboard } from '../../../machines/model/reply-keyboard.ts'
import { carryOut, type World } from '../../platforms/sandbox/operations.ts'
import { resolve } from '../chats/find.ts'
import { follow } from '../chats/joining.ts'
import type { Watchers } from '../delivery/watchers.ts'
import { answerOf, type CallbackAnswer, press } from '../messages/callback.ts'
import type { Edit } from '../messages/edits.ts'
import type { Place } from '../messages/revise.ts'
import { stopPoll } from '../polls/stop-poll.ts'
import { vote } from '../polls/voting.ts'

/** A chat as this person names it: its id, or a public name with the at sign. */
export type Addressee = number | string

export interface Writing {
  readonly to: Addressee
  readonly text: string
  readonly entities?: readonly TextEntity[]
  readonly replyTo?: number
  readonly topic?: number
  readonly buttons?: Buttons
}

export interface Sending {
  readonly to: Addressee
  readonly contents: readonly Content[]
  readonly replyTo?: number
  readonly topic?: number
  readonly buttons?: Buttons
  readonly keyboard?: ReplyKeyboard
  readonly isProtected?: boolean
}

type Without<Whole> = Whole extends Edit ? Omit<Whole, 'chat' | 'message'> : never
/** What is to become of a message, but not of which. */
export type Change = Without<Edit>

export interface NewTopic {
  readonly name: string
  readonly iconColor?: number
  readonly icon?: string
}

export interface Press {
  readonly callback: number
  /** Nothing when nobody answered in time. */
  readonly answer: CallbackAnswer | null
}

const text = (value: string, entities: readonly TextEntity[] = []) => ({
  kind: 'text' as const,
  text: value,
  entities,
})

export class Hands {
  readonly #world: World
  readonly #watchers: Watchers
  readonly #assertIn: (person: number) => Promise<void>

  /** `assertIn` rejects for a person of another network: nobody acts as them. */
  constructor(world: World, watchers: Watchers, assertIn: (person: number) => Promise<void>) {
    this.#world = world
    this.#watchers = watchers
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
    const { to, contents, replyTo, topic, buttons, keyboard, isProtected } = sending
    const terms = {
      chat: await this.#find(to),
      ...(replyTo !== undefined && { replyTo: String(replyTo) }),
      ...(topic !== undefined && { topic: String(topic) }),
      ...(isProtected && { isProtected }),
    }
    const [content] = contents
    if (contents.length === 1) {
      const operation = { kind: 'send' as const, ...terms, content: content! }
      const markup = { ...(buttons && { buttons }), ...(keyboard && { keyboard }) }
      return [await this.#message(person, { ...operation, ...markup })]
    }
    const media = contents.filter((item) => item.kind === 'media')
    const result = await this.#do(person, { kind: 'send_album', ...terms, contents: media })
    return result.kind === 'messages' ? result.messages : []
  }

  edit(
    person: number,
    place: Place,
    to: Omit<Writing, 'to' | 'replyTo' | 'topic'>,
  ): Promise<Message> {
    const buttons = to.buttons && { buttons: to.buttons }
    const content = text(to.text, to.entities)
    return this.change(person, place, { kind: 'edit', content, ...buttons })
  }

  change(person: number, place: Place, change: Change): Promise<Message> {
    return this.#message(person, { ...nativeOf(place), ...change })
  }

  async react(person: number, place: Place, reactions: readonly Reaction[]): Promise<void> {
    await this.#do(person, { kind: 'react', ...nativeOf(place), reactions })
  }

  /** Chooses these places in a poll instead of those before. */
  async vote(person: number, place: Place, options: readonly number[]): Promise<Poll> {
    await this.#assertIn(person)
    return vote(this.#world, { person }, place, options)
  }

  async stopPoll(person: number, place: Place): Promise<Poll> {
    await this.#assertIn(person)
    return stopPoll(this.#world, { person }, place, undefined)
  }

  async delete(person: number, place: Place): Promise<void> {
    await this.#do(person, { kind: 'delete', ...nativeOf(place) })
  }

  async forward(person: number, from: Place, to: Addressee, isCopy = false): Promise<Message> {
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

  async changeTopic(person: number, operation: TopicOperation<string, string>): Promise<void> {
    await this.#do(person, operation)
  }

  /** Presses a button and waits for its answer until the signal aborts. */
  async press(person: number, at: Place, data: string, signal: AbortSignal): Promise<Press> {
    await this.#assertIn(person)
    const { db, wake } = this.#world
    const callback = await press(db, wake, person, at, data)
    return { callback, answer: await this.#watchers.until(() => answerOf(db, callback), signal) }
  }

  /** Follows an invite link or goes to a public name: `in`, or `asked` where somebody has to let them in first. */
  async follow(person: number, way: string): Promise<'in' | 'asked'> {
    await this.#assertIn(person)
    return follow(this.#world, person, way)
  }

  async #message(person: number, operation: Operation): Promise<Message> {
    const result = await this.#do(person, operation)
    if (result.kind !== 'message') throw failed('internal', '')
    return result.message
  }

  async #do(person: number, operation: Operation) {
    await this.#assertIn(person)
    return carryOut(this.#world, { person }, operation, crypto.randomUUID())
  }

  async #find(to: Addressee): Promise<string> {
    if (typeof to === 'number' || !to.startsWith('@')) return String(to)
    return (await resolve(this.#world, to.slice(1))).native
  }
}

const nativeOf = ({ chat, message }: Place) => ({ chat: String(chat), message: String(message) })
