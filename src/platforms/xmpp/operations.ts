/** Carries out the operations of an account on its stream. */

import type { Content, Message } from '../../../machines/model/content.ts'
import { failed, RequestFailed } from '../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../machines/model/operation.ts'
import { sendAlbum } from './album.ts'
import { type Carried, written } from './content.ts'
import { unanswered } from './failures.ts'
import type { Uploads } from './media/uploads.ts'
import type { Place, Places } from './places.ts'
import { performInRoom } from './rooms/operations.ts'
import type { Stream } from './stream.ts'
import { chatState, correction, retraction, textMessage } from './writing.ts'

export interface OperationParts {
  readonly stream: Stream
  readonly places: Places
  readonly uploads: Uploads
}

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

export class Operations {
  readonly #parts: OperationParts

  constructor(parts: OperationParts) {
    this.#parts = parts
  }

  /** Rejects with nothing but `RequestFailed`. */
  async perform(operation: Operation, id: string, signal: AbortSignal): Promise<OperationResult> {
    try {
      return await this.#carryOut(operation, id, signal)
    } catch (cause) {
      throw cause instanceof RequestFailed ? cause : unanswered(cause)
    }
  }

  async #carryOut(operation: Operation, id: string, signal: AbortSignal): Promise<OperationResult> {
    switch (operation.kind) {
      case 'send':
        return this.#send(operation, id, signal)
      case 'send_album': {
        const place = await this.#parts.places.at(operation.chat, signal)
        const write = (carried: Carried) => this.#written(carried, id, signal)
        return sendAlbum(place, operation, id, write, signal)
      }
      case 'edit_caption':
        return this.#recaption(operation, id, signal)
      case 'edit':
        return this.#edit(operation, id, signal)
      case 'delete':
        return this.#delete(operation, id, signal)
      case 'forward':
      case 'copy':
        return this.#passOn(operation, id, signal)
      case 'act':
        return this.#act(operation, signal)
      case 'resolve':
        return { kind: 'chat', chat: await this.#parts.places.resolve(operation.name, signal) }
      case 'describe':
        return { kind: 'chat', chat: await this.#parts.places.describe(operation.chat, signal) }
      case 'leave':
      case 'count_members':
      case 'administrators':
      case 'member':
      case 'set_title':
      case 'set_description':
      case 'ban':
      case 'unban':
      case 'restrict':
      case 'promote':
        return performInRoom(operation, this.#parts.places, signal)
      default:
        throw failed('bad_request', `${operation.kind} is not supported on XMPP`)
    }
  }

  async #send(operation: Of<'send'>, id: string, signal: AbortSignal): Promise<OperationResult> {
    const place = await this.#parts.places.at(operation.chat, signal)
    const text = await this.#written(operation, id, signal)
    const { replyTo } = operation
    const more = replyTo !== undefined && { replyTo }
    const posted = await place.post(textMessage(place.envelope(id), text, more), signal)
    const reply = replyTo !== undefined && { replyTo: { native: replyTo } }
    return messageAt(place, text.shown, { ...posted, ...reply })
  }

  async #edit(operation: Of<'edit'>, id: string, signal: AbortSignal): Promise<OperationResult> {
    const place = await this.#parts.places.at(operation.chat, signal)
    const native = operation.message
    const found = await place.find(native, signal)
    if (found === 'absent') throw failed('bad_request', 'message to edit not found')
    if (found === 'foreign') throw failed('bad_request', "message can't be edited")
    const text = await this.#written(operation, id, signal)
    const posted = await place.post(correction(place.envelope(id), text, found.id), signal)
    const times = { at: found.at ?? posted.at, editedAt: posted.at }
    return messageAt(place, text.shown, { native, ...times })
  }

  async #recaption(operation: Of<'edit_caption'>, id: string, signal: AbortSignal) {
    const { kind: _, caption, captionAbove: _above, ...target } = operation
    const place = await this.#parts.places.at(operation.chat, signal)
    const original = await place.original(operation.message, signal)
    if (!original) throw failed('bad_request', 'message to edit not found')
    if (original.content.kind !== 'media') {
      throw failed('bad_request', 'there is no caption in the message to edit')
    }
    const content = { ...original.content, caption }
    return this.#edit({ kind: 'edit', ...target, content }, id, signal)
  }

  async #delete(
    operation: Of<'delete'>,
    id: string,
    signal: AbortSignal,
  ): Promise<OperationResult> {
    const place = await this.#parts.places.at(operation.chat, signal)
    const found = await place.find(operation.message, signal)
    if (found === 'absent') throw failed('bad_request', 'message to delete not found')
    if (found === 'foreign') throw failed('bad_request', "message can't be deleted")
    await place.post(retraction(place.envelope(id), operation.message), signal)
    return { kind: 'done' }
  }

  async #passOn(
    operation: Of<'forward' | 'copy'>,
    id: string,
    signal: AbortSignal,
  ): Promise<OperationResult> {
    const { kind, message, replyTo } = operation
    const source = await this.#parts.places.at(operation.from, signal)
    const original = await source.original(message, signal)
    if (!original) throw failed('bad_request', `message to ${kind} not found`)
    const { author, at } = original
    const { caption, buttons } = operation
    const isRecaptioned = original.content.kind === 'media' && caption !== undefined
    const content = isRecaptioned ? { ...original.content, caption } : original.content
    const place = await this.#parts.places.at(operation.chat, signal)
    const text = await this.#written({ content, ...(buttons && { buttons }) }, id, signal)
    const more = {
      ...(replyTo !== undefined && { replyTo }),
      ...(kind === 'forward' && { forwarded: { from: author.native, at, text } }),
    }
    const posted = await place.post(textMessage(place.envelope(id), text, more), signal)
    return messageAt(place, text.shown, {
      ...posted,
      ...(replyTo !== undefined && { replyTo: { native: replyTo } }),
      ...(kind === 'forward' && { forward: { from: 'person', person: author, at } }),
    })
  }

  /** Every kind of activity is shown as typing. */
  async #act(operation: Of<'act'>, signal: AbortSignal): Promise<OperationResult> {
    const place = await this.#parts.places.at(operation.chat, signal)
    await this.#parts.stream.sendWhenUp(chatState(place.envelope(''), 'composing'), signal)
    return { kind: 'done' }
  }

  #written(carried: Carried, id: string, signal: AbortSignal) {
    return written(carried, this.#parts.uploads, id, signal)
  }
}

function messageAt(
  { chat, self }: Place,
  content: Content,
  more: Pick<Message, 'native' | 'at'> & Partial<Message>,
): OperationResult {
  return { kind: 'message', message: { chat, from: self, content, ...more } }
}
