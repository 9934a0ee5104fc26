/** Incoming messages: unwrapped from copies and archive results, with the facts that the server guarantees. */
import type { Element } from '@xmpp/client'
import type { Happening } from '../../../machines/model/happening.ts'
import { bareOf, parseAddress } from './address.ts'
import { type ArchivedMessage, stanzaId, timeIn } from './archive.ts'
import { keyOf } from './message-identity.ts'
import { ns } from './namespaces.ts'

export interface IncomingMessage {
  readonly message: Element
  /** The same for each copy of the message; see `message-identity.ts`. */
  readonly key: string
  /** The archive that it belongs to: the account's or a room's. */
  readonly archive: string
  /** Its id in that archive; absent if it is not archived, empty if only its time is known. */
  readonly archived?: string
  /** Unix time in seconds. */
  readonly at: number
  /** The server delivered it late; `at` is the time when the server received it. */
  readonly delayed?: true
  /** Fetched after a gap. */
  readonly recovered: boolean
  /** From a part of the archive that the earlier session has read; only messages that it did not see are new. */
  readonly again?: boolean
  /** Whether the account itself wrote it, on any device. */
  readonly own: boolean
  /** Kept by the server while the account was offline, and perhaps in its archive too. */
  readonly kept?: true
  /** Only for a message in a room. */
  readonly room?: RoomReader
  /** The id by which others in the room name it, where it is another one than `archived`. */
  readonly named?: string
}

/** Reads messages of a room, which knows its people and the ids of its messages. */
export interface RoomReader {
  read(delivery: IncomingMessage): Happening | undefined
  /** Before a message is read that changes another one: whose ids are not known is looked up. */
  recall(): Promise<void>
}

/** Out of the account's archive. */
export function recovered({ id, at, message }: ArchivedMessage, own: string): IncomingMessage {
  const copy = { message, archive: own, archived: id, own: isFrom(message, own) }
  return { ...copy, key: keyOf({ ...copy, isRoom: false }), at, recovered: true }
}

interface Trust {
  readonly own: string
  readonly domain: string
  /** The server keeps an archive, and so removes archive ids that others made up. */
  readonly archive: boolean
  /** The time, by the server's clock, of the newest message that the archive had before the stream began. */
  readonly readUntil?: number
  /** When the server had delivered all that it kept before the stream began; undefined: it may still do so. */
  readonly settledAt?: number | undefined
}

/** Larger than any correction of a server's clock. */
const CLOCK_STEP_SECONDS = 600

/** Unwraps a live message; undefined for a copy without a message. */
export function delivered(stanza: Element, trust: Trust): IncomingMessage | undefined {
  const carbon = stanza.getChild('received', ns.carbons) ?? stanza.getChild('sent', ns.carbons)
  const from = parseAddress(stanza.attrs.from)
  // Copies come only from the account's server. A forged one has only the words of its sender, which the archive has too.
  const isCopy = carbon && from?.bare === trust.own && from.resource === undefined
  if (!isCopy) return live(stanza, stanza, trust)
  const forwarded = carbon.getChild('forwarded', ns.forward)
  const message = forwarded?.getChild('message')
  return forwarded && message ? live(message, forwarded, trust) : undefined
}

function live(message: Element, stamped: Element, trust: Trust): IncomingMessage {
  const archived = trust.archive ? stanzaId(message, trust.own) : undefined
  const stamp = stampOf(stamped, trust)
  const isKept =
    archived && stamp !== undefined && stamp + CLOCK_STEP_SECONDS < (trust.readUntil ?? 0)
  const copy = {
    message,
    archive: trust.own,
    ...(archived && { archived }),
    own: isFrom(message, trust.own),
  }
  return {
    ...copy,
    key: keyOf({ ...copy, isRoom: false }),
    ...(isKept && { kept: true }),
    ...(stamp !== undefined && { delayed: true }),
    at: stamp ?? Math.floor(Date.now() / 1000),
    recovered: false,
  }
}

const isFrom = ({ attrs }: Element, own: string) => bareOf(attrs.from, own) === own

/**
 * When the server received it. Senders can write in the server's name, too: the server's own stamp comes after theirs, and
 * on a stream that has settled it is no older than that.
 */
function stampOf(stamped: Element, { own, domain, settledAt = 0 }: Trust): number | undefined {
  const vouched = stamped
    .getChildren('delay', ns.delay)
    .findLast(({ attrs }) => attrs.from === domain || attrs.from === own)
  const stamp = timeIn(vouched)
  return stamp !== undefined && stamp + CLOCK_STEP_SECONDS < settledAt ? undefined : stamp
}
