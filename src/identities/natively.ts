/** From the integers and names of a call to the native ids of the network. */
import { LRUCache } from 'lru-cache'
import { failed } from '../../actors/errors.ts'
import type {
  Operation,
  OperationResult,
  PublicChat,
  PublicOperation,
} from '../../machines/operation.ts'
import type { Database } from '../database/database.ts'
import { nativeChat, nativeMessage } from './store.ts'

/** How long a name is believed to stand for the same chat, in milliseconds. */
const NAME_LIVES = 300_000

export type Resolve = (name: string) => Promise<OperationResult>

/** What the reference says when the message of an operation is not there. */
const missing = {
  edit: 'message to edit not found',
  delete: 'message to delete not found',
  forward: 'message to forward not found',
  copy: 'message to copy not found',
} as const

export class Natively {
  readonly #db: Database
  readonly #names = new LRUCache<string, string>({ max: 50_000, ttl: NAME_LIVES })
  readonly #idForm: (credentialId: number) => 'integer' | 'mapped'

  constructor(db: Database, idForm: (credentialId: number) => 'integer' | 'mapped') {
    this.#db = db
    this.#idForm = idForm
  }

  async operation(
    credentialId: number,
    operation: PublicOperation,
    resolve: Resolve,
  ): Promise<Operation> {
    const chat = (place: PublicChat) => this.#chat(credentialId, place, resolve)
    const message = (place: PublicChat, id: number) => this.#message(credentialId, place, id)
    switch (operation.kind) {
      case 'resolve':
      case 'answer':
        return operation
      case 'describe':
      case 'act':
        return { ...operation, chat: await chat(operation.chat) }
      case 'send': {
        const { replyTo, ...rest } = operation
        const target = await chat(operation.chat)
        const reply = await this.#reply(credentialId, operation.chat, replyTo, rest.replyOptional)
        return { ...rest, chat: target, ...(reply !== undefined && { replyTo: reply }) }
      }
      case 'edit':
      case 'delete': {
        const target = await chat(operation.chat)
        const native = await message(operation.chat, operation.message)
        if (native === undefined) throw failed('bad_request', missing[operation.kind])
        return { ...operation, chat: target, message: native }
      }
      case 'forward':
      case 'copy': {
        const { replyTo, ...rest } = operation
        const [target, from] = [await chat(operation.chat), await chat(operation.from)]
        const native = await message(operation.from, operation.message)
        if (native === undefined) throw failed('bad_request', missing[operation.kind])
        const reply = await this.#reply(credentialId, operation.chat, replyTo, false)
        return {
          ...rest,
          chat: target,
          from,
          message: native,
          ...(reply !== undefined && { replyTo: reply }),
        }
      }
    }
  }

  async #reply(
    credentialId: number,
    chat: PublicChat,
    id: number | undefined,
    optional: boolean | undefined,
  ): Promise<string | undefined> {
    if (id === undefined) return undefined
    const native = await this.#message(credentialId, chat, id)
    if (native !== undefined || optional) return native
    throw failed('bad_request', 'message to be replied not found')
  }

  async #chat(credentialId: number, place: PublicChat, resolve: Resolve): Promise<string> {
    if (typeof place === 'string') return this.#named(credentialId, place.slice(1), resolve)
    if (this.#idForm(credentialId) === 'integer') return `${place}`
    const native = await nativeChat(this.#db, credentialId, place)
    if (native === undefined) throw failed('bad_request', 'chat not found')
    return native
  }

  async #named(credentialId: number, name: string, resolve: Resolve): Promise<string> {
    const key = `${credentialId}\n${name.toLowerCase()}`
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const result = await resolve(name)
    if (result.kind !== 'chat') throw failed('bad_request', 'chat not found')
    this.#names.set(key, result.chat.native)
    return result.chat.native
  }

  async #message(credentialId: number, place: PublicChat, id: number): Promise<string | undefined> {
    if (id <= 0) return undefined
    if (this.#idForm(credentialId) === 'integer') return `${id}`
    const chatId = typeof place === 'number' ? place : await this.#chatId(credentialId, place)
    return chatId === undefined ? undefined : nativeMessage(this.#db, credentialId, chatId, id)
  }

  /** Of a name that was resolved just before. */
  async #chatId(credentialId: number, name: string): Promise<number | undefined> {
    const native = this.#names.get(`${credentialId}\n${name.slice(1).toLowerCase()}`)
    if (native === undefined) return undefined
    const [row] = await this.#db.query<{ chat_id: number }>(
      'select chat_id from chat_identity where credential_id = $1 and native = $2',
      [credentialId, native],
    )
    return row?.chat_id
  }
}
