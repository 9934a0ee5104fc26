/** Translates between a network's native ids and the bot API: operations in, results and updates out. */
import { LRUCache } from 'lru-cache'
import type { Identities, Owned } from '../../actors/ports/ports.ts'
import { messageNotFound, notFound, RequestFailed } from '../../machines/model/failure.ts'
import type { Happening } from '../../machines/model/happening.ts'
import type {
  Operation,
  OperationKind,
  OperationResult,
  PublicChat,
  PublicOperation,
} from '../../machines/model/operation.ts'
import type { Json } from '../../machines/model/protocol.ts'
import type { FileIds, NamedFile } from '../bot-api/file-id.ts'
import type { Names } from '../bot-api/present/chat.ts'
import { resultJson } from '../bot-api/present/result.ts'
import { deletionDraft, draftOf, receivedDraft } from '../bot-api/present/update.ts'
import type { Fenced } from '../credentials/fence.ts'
import type { Database } from '../database/database.ts'
import { isIdentityConflict } from '../database/failures.ts'
import { IdentityBook } from '../identities/book.ts'
import {
  findChats,
  findMessages,
  type GivenIds,
  IdentityWrites,
  type Ids,
  personId,
} from '../identities/store.ts'
import type { Translated, Translation } from '../updates/log.ts'
import type { Draft } from '../updates/row.ts'
import { type Find, IdCollector, renamedContent, renamedText } from './id-collector.ts'

/** How long a resolved name is cached, in milliseconds. */
const NAME_LIVES = 300_000
const DOUBT_MS = 10_000

type IdForm = (credentialId: number) => 'integer' | 'mapped'

type Resolve = (name: string) => Promise<OperationResult>
type Collect = (collector: IdCollector) => void

/** The reference's words for the message of an operation, in its answer when there is none. */
const purposes: Partial<Record<OperationKind, string>> = {
  delete: 'message to delete',
  forward: 'message to forward',
  copy: 'message to copy',
  pin: 'message to pin',
  unpin: 'message to unpin',
  react: 'message to react',
  remove_reaction: 'message to react',
  set_score: 'message to set game score',
  scores: 'message to get game high scores',
  stop_poll: 'message with poll to stop',
  read_history: 'message to go back from',
  mark_read: 'message to read',
  approve_post: 'message to approve',
  decline_post: 'message to decline',
}

class OperationTranslator {
  readonly #db: Database
  readonly #book: IdentityBook
  readonly #names = new LRUCache<string, string>({
    maxSize: 50_000,
    sizeCalculation: () => 1,
    ttl: NAME_LIVES,
  })
  readonly #idForm: IdForm

  constructor(db: Database, book: IdentityBook, idForm: IdForm) {
    this.#db = db
    this.#book = book
    this.#idForm = idForm
  }

  async operation(
    credentialId: number,
    operation: PublicOperation,
    resolve: Resolve,
  ): Promise<Operation> {
    const native: Record<string, unknown> = { ...operation }
    if (operation.kind === 'for_business') {
      native.operation = await this.operation(credentialId, operation.operation, resolve)
      return native as unknown as Operation
    }
    if ('chat' in operation && operation.chat !== undefined) {
      native.chat = await this.#chat(credentialId, operation.chat, resolve)
    }
    if ('from' in operation) native.from = await this.#chat(credentialId, operation.from, resolve)
    if ('person' in operation) {
      native.person = await this.#person(credentialId, operation.person, resolve)
    }
    if ('added' in operation) {
      const added = operation.added.map((one) => this.#person(credentialId, one, resolve))
      native.added = await Promise.all(added)
    }
    if ('receiver' in operation && operation.receiver !== undefined) {
      native.receiver = await this.#person(credentialId, operation.receiver, resolve)
    }
    if ('message' in operation && operation.message !== undefined) {
      const place = 'from' in operation ? operation.from : operation.chat
      native.message = await this.#message(credentialId, place, operation.message)
      if (native.message === undefined) {
        const purpose = purposes[operation.kind] ?? 'message to edit'
        throw messageNotFound(purpose)
      }
    }
    if ('directTopic' in operation && operation.directTopic !== undefined) {
      native.directTopic = await this.#person(credentialId, operation.directTopic, resolve)
    }
    if ('replyFrom' in operation && operation.replyFrom !== undefined) {
      native.replyFrom = await this.#chat(credentialId, operation.replyFrom, resolve)
    }
    await this.#nameContext(credentialId, operation, native)
    await this.#renamePeople(credentialId, operation, native)
    return native as unknown as Operation
  }

  /** The message that a new one answers, and the topic it goes to. */
  async #nameContext(
    credentialId: number,
    operation: PublicOperation,
    native: Record<string, unknown>,
  ): Promise<void> {
    if (!('chat' in operation) || operation.chat === undefined) return
    const { chat } = operation
    if ('replyTo' in operation && operation.replyTo !== undefined) {
      const from = 'replyFrom' in operation ? operation.replyFrom : undefined
      native.replyTo = await this.#message(credentialId, from ?? chat, operation.replyTo)
      if (native.replyTo === undefined) {
        const isOptional = 'replyOptional' in operation && operation.replyOptional
        if (!isOptional) throw messageNotFound('message to be replied')
        delete native.replyTo
      }
    }
    if ('topic' in operation && operation.topic !== undefined) {
      native.topic = await this.#message(credentialId, chat, operation.topic)
      if (native.topic === undefined) throw notFound('message thread')
    }
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
        ? this.#book.nativeChat(credentialId, Number(person))
        : undefined
    if (operation.kind === 'draft') native.text = await renamedText(operation.text, find)
    if ('content' in operation && operation.content)
      native.content = await renamedContent(operation.content, find)
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
      throw isUnknown ? notFound('user') : cause
    }
  }

  async #chat(credentialId: number, place: PublicChat, resolve: Resolve): Promise<string> {
    if (typeof place === 'string') return this.#named(credentialId, place.slice(1), resolve)
    if (this.#idForm(credentialId) === 'integer') return `${place}`
    const native = await this.#book.nativeChat(credentialId, place)
    if (native === undefined) throw notFound('chat')
    return native
  }

  async #named(credentialId: number, name: string, resolve: Resolve): Promise<string> {
    const key = `${credentialId}\n${name.toLowerCase()}`
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const result = await resolve(name)
    if (result.kind !== 'chat') throw notFound('chat')
    this.#names.set(key, result.chat.native)
    return result.chat.native
  }

  async #message(credentialId: number, place: PublicChat, id: number): Promise<string | undefined> {
    if (id <= 0) return undefined
    if (this.#idForm(credentialId) === 'integer') return `${id}`
    const chatId = typeof place === 'number' ? place : await this.#chatId(credentialId, place)
    return chatId === undefined ? undefined : this.#book.nativeMessage(credentialId, chatId, id)
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

/** The opt-in kinds of updates that the keys of an account ask for. */
interface WantedKinds {
  names(credentialId: number): Promise<readonly string[]>
}

const isReceipt = (happening: Happening): happening is Extract<Happening, { kind: 'receipt' }> =>
  happening.kind === 'receipt'

export class Translator implements Identities, Translation {
  readonly #db: Database
  readonly #book: IdentityBook
  readonly #writes: IdentityWrites
  /** Credentials with an integer that was taken, and until when all their ids are looked up first. */
  readonly #doubtful = new Map<number, number>()
  readonly #operations: OperationTranslator
  readonly #files: FileIds
  readonly #idForm: IdForm
  readonly #wanted: WantedKinds | undefined
  /** By credential, the network's id of its account. */
  readonly #selves = new Map<number, string>()

  /** `wanted` absent: all receipts become updates. `fenced` gets credentials that another node has claimed. */
  constructor(db: Database, files: FileIds, idForm: IdForm, wanted?: WantedKinds, fenced?: Fenced) {
    this.#db = db
    this.#files = files
    this.#wanted = wanted
    this.#idForm = idForm
    this.#book = new IdentityBook(db)
    this.#writes = new IdentityWrites(db, fenced)
    this.#operations = new OperationTranslator(db, this.#book, idForm)
  }

  toNative(credentialId: number, operation: PublicOperation, resolve: Resolve) {
    return this.#operations.operation(credentialId, operation, resolve)
  }

  identified(credentialId: number, native: string): void {
    this.#selves.set(credentialId, native)
  }

  forget(credentialId: number): void {
    this.#doubtful.set(credentialId, performance.now() + DOUBT_MS)
    this.#book.forget(credentialId)
  }

  /** Another node has claimed the credential. */
  leave(credentialId: number): void {
    this.#selves.delete(credentialId)
    this.#doubtful.delete(credentialId)
    this.#book.forget(credentialId)
  }

  async present(owned: Owned, result: OperationResult, isSent: boolean): Promise<Json> {
    if (result.kind === 'done') return true
    const collect: Collect = (collector) => {
      collector.addResult(result)
      if (isSent) collector.assumeNew()
    }
    const ids = await this.#stored(owned, () => this.#give(owned, collect))
    return resultJson(result, ids) as Json
  }

  async drafts(owned: Owned, reported: readonly Happening[]): Promise<Translated> {
    const happenings = await this.#withoutUnwanted(owned, reported)
    const ids = await this.#give(owned, (collector) => {
      for (const happening of happenings) {
        collector.addHappening(happening)
        if (happening.kind === 'message') collector.fresh.add(happening.message.native)
      }
    })
    const drafts: Draft[] = []
    for (const happening of happenings) {
      if (happening.kind === 'update') drafts.push(receivedDraft(happening))
      else if (happening.kind === 'deleted')
        drafts.push(...(await this.#deleted(owned.credentialId, happening, ids)))
      else if (!isForged(happening, ids)) {
        const draft = draftOf(happening, ids)
        if (draft) drafts.push(draft)
      }
    }
    return { drafts, chats: ids.newChats, messages: ids.newMessages, stored: () => ids.stored() }
  }

  /** A network confirms each message several times: what no key asks for is not kept. */
  async #withoutUnwanted(
    { credentialId }: Owned,
    happenings: readonly Happening[],
  ): Promise<readonly Happening[]> {
    if (!this.#wanted || !happenings.some(isReceipt)) return happenings
    const names = await this.#wanted.names(credentialId)
    return happenings.filter((one) => !isReceipt(one) || names.includes(`message_${one.state}`))
  }

  /** The public id of the account itself; works also when another node owns the credential. */
  async idOf(credentialId: number, native: string, owned: Owned | undefined): Promise<number> {
    const id = Number(native)
    if (Number.isSafeInteger(id)) return id
    if (!owned) return personId(this.#db, credentialId, native)
    const wanted = this.#collected(credentialId, (of) => of.addPerson({ native, firstName: '' }))
    return (await this.#stored(owned, () => this.#book.give(owned, wanted))).chat(native)
  }

  async #give(owned: Owned, collect: Collect): Promise<GivenIds & Names> {
    const { credentialId } = owned
    const isInteger = this.#idForm(credentialId) === 'integer'
    const wanted = isInteger ? undefined : this.#collected(credentialId, collect)
    const ids = wanted ? await this.#book.give(owned, wanted) : integerIds
    const file = (file: NamedFile) => this.#files.write(credentialId, file)
    return { ...ids, file, self: this.#selves.get(credentialId) }
  }

  #collected(credentialId: number, collect: Collect): IdCollector {
    const collector = new IdCollector()
    collect(collector)
    if (this.#isDoubtful(credentialId)) collector.fresh.clear()
    return collector
  }

  #isDoubtful(credentialId: number): boolean {
    const until = this.#doubtful.get(credentialId)
    if (until === undefined) return false
    if (performance.now() < until) return true
    this.#doubtful.delete(credentialId)
    return false
  }

  /** No caller has seen ids that turn out to be taken: the cache is dropped and new ids are given, once. */
  async #stored<Given extends GivenIds>(owned: Owned, give: () => Promise<Given>): Promise<Given> {
    for (let isAgain = false; ; isAgain = true) {
      const ids = await give()
      if (ids.newChats.length + ids.newMessages.length === 0) return ids
      try {
        await this.#writes.insert(owned, ids.newChats, ids.newMessages)
        ids.stored()
        return ids
      } catch (cause) {
        if (!isIdentityConflict(cause)) throw cause
        this.forget(owned.credentialId)
        if (isAgain) throw cause
      }
    }
  }

  /** One update for each chat, without messages that were never delivered to a key. */
  async #deleted(
    credentialId: number,
    { sourceKey, chat, messages, at, surface, direction }: Happening & { kind: 'deleted' },
    { newChats, newMessages }: GivenIds,
  ): Promise<Draft[]> {
    if (this.#idForm(credentialId) === 'integer' && chat !== undefined) {
      return [deletionDraft(sourceKey, Number(chat), messages.map(Number), at, surface)]
    }
    // A message that was written and deleted in the same batch is not stored yet.
    const fresh = newMessages.filter(({ native }) => messages.includes(native))
    const found = [...(await findMessages(this.#db, credentialId, messages)), ...fresh]
    const known = chat === undefined ? [] : await findChats(this.#db, credentialId, [chat])
    const chatId = [...known, ...newChats].find(({ native }) => native === chat)?.chatId
    const byChat = new Map<number, Set<number>>()
    for (const { chatId: id, messageId, own } of found) {
      if (chat !== undefined && id !== chatId) continue
      // In a private chat a person can delete only their own messages.
      if (surface === 'private' && own !== (direction === 'own')) continue
      byChat.set(id, (byChat.get(id) ?? new Set()).add(messageId))
    }
    return [...byChat].map(([id, ids], index) =>
      deletionDraft(index === 0 ? sourceKey : `${sourceKey}#${index}`, id, [...ids], at, surface),
    )
  }
}

/** Some networks let anyone claim an edit; only an edit by the author counts. */
function isForged(happening: Happening, ids: Ids): boolean {
  if (happening.kind !== 'edited' || happening.message.chat.surface !== 'private') return false
  const isOwn = ids.isOwn(happening.message.chat.native, happening.message.native)
  return isOwn !== undefined && isOwn !== (happening.direction === 'own')
}

/** For a network whose native ids already are the reference's integers. */
const integerIds: GivenIds = {
  chat: Number,
  message: (_, native) => Number(native),
  isOwn: () => undefined,
  newChats: [],
  newMessages: [],
  stored() {},
}
