/** Finds out whose a message is that the session does not remember, by reading back in the archive. */
import { parseAddress } from './address.ts'
import type { Archive, ArchivedMessage } from './archive.ts'
import { ns } from './namespaces.ts'
import { RequestRefused } from './requests.ts'
import type { Sent } from './sent.ts'

/** How many pages back a message is looked for. */
const mostPages = 20

export type Found = 'absent' | 'foreign' | { readonly at?: number }

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
    const at = this.#sent.at(id)
    if (at !== undefined) return { at }
    try {
      return await this.#search(chat, id, signal)
    } catch (cause) {
      // Without an archive nobody knows; other clients ignore a change by who is not the author.
      if (cause instanceof RequestRefused) return {}
      throw cause
    }
  }

  async #search(chat: string, id: string, signal: AbortSignal): Promise<Found> {
    let before = ''
    for (let page = 0; page < mostPages; page++) {
      const { messages, complete } = await this.#archive.page({ before, with: chat }, signal)
      const found = messages.find((archived) => isNamed(archived, id))
      if (found) return this.#isOwn(found) ? { at: found.at } : 'foreign'
      const [oldest] = messages
      if (complete || !oldest) return 'absent'
      before = oldest.id
    }
    return 'absent'
  }

  #isOwn({ message }: ArchivedMessage): boolean {
    return (parseAddress(message.attrs.from)?.bare ?? this.#own) === this.#own
  }
}

/** A change of a message has an id of its own and cannot be changed itself. */
function isNamed({ message }: ArchivedMessage, id: string): boolean {
  const isChange =
    message.getChild('retract', ns.retraction) ?? message.getChild('replace', ns.correction)
  return message.attrs.id === id && !isChange
}
