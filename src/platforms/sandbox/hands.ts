/** A person of the sandbox at a device of their own: writes, edits, deletes, forwards, types, presses. */
import { failed } from '../../../actors/errors.ts'
import type { Buttons, Message, TextEntity } from '../../../machines/content.ts'
import type { Operation } from '../../../machines/operation.ts'
import { answerOf, type CallbackAnswer, press } from './callback.ts'
import { resolve } from './find.ts'
import { carryOut, type World } from './operations.ts'
import type { Place } from './revise.ts'
import type { Watchers } from './watchers.ts'

/** A chat as this person names it: its id, or a public name with the at sign. */
export type Addressee = number | string

export interface Writing {
  readonly to: Addressee
  readonly text: string
  readonly entities?: readonly TextEntity[]
  readonly replyTo?: number
  readonly buttons?: Buttons
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

  constructor(world: World, watchers: Watchers) {
    this.#world = world
    this.#watchers = watchers
  }

  async write(person: number, writing: Writing): Promise<Message> {
    return this.#message(person, {
      kind: 'send',
      chat: await this.#find(writing.to),
      content: text(writing.text, writing.entities),
      ...(writing.replyTo !== undefined && { replyTo: String(writing.replyTo) }),
      ...(writing.buttons && { buttons: writing.buttons }),
    })
  }

  async edit(person: number, place: Place, to: Omit<Writing, 'to' | 'replyTo'>): Promise<Message> {
    return this.#message(person, {
      kind: 'edit',
      ...nativeOf(place),
      content: text(to.text, to.entities),
      ...(to.buttons && { buttons: to.buttons }),
    })
  }

  async delete(person: number, place: Place): Promise<void> {
    await this.#do(person, { kind: 'delete', ...nativeOf(place) })
  }

  async forward(person: number, from: Place, to: Addressee, isCopy = false): Promise<Message> {
    const { chat, message } = nativeOf(from)
    const kind = isCopy ? 'copy' : 'forward'
    return this.#message(person, { kind, from: chat, message, chat: await this.#find(to) })
  }

  async type(person: number, to: Addressee, action: string): Promise<void> {
    await this.#do(person, { kind: 'act', chat: await this.#find(to), action })
  }

  /** Presses a button and waits for its answer until the signal aborts. */
  async press(person: number, at: Place, data: string, signal: AbortSignal): Promise<Press> {
    const { db, wake } = this.#world
    const callback = await press(db, wake, person, at, data)
    return { callback, answer: await this.#watchers.until(() => answerOf(db, callback), signal) }
  }

  async #message(person: number, operation: Operation): Promise<Message> {
    const result = await this.#do(person, operation)
    if (result.kind !== 'message') throw failed('internal', '')
    return result.message
  }

  async #do(person: number, operation: Operation) {
    try {
      return await carryOut(this.#world, { person }, operation, crypto.randomUUID())
    } catch (cause) {
      const known = await this.#world.db.query('select from sandbox_person where id = $1', [person])
      throw known.length > 0 ? cause : failed('not_found', '', {}, { cause })
    }
  }

  async #find(to: Addressee): Promise<string> {
    if (typeof to === 'number' || !to.startsWith('@')) return String(to)
    return (await resolve(this.#world.db, to.slice(1))).native
  }
}

const nativeOf = ({ chat, message }: Place) => ({ chat: String(chat), message: String(message) })
