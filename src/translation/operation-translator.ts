/** Replaces the integers and names in an operation by the native ids of the network. */
import { LRUCache } from 'lru-cache'
import { failed, RequestFailed } from '../../machines/model/failure.ts'
import type {
  Operation,
  OperationKind,
  OperationResult,
  PublicChat,
  PublicOperation,
} from '../../machines/model/operation.ts'
import type { Database } from '../database/database.ts'
import { nativeChat, nativeMessage } from '../identities/store.ts'
import { type Find, renamedContent, renamedText } from './persons.ts'

/** How long a resolved name is cached, in milliseconds. */
const NAME_LIVES = 300_000

export type Resolve = (name: string) => Promise<OperationResult>

/** The reference's words for the message of an operation, in its answer when there is none. */
const purposes: Partial<Record<OperationKind, string>> = {
  delete: 'message to delete',
  forward: 'message to forward',
  copy: 'message to copy',
  pin: 'message to pin',
  unpin: 'message to unpin',
  react: 'message to react',
  remove_reaction: 'message to react',
  stop_poll: 'message with poll to stop',
}

export class OperationTranslator {
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
    const native: Record<string, unknown> = { ...operation }
    if ('chat' in operation) native.chat = await this.#chat(credentialId, operation.chat, resolve)
    if ('from' in operation) native.from = await this.#chat(credentialId, operation.from, resolve)
    if ('person' in operation) {
      native.person = await this.#person(credentialId, operation.person, resolve)
    }
    if ('message' in operation && operation.message !== undefined) {
      const place = 'from' in operation ? operation.from : operation.chat
      native.message = await this.#message(credentialId, place, operation.message)
      if (native.message === undefined) {
        const purpose = purposes[operation.kind] ?? 'message to edit'
        throw failed('bad_request', `${purpose} not found`)
      }
    }
    if ('replyTo' in operation && operation.replyTo !== undefined) {
      native.replyTo = await this.#message(credentialId, operation.chat, operation.replyTo)
      if (native.replyTo === undefined) {
        if (!operation.replyOptional) throw failed('bad_request', 'message to be replied not found')
        delete native.replyTo
      }
    }
    if ('topic' in operation && operation.topic !== undefined) {
      native.topic = await this.#message(credentialId, operation.chat, operation.topic)
      if (native.topic === undefined) throw failed('bad_request', 'message thread not found')
    }
    await this.#renamePeople(credentialId, operation, native)
    return native as unknown as Operation
  }

  /** Replaces the ids of people that formatted texts mention. */
  async #renamePeople(
    credentialId: number,
    operation: PublicOperation,
    native: Record<string, unknown>,
  ): Promise<void> {
    if (this.#idForm(credentialId) === 'integer') return
    const find: Find = async (person) =>
      // A person's id is a positive integer; groups have negative ones.
      /^[1-9]\d{0,15}$/.test(person)
        ? nativeChat(this.#db, credentialId, Number(person))
        : undefined
    if (operation.kind === 'draft') native.text = await renamedText(operation.text, find)
    if ('content' in operation) native.content = await renamedContent(operation.content, find)
    if ('caption' in operation && operation.caption !== undefined) {
      native.caption = await renamedText(operation.caption, find)
    }
    if ('contents' in operation) {
      native.contents = await Promise.all(
        operation.contents.map((content) => renamedContent(content, find)),
      )
    }
  }

  /** A person has the id of the private chat with them. */
  async #person(credentialId: number, place: PublicChat, resolve: Resolve): Promise<string> {
    try {
      return await this.#chat(credentialId, place, resolve)
    } catch (cause) {
      const isUnknown = cause instanceof RequestFailed && cause.failure.code === 'bad_request'
      throw isUnknown ? failed('bad_request', 'user not found') : cause
    }
  }

  async #chat(credentialId: number, place: PublicChat, resolve: Resolve): Promise<string> {
    if (typeof place === 'string') return this.#named(credentialId, place.slice(1), resolve)
    if (this.#idForm(credentialId) === 'integer') return `${place}`
    const native = await nativeChat(this.#db, credentialId, place)
    if (native === undefined)
      throw failed('bad_request', 'chat not found', { reason: 'chat_not_found' })
    return native
  }

  async #named(credentialId: number, name: string, resolve: Resolve): Promise<string> {
    const key = `${credentialId}\n${name.toLowerCase()}`
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const result = await resolve(name)
    if (result.kind !== 'chat')
      throw failed('bad_request', 'chat not found', { reason: 'chat_not_found' })
    this.#names.set(key, result.chat.native)
    return result.chat.native
  }

  async #message(credentialId: number, place: PublicChat, id: number): Promise<string | undefined> {
    if (id <= 0) return undefined
    if (this.#idForm(credentialId) === 'integer') return `${id}`
    const chatId = typeof place === 'number' ? place : await this.#chatId(credentialId, place)
    return chatId === undefined ? undefined : nativeMessage(this.#db, credentialId, chatId, id)
  }

  /** The chat id of a name that was resolved just before. */
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
