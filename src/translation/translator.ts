/** Translates between a network's native ids and the bot API: operations in, results and updates out. */
import type { Json } from '../../actors/ports/platform.ts'
import type { Identities, Owned } from '../../actors/ports/ports.ts'
import type { Happening } from '../../machines/model/happening.ts'
import type { OperationResult, PublicOperation } from '../../machines/model/operation.ts'
import type { FileIds, NamedFile } from '../bot-api/file-id.ts'
import type { Names } from '../bot-api/present/names.ts'
import { resultJson } from '../bot-api/present/result.ts'
import { deletionDraft, draftOf } from '../bot-api/present/update.ts'
import { isIdentityConflict } from '../database/at-fault.ts'
import type { Database } from '../database/database.ts'
import { IdentityBook } from '../identities/book.ts'
import { type GivenIds, type Ids, integerIds } from '../identities/ids.ts'
import { findChats, findMessages, insertIdentities, personId } from '../identities/store.ts'
import type { Draft } from '../updates/row.ts'
import type { Translated, Translation } from '../updates/translation.ts'
import { IdCollector } from './id-collector.ts'
import { OperationTranslator, type Resolve } from './operation-translator.ts'

type IdForm = (credentialId: number) => 'integer' | 'mapped'

export class Translator implements Identities, Translation {
  readonly #db: Database
  readonly #book: IdentityBook
  readonly #operations: OperationTranslator
  readonly #files: FileIds
  readonly #idForm: IdForm
  /** By credential, the network's id of its account. */
  readonly #selves = new Map<number, string>()

  constructor(db: Database, files: FileIds, idForm: IdForm) {
    this.#db = db
    this.#files = files
    this.#idForm = idForm
    this.#book = new IdentityBook(db)
    this.#operations = new OperationTranslator(db, idForm)
  }

  toNative(credentialId: number, operation: PublicOperation, resolve: Resolve) {
    return this.#operations.operation(credentialId, operation, resolve)
  }

  identified(credentialId: number, native: string): void {
    this.#selves.set(credentialId, native)
  }

  forget(credentialId: number): void {
    this.#selves.delete(credentialId)
    this.#book.forget(credentialId)
  }

  async present(owned: Owned, result: OperationResult): Promise<Json> {
    if (result.kind === 'done') return true
    const collector = new IdCollector()
    collector.addResult(result)
    const ids = await this.#stored(owned, () => this.#give(owned, collector))
    return resultJson(result, ids) as Json
  }

  async drafts(owned: Owned, happenings: readonly Happening[]): Promise<Translated> {
    const collector = new IdCollector()
    for (const happening of happenings) collector.addHappening(happening)
    const ids = await this.#give(owned, collector)
    const drafts: Draft[] = []
    for (const happening of happenings) {
      if (happening.kind === 'deleted')
        drafts.push(...(await this.#deleted(owned.credentialId, happening, ids)))
      else if (!isForged(happening, ids)) {
        drafts.push(...[draftOf(happening, ids)].filter((draft) => draft !== undefined))
      }
    }
    return { drafts, chats: ids.newChats, messages: ids.newMessages, stored: () => ids.stored() }
  }

  /** The public id of the account itself; works also when another node owns the credential. */
  async idOf(credentialId: number, native: string, owned: Owned | undefined): Promise<number> {
    const id = Number(native)
    if (Number.isSafeInteger(id)) return id
    if (!owned) return personId(this.#db, credentialId, native)
    const collector = new IdCollector()
    collector.addPerson({ native, firstName: '' })
    return (await this.#stored(owned, () => this.#book.give(owned, collector))).chat(native)
  }

  async #give(owned: Owned, wanted: IdCollector): Promise<GivenIds & Names> {
    const { credentialId } = owned
    const isInteger = this.#idForm(credentialId) === 'integer'
    const ids = isInteger ? integerIds : await this.#book.give(owned, wanted)
    const file = (file: NamedFile) => this.#files.write(credentialId, file)
    return { ...ids, file, self: this.#selves.get(credentialId) }
  }

  /** No caller has seen ids that turn out to be taken: the cache is dropped and new ids are given, once. */
  async #stored<Given extends GivenIds>(owned: Owned, give: () => Promise<Given>): Promise<Given> {
    for (let isAgain = false; ; isAgain = true) {
      const ids = await give()
      if (ids.newChats.length + ids.newMessages.length === 0) return ids
      try {
        await insertIdentities(this.#db, owned, ids.newChats, ids.newMessages)
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
