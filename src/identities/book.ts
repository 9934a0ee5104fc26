/** Gives integers to native ids: each id keeps its integer for ever, messages ascend within their chat. */
import { LRUCache } from 'lru-cache'
import type { Owned } from '../../actors/ports/ports.ts'
import type { Surface } from '../../machines/model/content.ts'
import { OwnershipLost } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import {
  findChats,
  findMessages,
  type GivenIds,
  type NewChat,
  type NewMessage,
  nativeChat,
  nativeMessage,
  newestMessage,
  nextChatNumber,
  type WantedIds,
} from './store.ts'

const MOST_IDS = 200_000
const MOST_NATIVES = 50_000
/** The reference keeps supergroups and channels below this. */
const SUPERGROUPS = -1_000_000_000_000

const formOf: Record<Surface, (number: number) => number> = {
  private: (number) => number,
  group: (number) => -number,
  supergroup: (number) => SUPERGROUPS - number,
  channel: (number) => SUPERGROUPS - number,
}

interface Known {
  readonly messageId: number
  readonly own: boolean
}

/** The cached ids of one credential in one epoch. A new epoch starts empty, because other nodes may have written since. */
interface EpochCache {
  readonly epoch: number
  /** Unique; the prefix of its keys in `#chats`, `#messages` and `#newest`. */
  readonly number: number
  /** Given and not committed yet: part of every batch until a commit with them has succeeded. */
  readonly unstored: Set<string>
}

export class IdentityBook {
  readonly #db: Database
  readonly #chats = new LRUCache<string, number>({ maxSize: MOST_IDS, sizeCalculation: () => 1 })
  readonly #messages = new LRUCache<string, Known>({ maxSize: MOST_IDS, sizeCalculation: () => 1 })
  readonly #newest = new LRUCache<string, number>({ maxSize: MOST_IDS, sizeCalculation: () => 1 })
  /**
   * By credential and chat, or by credential, chat and message. Holds only stored ids, which never change, also after a
   * change of the owner.
   */
  readonly #natives = new LRUCache<string, string>({
    maxSize: MOST_NATIVES,
    sizeCalculation: () => 1,
  })
  readonly #caches = new Map<number, EpochCache>()
  #cachesBegun = 0
  readonly #last = new Map<number, Promise<unknown>>()

  constructor(db: Database) {
    this.#db = db
  }

  /** One at a time for each credential, so that no native id gets two integers. */
  async give(owned: Owned, wanted: WantedIds): Promise<GivenIds> {
    const { credentialId } = owned
    const giving = (this.#last.get(credentialId) ?? Promise.resolve()).then(() =>
      this.#give(credentialId, this.#cacheOf(owned), wanted),
    )
    const settled = giving.catch(() => undefined)
    this.#last.set(credentialId, settled)
    settled.then(() => {
      if (this.#last.get(credentialId) === settled) this.#last.delete(credentialId)
    })
    return giving
  }

  /** The native id of a chat or a person; undefined where the integer stands for nothing. */
  nativeChat(credentialId: number, chatId: number): Promise<string | undefined> {
    const look = () => nativeChat(this.#db, credentialId, chatId)
    return this.#native(`${credentialId} ${chatId}`, look)
  }

  nativeMessage(
    credentialId: number,
    chatId: number,
    messageId: number,
  ): Promise<string | undefined> {
    const look = () => nativeMessage(this.#db, credentialId, chatId, messageId)
    return this.#native(`${credentialId} ${chatId} ${messageId}`, look)
  }

  async #native(key: string, look: () => Promise<string | undefined>): Promise<string | undefined> {
    const known = this.#natives.get(key)
    if (known !== undefined) return known
    const native = await look()
    if (native !== undefined) this.#natives.set(key, native)
    return native
  }

  /** Another node has claimed the credential, or the cached ids are wrong. */
  forget(credentialId: number): void {
    this.#caches.delete(credentialId)
  }

  #cacheOf({ credentialId, epoch }: Owned): EpochCache {
    const known = this.#caches.get(credentialId)
    if (known?.epoch === epoch) return known
    if (known && known.epoch > epoch) throw new OwnershipLost()
    const begun = { epoch, number: ++this.#cachesBegun, unstored: new Set<string>() }
    this.#caches.set(credentialId, begun)
    return begun
  }

  async #give(credentialId: number, cache: EpochCache, wanted: WantedIds): Promise<GivenIds> {
    const { unstored } = cache
    const key = (native: string) => `${cache.number}\n${native}`
    const messageKey = (chatId: number, native: string) => `${cache.number}\n${chatId}\n${native}`
    await this.#loadChats(credentialId, [...wanted.chats.keys()], key)
    const newChats: NewChat[] = []
    const chatIds = new Map<string, number>()
    for (const [native, surface] of wanted.chats) {
      const chatId =
        this.#chats.get(key(native)) ?? (await this.#newChat(cache, key(native), surface))
      chatIds.set(native, chatId)
      if (unstored.has(key(native))) newChats.push({ native, chatId })
    }

    const messages = [...pairs(wanted.messages, chatIds), ...pairs(wanted.mentioned, chatIds)]
    const known = messages.filter(({ native }) => !wanted.fresh.has(native))
    await this.#loadMessages(credentialId, known, messageKey)
    const newMessages: NewMessage[] = []
    for (const { native, chatId } of pairs(wanted.messages, chatIds)) {
      const at = messageKey(chatId, native)
      const own = wanted.own.has(native)
      const given =
        this.#messages.get(at) ?? (await this.#newMessage(credentialId, cache, at, { chatId, own }))
      if (unstored.has(at)) newMessages.push({ native, chatId, ...given })
    }
    const find = (chat: string, native: string) =>
      this.#messages.get(messageKey(chatIds.get(chat) ?? 0, native))
    return {
      chat: (native) => chatIds.get(native) ?? this.#chats.get(key(native)) ?? 0,
      message: (chat, native) => find(chat, native)?.messageId,
      isOwn: (chat, native) => find(chat, native)?.own,
      newChats,
      newMessages,
      stored: () => {
        for (const { native, chatId } of newChats) {
          unstored.delete(key(native))
          this.#natives.set(`${credentialId} ${chatId}`, native)
        }
        for (const { chatId, native, messageId } of newMessages) {
          unstored.delete(messageKey(chatId, native))
          this.#natives.set(`${credentialId} ${chatId} ${messageId}`, native)
        }
      },
    }
  }

  async #loadChats(
    credentialId: number,
    natives: readonly string[],
    key: (native: string) => string,
  ): Promise<void> {
    const unknown = natives.filter((native) => !this.#chats.has(key(native)))
    if (unknown.length === 0) return
    for (const { native, chatId } of await findChats(this.#db, credentialId, unknown)) {
      this.#chats.set(key(native), chatId)
    }
  }

  async #loadMessages(
    credentialId: number,
    wanted: readonly MessagePlace[],
    key: (chatId: number, native: string) => string,
  ): Promise<void> {
    const unknown = wanted.filter(({ chatId, native }) => !this.#messages.has(key(chatId, native)))
    if (unknown.length === 0) return
    const natives = unknown.map(({ native }) => native)
    for (const { native, chatId, messageId, own } of await findMessages(
      this.#db,
      credentialId,
      natives,
    )) {
      this.#messages.set(key(chatId, native), { messageId, own })
    }
  }

  async #newChat({ unstored }: EpochCache, at: string, surface: Surface): Promise<number> {
    const chatId = formOf[surface](await nextChatNumber(this.#db))
    this.#chats.set(at, chatId)
    unstored.add(at)
    return chatId
  }

  async #newMessage(
    credentialId: number,
    { number, unstored }: EpochCache,
    at: string,
    { chatId, own }: { readonly chatId: number; readonly own: boolean },
  ): Promise<Known> {
    const counter = `${number}\n${chatId}`
    const newest =
      this.#newest.get(counter) ?? (await newestMessage(this.#db, credentialId, chatId))
    const messageId = newest + 1
    this.#newest.set(counter, messageId)
    const known = { messageId, own }
    this.#messages.set(at, known)
    unstored.add(at)
    return known
  }
}

/** A message by its native id, in the chat with this public id. */
interface MessagePlace {
  readonly native: string
  readonly chatId: number
}

function* pairs(
  messages: ReadonlyMap<string, ReadonlySet<string>>,
  chatIds: ReadonlyMap<string, number>,
): IterableIterator<MessagePlace> {
  for (const [chat, natives] of messages) {
    const chatId = chatIds.get(chat)
    if (chatId !== undefined) for (const native of natives) yield { native, chatId }
  }
}
