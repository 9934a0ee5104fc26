/** Carries out the operations of an account on its stream. */
import type { Element } from '@xmpp/client'
import { failed, RequestFailed } from '../../../actors/errors.ts'
import type { Content, Message, Text } from '../../../machines/content.ts'
import type { Operation, OperationResult } from '../../../machines/operation.ts'
import { parseAddress } from './address.ts'
import { capabilities } from './capabilities.ts'
import { unanswered } from './failures.ts'
import type { Lookup } from './lookup.ts'
import type { Outbox } from './outbox.ts'
import { personAt, privateChat } from './people.ts'
import type { Requests } from './requests.ts'
import type { Sent } from './sent.ts'
import type { Stream } from './stream.ts'
import { nicknameOf } from './vcard.ts'
import { chatState, correction, type Envelope, retraction, textMessage } from './writing.ts'

export interface OperationParts {
  readonly own: string
  readonly stream: Stream
  readonly requests: Requests
  readonly outbox: Outbox
  readonly sent: Sent
  readonly lookup: Lookup
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
      case 'edit':
        return this.#edit(operation, id, signal)
      case 'delete':
        return this.#delete(operation, id, signal)
      case 'act':
        return this.#act(operation, signal)
      case 'resolve':
        return { kind: 'chat', chat: privateChat(personAddress(operation.name)) }
      case 'describe':
        return this.#describe(operation, signal)
      default:
        throw failed('bad_request', `${operation.kind} is not supported on XMPP`)
    }
  }

  async #send(operation: Of<'send'>, id: string, signal: AbortSignal): Promise<OperationResult> {
    const to = personAddress(operation.chat)
    const stanza = textMessage({ to, id }, textOf(operation), operation.replyTo)
    const at = await this.#post({ to, id }, stanza, signal)
    const replyTo = operation.replyTo !== undefined && { replyTo: { native: operation.replyTo } }
    return this.#message({ to, id }, plain(operation), { at, ...replyTo })
  }

  async #edit(operation: Of<'edit'>, id: string, signal: AbortSignal): Promise<OperationResult> {
    const to = personAddress(operation.chat)
    const target = operation.message
    const stanza = correction({ to, id }, textOf(operation), target)
    const found = await this.#parts.lookup.find(to, target, signal)
    if (found === 'absent') throw failed('bad_request', 'message to edit not found')
    if (found === 'foreign') throw failed('bad_request', "message can't be edited")
    const editedAt = await this.#post({ to, id }, stanza, signal)
    const times = { at: found.at ?? editedAt, editedAt }
    return this.#message({ to, id: target }, plain(operation), times)
  }

  async #delete(
    operation: Of<'delete'>,
    id: string,
    signal: AbortSignal,
  ): Promise<OperationResult> {
    const to = personAddress(operation.chat)
    const found = await this.#parts.lookup.find(to, operation.message, signal)
    if (found === 'absent') throw failed('bad_request', 'message to delete not found')
    if (found === 'foreign') throw failed('bad_request', "message can't be deleted")
    await this.#post({ to, id }, retraction({ to, id }, operation.message), signal)
    return { kind: 'done' }
  }

  /** Every kind of activity is shown as typing. */
  async #act(operation: Of<'act'>, signal: AbortSignal): Promise<OperationResult> {
    const to = personAddress(operation.chat)
    await this.#parts.stream.sendWhenUp(chatState(to, 'composing'), signal)
    return { kind: 'done' }
  }

  async #describe(operation: Of<'describe'>, signal: AbortSignal): Promise<OperationResult> {
    const bare = personAddress(operation.chat)
    const name = await nicknameOf(this.#parts.requests, bare, signal)
    return { kind: 'chat', chat: privateChat(bare, name) }
  }

  /** Sends it, unless it was sent under this id before; resolves with when that was. */
  async #post({ to, id }: Envelope, stanza: Element, signal: AbortSignal): Promise<number> {
    const { sent, outbox, lookup } = this.#parts
    const before = sent.find(id)
    if (before?.confirmed) return before.at
    const at = before?.at ?? now()
    if (!before || !(await lookup.isArchived(to, id, signal))) {
      sent.add(id, at)
      await outbox.post(stanza, signal).catch((cause) => {
        if (cause instanceof RequestFailed && cause.failure.certain !== false) sent.forget(id)
        throw cause
      })
    }
    sent.confirm(id)
    return at
  }

  #message({ to, id }: Envelope, content: Content, more: Pick<Message, 'at'> & Partial<Message>) {
    const message = {
      native: id,
      chat: privateChat(to),
      from: personAt(this.#parts.own),
      content,
      ...more,
    }
    return { kind: 'message', message } as const
  }
}

/** What arrived: formatting has no place on this network yet. */
const plain = (operation: Of<'send'> | Of<'edit'>): Content => ({
  kind: 'text',
  text: textOf(operation),
  entities: [],
})

function textOf({ content, buttons }: Of<'send'> | Of<'edit'>): string {
  if (content.kind !== 'text') {
    const kind = content.kind === 'media' ? content.media.kind : content.kind
    throw failed('bad_request', `${kind} is not supported on XMPP`)
  }
  if (buttons?.length) throw failed('bad_request', 'buttons are not supported on XMPP')
  const text = withLinks(content)
  if (text.length > capabilities.limits.textLength) {
    throw failed('bad_request', 'message is too long')
  }
  return text
}

/** People have a local part; what has none is a server. */
function personAddress(chat: string): string {
  const address = parseAddress(chat)
  if (!address?.local || address.resource) throw failed('bad_request', 'chat not found')
  return address.bare
}

const now = () => Math.floor(Date.now() / 1000)

/** A plain text has no place for the target of a link but beside its words. */
function withLinks({ text, entities }: Text): string {
  return entities.toReversed().reduce((plain, { type, url, offset, length }) => {
    if (type !== 'text_link' || !url) return plain
    const end = offset + length
    return `${plain.slice(0, end)} (${url})${plain.slice(end)}`
  }, text)
}
