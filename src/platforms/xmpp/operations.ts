/** Carries out the operations of an account on its stream. */
import { failed } from '../../../actors/errors.ts'
import type { Content, Message } from '../../../machines/content.ts'
import type { Operation, OperationResult } from '../../../machines/operation.ts'
import { parseAddress } from './address.ts'
import { capabilities } from './capabilities.ts'
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

  async perform(operation: Operation, id: string, signal: AbortSignal): Promise<OperationResult> {
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
    const stanza = textMessage({ to, id }, textOf(operation.content), operation.replyTo)
    const at = now()
    this.#parts.sent.add(id, at)
    await this.#parts.outbox.post(stanza, signal)
    const replyTo = operation.replyTo !== undefined && { replyTo: { native: operation.replyTo } }
    return this.#message({ to, id }, operation.content, { at, ...replyTo })
  }

  async #edit(operation: Of<'edit'>, id: string, signal: AbortSignal): Promise<OperationResult> {
    const to = personAddress(operation.chat)
    const target = operation.message
    const text = textOf(operation.content)
    const found = await this.#parts.lookup.find(to, target, signal)
    if (found === 'absent') throw failed('bad_request', 'message to edit not found')
    if (found === 'foreign') throw failed('bad_request', "message can't be edited")
    this.#parts.sent.add(id, now())
    await this.#parts.outbox.post(correction({ to, id }, text, target), signal)
    const times = { at: found.at ?? now(), editedAt: now() }
    return this.#message({ to, id: target }, operation.content, times)
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
    this.#parts.sent.add(id, now())
    await this.#parts.outbox.post(retraction({ to, id }, operation.message), signal)
    return { kind: 'done' }
  }

  /** Every kind of activity is shown as typing. */
  async #act(operation: Of<'act'>, signal: AbortSignal): Promise<OperationResult> {
    const to = personAddress(operation.chat)
    await this.#parts.stream.up(signal)
    await this.#parts.stream.send(chatState(to, 'composing'))
    return { kind: 'done' }
  }

  async #describe(operation: Of<'describe'>, signal: AbortSignal): Promise<OperationResult> {
    const bare = personAddress(operation.chat)
    const name = await nicknameOf(this.#parts.requests, bare, signal)
    return { kind: 'chat', chat: privateChat(bare, name) }
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

function textOf(content: Content): string {
  if (capabilities.content.includes(content.kind) && content.kind === 'text') return content.text
  throw failed('bad_request', `${content.kind} is not supported on XMPP`)
}

/** People have a local part; what has none is a server. */
function personAddress(chat: string): string {
  const address = parseAddress(chat)
  if (!address?.local || address.resource) throw failed('bad_request', 'chat not found')
  return address.bare
}

const now = () => Math.floor(Date.now() / 1000)
