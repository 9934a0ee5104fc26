/** Between the networks' vocabulary and the bot API's: operations in, results and updates out. */
import type { Json } from '../../actors/ports/platform.ts'
import type { Identities, Owned } from '../../actors/ports/ports.ts'
import type { Happening } from '../../machines/model/happening.ts'
import type { OperationResult, PublicOperation } from '../../machines/model/operation.ts'
import { isIdentityConflict } from '../database/at-fault.ts'
import type { Database } from '../database/database.ts'
import { IdentityBook } from '../identities/book.ts'
import { type GivenIds, type Ids, integerIds } from '../identities/ids.ts'
import { Natively, type Resolve } from '../identities/natively.ts'
import { Natives } from '../identities/natives.ts'
import { findChats, findMessages, insertIdentities, personId } from '../identities/store.ts'
import type { Draft } from '../updates/row.ts'
import type { Translated, Translation } from '../updates/translation.ts'
import type { FileIds, NamedFile } from './file-id.ts'
import type { Names } from './present/names.ts'
import { resultJson } from './present/result.ts'
import { deletionDraft, draftOf } from './present/update.ts'

type IdForm = (credentialId: number) => 'integer' | 'mapped'

export class Translator implements Identities, Translation {
  readonly #db: Database
  readonly #book: IdentityBook
  readonly #natively: Natively
  readonly #files: FileIds
  readonly #idForm: IdForm
  /** By credential, the network's id of its account. */
  readonly #selves = new Map<number, string>()

  constructor(db: Database, files: FileIds, idForm: IdForm) {
    this.#db = db
    this.#files = files
    this.#idForm = idForm
    this.#book = new IdentityBook(db)
    this.#natively = new Natively(db, idForm)
  }

  toNative(credentialId: number, operation: PublicOperation, resolve: Resolve) {
    return this.#natively.operation(credentialId, operation, resolve)
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
    const natives = new Natives()
    natives.addResult(result)
    const ids = await this.#stored(owned, () => this.#give(owned, natives))
    return resultJson(result, ids) as Json
  }

  async drafts(owned: Owned, happenings: readonly Happening[]): Promise<Translated> {
    const natives = new Natives()
    for (const happening of happenings) natives.addHappening(happening)
    const ids = await this.#give(owned, natives)
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

  /** The public id of the account itself; for whoever asks, also where another node owns the credential. */
  async idOf(credentialId: number, native: string, owned: Owned | undefined): Promise<number> {
    const id = Number(native)
    if (Number.isSafeInteger(id)) return id
    if (!owned) return personId(this.#db, credentialId, native)
    const natives = new Natives()
    natives.addPerson({ native, firstName: '' })
    return (await this.#stored(owned, () => this.#book.give(owned, natives))).chat(native)
  }

  async #give(owned: Owned, natives: Natives): Promise<GivenIds & Names> {
    const { credentialId } = owned
    const isInteger = this.#idForm(credentialId) === 'integer'
    const ids = isInteger ? integerIds : await this.#book.give(owned, natives)
    const file = (file: NamedFile) => this.#files.write(credentialId, file)
    return { ...ids, file, self: this.#selves.get(credentialId) }
  }

  /** Ids that turn out to be taken were given to nobody yet: what is known of them is read anew, and they are given again. */
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

  /** One update for each chat; messages that no key was ever told of are left out. */
  async #deleted(
    credentialId: number,
    { sourceKey, chat, messages, at, surface, direction }: Happening & { kind: 'deleted' },
    { newChats, newMessages }: GivenIds,
  ): Promise<Draft[]> {
    if (this.#idForm(credentialId) === 'integer' && chat !== undefined) {
      return [deletionDraft(sourceKey, Number(chat), messages.map(Number), at, surface)]
    }
    // Written and deleted in one batch: not stored yet.
    const fresh = newMessages.filter(({ native }) => messages.includes(native))
    const found = [...(await findMessages(this.#db, credentialId, messages)), ...fresh]
    const known = chat === undefined ? [] : await findChats(this.#db, credentialId, [chat])
    const chatId = [...known, ...newChats].find(({ native }) => native === chat)?.chatId
    const byChat = new Map<number, Set<number>>()
    for (const { chatId: id, messageId, own } of found) {
      if (chat !== undefined && id !== chatId) continue
      // Between two people nobody takes back what the other wrote.
      if (surface === 'private' && own !== (direction === 'own')) continue
      byChat.set(id, (byChat.get(id) ?? new Set()).add(messageId))
    }
    return [...byChat].map(([id, ids], index) =>
      deletionDraft(index === 0 ? sourceKey : `${sourceKey}#${index}`, id, [...ids], at, surface),
    )
  }
}

/** A network may let anybody say that they edited a message; it only counts from who wrote it. */
function isForged(happening: Happening, ids: Ids): boolean {
  if (happening.kind !== 'edited' || happening.message.chat.surface !== 'private') return false
  const isOwn = ids.isOwn(happening.message.chat.native, happening.message.native)
  return isOwn !== undefined && isOwn !== (happening.direction === 'own')
}
