/** Checkpoints of an account: a place in its archive and in those of its rooms, and the newest messages without an archive. */
import type { Json } from '../../../machines/model/protocol.ts'
import { fieldsOf } from '../kit/platform.ts'
import { nowSeconds } from './archive.ts'
import type { IncomingMessage } from './delivery.ts'
import { type Invitation, parseInvited } from './invitation.ts'
import { fingerprintOf, isRandom } from './message-identity.ts'

export interface Checkpoint {
  /** The archive id of the last stored message; empty: the archive was empty. */
  readonly mam: string
  /**
   * An archive id a little before it, from which the next session reads. Servers do not list messages in the order of
   * their archive ids, and several messages can have the same id, so the page after `mam` may miss new messages.
   */
  readonly from?: string
  /** The time of that message, in case the archive no longer has its id. Unix time in seconds. */
  readonly at: number
}

/** By the address of the archive. */
export type Checkpoints = ReadonlyMap<string, Checkpoint>

/** The most rooms in a checkpoint: all are stored with each event, and any person may invite the account into rooms. */
const mostRooms = 1_000

/** The checkpoints with one replaced. If there are too many, the room without messages for the longest time is dropped. */
export function withCheckpoint(
  checkpoints: Checkpoints,
  archive: string,
  checkpoint: Checkpoint,
  own: string,
): Checkpoints {
  // Who reads again from a time that is still to come would miss what was said before it.
  const at = Math.min(checkpoint.at, nowSeconds())
  const moved = new Map(checkpoints).set(archive, { ...checkpoint, at })
  if (moved.size <= mostRooms + 1) return moved
  const rooms = [...moved].filter(([address]) => address !== own && address !== archive)
  const [oldest] = rooms.toSorted(([, a], [, b]) => a.at - b.at)
  if (oldest) moved.delete(oldest[0])
  return moved
}

export function parseCheckpoints(stored: Json, own: string): Checkpoints {
  const checkpoints = new Map<string, Checkpoint>()
  const first = parse(stored)
  if (first) checkpoints.set(own, first)
  for (const [room, place] of Object.entries(fieldsOf(fieldsOf(stored).rooms))) {
    const checkpoint = parse(place)
    if (checkpoint) checkpoints.set(room, checkpoint)
  }
  return checkpoints
}

/** What is stored with the checkpoints of an account. */
export interface Beside {
  /** The invitations that are not answered yet. */
  readonly invited: readonly Invitation[]
  /** Rooms that the account has left, or was put out of, and that may be kept or bookmarked still. */
  readonly out: readonly string[]
  readonly unarchived: readonly Unarchived[]
}

/** `out`: rooms of which it could not be stored that the account is out of them. */
export const parseBeside = (stored: Json, out: Iterable<string> = []): Beside => ({
  invited: parseInvited(stored),
  out: [...new Set([...parseOut(stored), ...out])],
  unarchived: parseUnarchived(stored),
})

function parseOut(stored: Json): string[] {
  const { out } = fieldsOf(stored)
  return (Array.isArray(out) ? out : []).filter((room) => typeof room === 'string')
}

const isZero = (count: number) => count === 0

export function checkpointJson(
  checkpoints: Checkpoints,
  own: string,
  { invited, out, unarchived }: Omit<Beside, 'unarchived'> & { readonly unarchived: string },
): Json {
  const isEmpty = [checkpoints.size, invited.length, out.length, unarchived.length].every(isZero)
  if (isEmpty) return null
  const rooms = [...checkpoints].filter(([address]) => address !== own)
  const places = rooms.map(([room, place]) => [room, { ...place }] as const)
  return {
    ...checkpoints.get(own),
    ...(places.length > 0 && { rooms: Object.fromEntries(places) }),
    ...(invited.length > 0 && { invited: invited.map((each) => ({ ...each })) }),
    ...(out.length > 0 && { out: [...out] }),
    ...(unarchived !== '' && { unarchived }),
  }
}

function parse(stored: Json | undefined): Checkpoint | undefined {
  const { mam, at, from } = fieldsOf(stored)
  if (typeof mam !== 'string') return undefined
  return { mam, ...(typeof from === 'string' && { from }), at: typeof at === 'number' ? at : 0 }
}

/** A remembered message: its fingerprint and its time, Unix time in seconds. */
export type Unarchived = readonly [fingerprint: string, at: number]

/** How much the clocks of the server and of this machine may differ. */
const toleranceSeconds = 60

/** Of those that no source key names. */
export const unarchivedOf = (deliveries: readonly IncomingMessage[]): readonly Unarchived[] =>
  deliveries
    .filter(({ archived, room, own, message }) => {
      const isNamed = archived !== undefined || (own && isRandom(message.attrs.id ?? ''))
      return !isNamed && !room
    })
    .map(({ message, at }) => [fingerprintOf(message), at])

const FINGERPRINT_LENGTH = 11

/** In words: a time and the fingerprints of that time. It is written with each event, and a list of pairs takes far longer. */
function unarchivedText(stored: readonly Unarchived[]): string {
  const parts: string[] = []
  let last: number | undefined
  for (const [fingerprint, at] of stored) {
    if (at !== last) parts.push(parts.length > 0 ? ' ' : '', at.toString(36), ':')
    parts.push(fingerprint)
    last = at
  }
  return parts.join('')
}

export function parseUnarchived(stored: Json): Unarchived[] {
  const { unarchived } = fieldsOf(stored)
  if (typeof unarchived === 'string') return unarchived.split(' ').flatMap(parseWord)
  // As earlier releases wrote it.
  return (Array.isArray(unarchived) ? unarchived : []).flatMap((each: Json): Unarchived[] => {
    const [fingerprint, at] = Array.isArray(each) ? each : []
    return typeof fingerprint === 'string' && typeof at === 'number' ? [[fingerprint, at]] : []
  })
}

function parseWord(word: string): Unarchived[] {
  const [time = '', fingerprints = ''] = word.split(':')
  const at = Number.parseInt(time, 36)
  const count = Number.isNaN(at) ? 0 : Math.floor(fingerprints.length / FINGERPRINT_LENGTH)
  return Array.from({ length: count }, (_, place) => {
    const start = place * FINGERPRINT_LENGTH
    return [fingerprints.slice(start, start + FINGERPRINT_LENGTH), at]
  })
}

/** So many are remembered however old they are, and of a flood those that the server may not have seen acknowledged. */
const FEWEST_UNACKNOWLEDGED = 100
const ACKNOWLEDGED_WITHIN_MS = 10_000
/** Servers keep no more for a client that does not acknowledge; the same of all earlier sessions together. */
const MOST_UNACKNOWLEDGED = 5_000
/** After this time of a stream, the server has repeated all that earlier ones had not acknowledged to it. */
const ACKNOWLEDGED_MS = 60_000

/** Of earlier sessions; the first are written anew as they are dropped. */
const BATCH_SIZE = 100

/** Messages that were stored together, and how they are written: once, and not with each later event anew. */
interface Batch {
  readonly messages: readonly Unarchived[]
  readonly storedAt: number
  readonly text: string
}

const batchOf = (messages: readonly Unarchived[], storedAt: number): Batch => ({
  messages,
  storedAt,
  text: unarchivedText(messages),
})

/** The newest messages without a place in an archive, the last one last: the server may not have seen their acknowledgement. */
export class Unacknowledged {
  /** Of earlier sessions, but for what came again: one that is killed early has acknowledged nothing to the server. */
  #earlier: readonly Batch[]
  #own: readonly Batch[] = []
  #streamSince = performance.now()

  constructor(earlier: readonly Unarchived[]) {
    const batches: Batch[] = []
    for (let start = 0; start < earlier.length; start += BATCH_SIZE) {
      const messages = earlier.slice(start, start + BATCH_SIZE)
      batches.push(batchOf(messages, Number.NEGATIVE_INFINITY))
    }
    this.#earlier = newest(batches, MOST_UNACKNOWLEDGED)
  }

  /** Returns what the server may send again on the stream that begins now. */
  begin(): readonly Unarchived[] {
    this.#streamSince = performance.now()
    return this.#all().flatMap(({ messages }) => messages)
  }

  add(messages: readonly Unarchived[]): void {
    if (messages.length === 0) return
    const now = performance.now()
    const own = [...this.#own, batchOf(messages, now)]
    const recent = countOf(own.filter(({ storedAt }) => now - storedAt < ACKNOWLEDGED_WITHIN_MS))
    const kept = Math.min(Math.max(recent, FEWEST_UNACKNOWLEDGED), MOST_UNACKNOWLEDGED)
    this.#own = newest(own, kept)
  }

  /** They are handled once more, and the server may not see this acknowledgement either. */
  addAgain(messages: readonly Unarchived[]): void {
    if (messages.length === 0) return
    const again = new Set(messages)
    this.#earlier = without(this.#earlier, again)
    this.#own = without(this.#own, again)
    this.add(messages)
  }

  /** For the checkpoint. */
  get text(): string {
    const isEarly = performance.now() - this.#streamSince < ACKNOWLEDGED_MS
    const batches = isEarly ? this.#all() : this.#own
    return batches.map(({ text }) => text).join(' ')
  }

  #all(): readonly Batch[] {
    return newest([...this.#earlier, ...this.#own], MOST_UNACKNOWLEDGED)
  }
}

const countOf = (batches: readonly Batch[]): number =>
  batches.reduce((sum, { messages }) => sum + messages.length, 0)

function newest(batches: readonly Batch[], most: number): readonly Batch[] {
  let over = countOf(batches) - most
  if (over <= 0) return batches
  return batches.flatMap((batch) => {
    const { messages, storedAt } = batch
    const dropped = Math.min(over, messages.length)
    over -= dropped
    if (dropped === 0) return batch
    return dropped < messages.length ? batchOf(messages.slice(dropped), storedAt) : []
  })
}

function without(batches: readonly Batch[], gone: ReadonlySet<Unarchived>): readonly Batch[] {
  return batches.flatMap((batch) => {
    const messages = batch.messages.filter((each) => !gone.has(each))
    if (messages.length === batch.messages.length) return batch
    return messages.length > 0 ? batchOf(messages, batch.storedAt) : []
  })
}

/** A server sends again what it has kept at the start of a stream. */
const REPEATED_WITHIN_MS = 15 * 60_000

/** The last messages that earlier sessions have stored; each is recognized once, soon after the stream has begun. */
export class Repeats {
  readonly #expected: Map<string, Unarchived[]>
  readonly #until = performance.now() + REPEATED_WITHIN_MS

  constructor(stored: readonly Unarchived[]) {
    this.#expected = Map.groupBy(stored, ([fingerprint]) => fingerprint)
  }

  /** The stored message that the server repeats; `undefined`: it is a new one. */
  take({ message, at, delayed }: IncomingMessage): Unarchived | undefined {
    if (performance.now() > this.#until) this.#expected.clear()
    // A random id is unique. With any other id only a message kept by the server can be a repeat, and only of its own time.
    const isUnique = isRandom(message.attrs.id ?? '')
    if (this.#expected.size === 0 || (!delayed && !isUnique)) return undefined
    const fingerprint = fingerprintOf(message)
    const same = this.#expected.get(fingerprint) ?? []
    // An archive may have another clock.
    const seen = Math.min(at, nowSeconds())
    const place = same.findIndex(
      ([, since]) => isUnique || Math.abs(since - seen) <= toleranceSeconds,
    )
    if (place < 0) return undefined
    if (same.length === 1) this.#expected.delete(fingerprint)
    return same.splice(place, 1)[0]
  }
}
