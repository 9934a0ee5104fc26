/** Finds messages that the session does not remember by reading back in the archive. */
import type { Element } from '@xmpp/client'
import { parseAddress } from './address.ts'
import type { Archive, ArchivedMessage } from './archive.ts'
import { ns } from './namespaces.ts'
import { RequestRefused } from './requests.ts'
import type { Sent } from './sent.ts'

/** How many pages back a message is looked for. */
const mostPages = 20
/** What was sent a moment ago is among the newest. */
const mostPagesOfLate = 2

export type Found = 'absent' | 'foreign' | { readonly at?: number }

interface Search {
  readonly chat: string
  readonly pages: number
  matches(archived: ArchivedMessage): boolean
}

export class Lookup {
  readonly #own: string
  readonly #archive: Archive
  readonly #sent: Sent

  constructor(own: string, archive: Archive, sent: Sent) {
    this.#own = own
    this.#archive = archive
    this.#sent = sent
  }

  /** `foreign`: somebody else wrote it; an object: this account did. */
  async find(chat: string, id: string, signal: AbortSignal): Promise<Found> {
    const remembered = this.#sent.find(id)
    if (remembered) return { at: remembered.at }
    const matches = ({ message }: ArchivedMessage) => message.attrs.id === id && !isChange(message)
    const found = await this.#search({ chat, pages: mostPages, matches }, signal)
    // Without an archive nobody knows; other clients ignore a change by who is not the author.
    if (found === 'unknown') return {}
    if (!found) return 'absent'
    return this.#isOwn(found) ? { at: found.at } : 'foreign'
  }

  /** Whether the server has something that this account sent under this id lately. */
  async isArchived(chat: string, id: string, signal: AbortSignal): Promise<boolean> {
    const matches = (archived: ArchivedMessage) =>
      archived.message.attrs.id === id && this.#isOwn(archived)
    const found = await this.#search({ chat, pages: mostPagesOfLate, matches }, signal)
    return found !== undefined && found !== 'unknown'
  }

  async #search({ chat, pages, matches }: Search, signal: AbortSignal) {
    try {
      for (let page = 0, before = ''; page < pages; page++) {
        const { messages, complete } = await this.#archive.page({ before, with: chat }, signal)
        const found = messages.find(matches)
        const [oldest] = messages
        if (found || complete || !oldest) return found
        before = oldest.id
      }
      return undefined
    } catch (cause) {
      if (cause instanceof RequestRefused) return 'unknown'
      throw cause
    }
  }

  #isOwn({ message }: ArchivedMessage): boolean {
    return (parseAddress(message.attrs.from)?.bare ?? this.#own) === this.#own
  }
}

/** A change of a message has an id of its own and cannot be changed itself. */
function isChange(message: Element): boolean {
  const change =
    message.getChild('retract', ns.retraction) ?? message.getChild('replace', ns.correction)
  return change !== undefined
}
