/** The update log as the tests understand it: an array for each credential, a cursor for each key. */

export interface Event {
  readonly sourceKey: string
  /** 0 message, 1 edited message. */
  readonly kind: number
}

export interface ModelUpdate extends Event {
  readonly id: number
  readonly author: ModelKey | undefined
}

export interface ModelLog {
  readonly updates: ModelUpdate[]
  /** The id that the table gives next, and the one that the node believes in. */
  next: number
  told: number
  /** Source keys the node has in memory; it loads them with its first append. */
  remembered: Set<string> | undefined
  /** The node has no memory to spare: after each append it lets go of everything. */
  readonly isTight: boolean
}

export interface ModelKey {
  readonly log: ModelLog
  cursor: number
  /** From an id on, these kinds as bits; the last one that applies counts. */
  readonly filter: { from: number; kinds: number }[]
  lastPoll: { offset: number; at: number; told: number } | undefined
  dropped: number
}

export interface ModelPoll {
  readonly offset: number
  readonly limit: number
  readonly kinds: number | undefined
  readonly now: number
}

/** Kinds 0 and 1 are in the default set. */
const DEFAULT = 3

export const newLog = (first: number, isTight = false): ModelLog => ({
  isTight,
  updates: [],
  next: first,
  told: first,
  remembered: undefined,
})

export const newKey = (log: ModelLog): ModelKey => ({
  log,
  cursor: log.next - 1,
  filter: [{ from: 0, kinds: DEFAULT }],
  lastPoll: undefined,
  dropped: 0,
})

/** Stores what the table does not hold; resolves with how many that were. */
function store(log: ModelLog, events: readonly Event[], author?: ModelKey): number {
  let count = 0
  for (const event of events) {
    if (log.updates.some(({ sourceKey }) => sourceKey === event.sourceKey)) continue
    log.updates.push({ ...event, id: log.next++, author })
    count++
  }
  return count
}

export function append(log: ModelLog, events: readonly Event[], author?: ModelKey): number {
  log.remembered ??= new Set(log.updates.map(({ sourceKey }) => sourceKey))
  const { remembered } = log
  if (log.isTight) log.remembered = undefined
  const fresh = events.filter(({ sourceKey }) => !remembered.has(sourceKey))
  if (fresh.length === 0) return 0
  const count = store(log, fresh, author)
  for (const { sourceKey } of fresh) remembered.add(sourceKey)
  log.told = log.next
  return count
}

/** Another process stores them, and the node hears nothing of it. */
export const appendElsewhere = (log: ModelLog, events: readonly Event[]): number =>
  store(log, events)

export function reopen(log: ModelLog): void {
  log.told = log.next
  log.remembered = undefined
}

const isWanted = (key: ModelKey, { id, kind, author }: ModelUpdate) => {
  const kinds = key.filter.findLast(({ from }) => from <= id)?.kinds ?? DEFAULT
  return author !== key && (kinds & (1 << kind)) !== 0
}

export const pending = (key: ModelKey): ModelUpdate[] =>
  key.log.updates.filter(
    (update) => update.id > key.cursor && update.id < key.log.told && isWanted(key, update),
  )

/** What getUpdates answers, and for how long it may wait before it answers nothing. */
export function poll(key: ModelKey, asked: ModelPoll): { updates: ModelUpdate[]; waits: boolean } {
  const { offset, now } = asked
  const { told } = key.log
  const since = key.lastPoll?.offset === offset ? now - key.lastPoll.at : Infinity
  const isRepeated = since < 500 && key.lastPoll?.told === told
  key.lastPoll = { offset, at: now, told }
  if (offset > 0 && offset <= told + 10) {
    key.cursor = Math.max(key.cursor, Math.min(offset, told) - 1)
  }
  if (asked.kinds !== undefined) key.filter.push({ from: told, kinds: asked.kinds })
  if (offset < 0) {
    const kept = pending(key).slice(offset)
    if (kept.length === -offset && kept[0]) key.cursor = kept[0].id - 1
  }
  const updates = pending(key).slice(0, isRepeated ? 1 : asked.limit)
  return { updates, waits: since < 3_000 && updates.length === 0 }
}

/** What is handed on of the log after this id, and up to where it was looked at. */
export function handOn(
  key: ModelKey,
  after: number,
  limit: number,
): { ids: number[]; head: number } {
  const { updates, told } = key.log
  const ids = updates
    .filter((update) => update.id > after && update.id < told && isWanted(key, update))
    .map(({ id }) => id)
    .slice(0, limit)
  const isFull = ids.length === limit
  return { ids, head: isFull ? (ids.at(-1) ?? after) : Math.max(after, told - 1) }
}

export function dropPending(key: ModelKey): void {
  key.cursor = key.log.told - 1
}

/** Keeps the newest ids; every key is told what it will not get. */
export function retain(log: ModelLog, keys: readonly ModelKey[], keep: number): void {
  const removed = log.updates.filter(({ id }) => id < log.next - keep)
  for (const key of keys) {
    if (key.log !== log) continue
    key.dropped += removed.filter(
      (update) => update.id > key.cursor && isWanted(key, update),
    ).length
  }
  log.updates.splice(0, removed.length)
}
