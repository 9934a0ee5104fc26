/** Gives integers to native ids: the same one for ever, messages ascending in their chat. */
import { LRUCache } from 'lru-cache'
import type { Owned } from '../../actors/ports/ports.ts'
import type { Surface } from '../../machines/model/content.ts'
import { OwnershipLost } from '../../machines/model/failure.ts'
import type { Database } from '../database/database.ts'
import type { NewChat, NewMessage } from '../updates/commit.ts'
import type { GivenIds } from './ids.ts'
import type { Natives } from './natives.ts'
import { findChats, findMessages, newestMessage, nextChatNumber } from './store.ts'

/** Given as a size, because room for a `max` is taken at once, used or not. */
const cached = { maxSize: 200_000, sizeCalculation: () => 1 }
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

/** What one owner of a credential knows of it. The next one begins with nothing: others have written since. */
interface Chapter {
  readonly epoch: number
  /** Of its own, before each key of it in the caches. */
  readonly number: number
  /** Given and not committed yet: part of every batch until one commit with them is through. */
  readonly unstored: Set<string>
}

export class IdentityBook {
  readonly #db: Database
  readonly #chats = new LRUCache<string, number>(cached)
  readonly #messages = new LRUCache<string, Known>(cached)
  readonly #newest = new LRUCache<string, number>(cached)
  readonly #chapters = new Map<number, Chapter>()
  #chaptersBegun = 0
  readonly #last = new Map<number, Promise<unknown>>()

  constructor(db: Database) {
    this.#db = db
  }

  /** One at a time for each credential, so that no native id gets two integers. */
  async give(owned: Owned, natives: Natives): Promise<GivenIds> {
    const { credentialId } = owned
    const giving = (this.#last.get(credentialId) ?? Promise.resolve()).then(() =>
      this.#give(credentialId, this.#chapter(owned), natives),
    )
    const settled = giving.catch(() => undefined)
    this.#last.set(credentialId, settled)
    settled.then(() => {
      if (this.#last.get(credentialId) === settled) this.#last.delete(credentialId)
    })
    return giving
  }

  /** Another node has claimed it, or what was given turned out to be wrong. */
  forget(credentialId: number): void {
    this.#chapters.delete(credentialId)
  }

  #chapter({ credentialId, epoch }: Owned): Chapter {
    const known = this.#chapters.get(credentialId)
    if (known?.epoch === epoch) return known
    if (known && known.epoch > epoch) throw new OwnershipLost()
    const begun = { epoch, number: ++this.#chaptersBegun, unstored: new Set<string>() }
    this.#chapters.set(credentialId, begun)
    return begun
  }

  async #give(credentialId: number, chapter: Chapter, natives: Natives): Promise<GivenIds> {
    const { unstored } = chapter
    const key = (native: string) => `${chapter.number}\n${native}`
    const messageKey = (chatId: number, native: string) => `${chapter.number}\n${chatId}\n${native}`
    await this.#loadChats(credentialId, [...natives.chats.keys()], key)
    const newChats: NewChat[] = []
    const chatIds = new Map<string, number>()
    for (const [native, surface] of natives.chats) {
      const chatId =
        this.#chats.get(key(native)) ?? (await this.#newChat(chapter, key(native), surface))
      chatIds.set(native, chatId)
      if (unstored.has(key(native))) newChats.push({ native, chatId })
    }

    const wanted = [...pairs(natives.messages, chatIds), ...pairs(natives.mentioned, chatIds)]
    await this.#loadMessages(credentialId, wanted, messageKey)
    const newMessages: NewMessage[] = []
    for (const { native, chatId } of pairs(natives.messages, chatIds)) {
      const at = messageKey(chatId, native)
      const own = natives.own.has(native)
      const known =
        this.#messages.get(at) ??
        (await this.#newMessage(credentialId, chapter, at, { chatId, own }))
      if (unstored.has(at)) newMessages.push({ native, chatId, ...known })
    }
    const known = (chat: string, native: string) =>
      this.#messages.get(messageKey(chatIds.get(chat) ?? 0, native))
    return {
      chat: (native) => chatIds.get(native) ?? this.#chats.get(key(native)) ?? 0,
      message: (chat, native) => known(chat, native)?.messageId,
      isOwn: (chat, native) => known(chat, native)?.own,
      newChats,
      newMessages,
      stored: () => {
        for (const { native } of newChats) unstored.delete(key(native))
        for (const { chatId, native } of newMessages) {
          unstored.delete(messageKey(chatId, native))
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
    wanted: readonly NewChat[],
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

  async #newChat({ unstored }: Chapter, at: string, surface: Surface): Promise<number> {
    const chatId = formOf[surface](await nextChatNumber(this.#db))
    this.#chats.set(at, chatId)
    unstored.add(at)
    return chatId
  }

  async #newMessage(
    credentialId: number,
    { number, unstored }: Chapter,
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

function* pairs(
  messages: ReadonlyMap<string, ReadonlySet<string>>,
  chatIds: ReadonlyMap<string, number>,
): IterableIterator<NewChat> {
  for (const [chat, natives] of messages) {
    const chatId = chatIds.get(chat)
    if (chatId !== undefined) for (const native of natives) yield { native, chatId }
  }
}
