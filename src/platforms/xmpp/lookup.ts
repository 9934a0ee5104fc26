/** Finds messages that the session does not remember by reading back in the archive. */
import type { Element } from '@xmpp/client'
import type { SentRequests } from '../kit/sent-requests.ts'
import type { Archive, ArchivedMessage, PageRange } from './archive.ts'
import { bounced, conditionOf, noHistory, unknownOutcome } from './failures.ts'
import { idOf, keyOf, marked, networkId, storable, targetOf } from './message-identity.ts'
import { RequestRefused } from './requests.ts'

/** How many pages back a message is looked for. */
const MOST_PAGES = 20
/** No call takes longer, also by another clock: what was sent before is not its message. */
const LONGEST_CALL_SECONDS = 2 * 60 * 60

/** `id`: what the writer named it, by which it is corrected. */
export type Found = 'absent' | 'foreign' | { readonly id: string; readonly at?: number }

interface Scope {
  /** Whether the account wrote it. */
  isOwn(message: Element): boolean
  /** Undefined where nobody can say. */
  writer(message: Element): string | undefined
  /** Whether the archive takes all that the account writes here. */
  keepsOwn(signal: AbortSignal): Promise<boolean>
  /** The other side of the chat. */
  readonly with?: string
  /** Whether messages are named by their place in the archive; otherwise by the ids of their writers. */
  readonly byPlace: boolean
}

export class Lookup {
  readonly #archive: Archive
  readonly #sent: SentRequests
  readonly #scope: Scope

  constructor(archive: Archive, sent: SentRequests, scope: Scope) {
    this.#archive = archive
    this.#sent = sent
    this.#scope = scope
  }

  /** `foreign`: another person wrote it; an object: this account did. */
  async find(native: string, signal: AbortSignal): Promise<Found> {
    const remembered = this.#sent.findNative(native)
    if (remembered) return remembered
    const matches = (archived: ArchivedMessage) =>
      this.#isCalled(archived, native) && !isChange(archived.message)
    const found = await this.#search(matches, signal)
    // Without an archive the author is not known; other clients ignore changes by another person than the author.
    if (found === 'unknown') return { id: networkId(native) }
    if (!found) return 'absent'
    if (!this.#scope.isOwn(found.message)) return 'foreign'
    return { id: found.message.attrs.id ?? native, at: found.at }
  }

  /**
   * A message as it stands after its corrections; `undefined` when it is retracted or was never there. Rejects where there
   * is no archive.
   */
  async standing(native: string, signal: AbortSignal): Promise<ArchivedMessage | undefined> {
    const changes: Element[] = []
    const matches = (archived: ArchivedMessage) => {
      const { message } = archived
      if (!isChange(message)) return this.#isCalled(archived, native)
      changes.push(message)
      return false
    }
    const found = await this.#search(matches, signal)
    if (found === 'unknown') throw noHistory()
    if (!found) return undefined
    const { id } = found.message.attrs
    const writer = this.#scope.writer(found.message)
    const ofWriter = changes.filter(
      (change) => writer !== undefined && this.#scope.writer(change) === writer,
    )
    const changesOf = (kind: 'retract' | 'replace', names: readonly (string | undefined)[]) =>
      ofWriter.filter((message) => {
        const target = targetOf(message)
        return target?.change === kind && names.includes(target.id)
      })
    const named = id === undefined ? undefined : storable(id)
    const isRetracted = changesOf('retract', [named, storable(found.id)]).length > 0
    if (isRetracted) return undefined
    return { ...found, message: changesOf('replace', [named]).at(0) ?? found.message }
  }

  /** The message that this account has sent under this id lately, if any. Rejects if the archive cannot tell. */
  async sent(id: string, signal: AbortSignal): Promise<ArchivedMessage | undefined> {
    // Only who has got the message knows its id; in a room the account may have had another name.
    let isThereAsOthers = false
    // A server that keeps a message before it passes it on may keep the refusal, too.
    let refused: string | undefined
    const matches = ({ message }: ArchivedMessage) => {
      if (message.attrs.id !== id) return false
      if (message.attrs.type === 'error') {
        refused ??= conditionOf(message)
        return false
      }
      const isOwn = this.#scope.isOwn(message)
      isThereAsOthers ||= !isOwn
      return isOwn
    }
    const start = Math.floor(Date.now() / 1000) - LONGEST_CALL_SECONDS
    const found = await this.#search(matches, signal, { start })
    if (refused !== undefined) throw bounced(refused)
    if (found === 'unknown' || (!found && isThereAsOthers)) throw unknownOutcome('unavailable')
    if (!found && !(await this.#scope.keepsOwn(signal))) throw unknownOutcome('unavailable')
    return found
  }

  /** In a room, any occupant may give a message the id that the room gave to another one. */
  #isCalled({ id, message }: ArchivedMessage, native: string): boolean {
    if (storable(id) === native || (!this.#scope.byPlace && idOf(message) === native)) return true
    if (networkId(native) === native) return false
    const own = this.#scope.isOwn(message)
    const isRoom = this.#scope.byPlace
    const archive = this.#archive.address
    const key = keyOf({ message, archive, archived: id, own, isRoom })
    const given = this.#scope.byPlace ? storable(id) : idOf(message)
    return marked(given ?? '', key) === native
  }

  async #search(
    matches: (archived: ArchivedMessage) => boolean,
    signal: AbortSignal,
    since: Pick<PageRange, 'start'> = {},
  ): Promise<ArchivedMessage | 'unknown' | undefined> {
    const peer = this.#scope.with
    const range = { ...since, ...(peer !== undefined && { with: peer }) }
    try {
      for (let page = 0, before = ''; page < MOST_PAGES; page++) {
        const { messages, complete } = await this.#archive.page({ before, ...range }, signal)
        // Backwards, as the pages are.
        const found = messages.findLast(matches)
        const [oldest] = messages
        if (found || complete) return found
        if (!oldest) break
        before = oldest.id
      }
      // It asked for all since then, and the archive has not said that this is all.
      return since.start === undefined ? undefined : 'unknown'
    } catch (cause) {
      if (cause instanceof RequestRefused) return 'unknown'
      throw cause
    }
  }
}

/** A change of a message has an id of its own and cannot be changed itself. */
const isChange = (message: Element): boolean => targetOf(message) !== undefined
