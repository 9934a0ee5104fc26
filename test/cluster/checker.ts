/** Judges what bots saw and what the network stored by what was promised to writers and senders. */
import type { Seen } from './bots.ts'
import type { Write } from './writes.ts'

export interface AccountHistory {
  readonly name: string
  /** Texts that a person wrote and that were taken, in order; they begin with their number. */
  readonly written: readonly string[]
  readonly seen: readonly Seen[]
  /** Why the library of its bot has given up. */
  readonly failures: readonly string[]
  /** Texts that the bot sent, by what it was told. */
  readonly sent: readonly string[]
  readonly unknown: readonly string[]
  /** Texts of the bot that the network has. */
  readonly stored: readonly string[]
  /** Of the log: how many updates there are, and how many ids they span. */
  readonly log: { readonly updates: number; readonly ids: number }
  /** By whom each of them was stored, in order. */
  readonly writes: readonly Write[]
  /** As the owner shows it, and as the table has it. */
  readonly states: readonly [owner: string, table: string]
}

/** What must not be, in words; empty where all is well. */
export function violationsOf(history: AccountHistory): string[] {
  const all = [standing, receiving, sending, owning].flatMap((judge) => [...judge(history)])
  return all.map((violation) => `${history.name}: ${violation}`)
}

const numberOf = (text: string) => Number.parseInt(text, 10)

function* receiving({ written, seen }: AccountHistory): Iterable<string> {
  const texts = new Set(seen.map(({ text }) => text))
  for (const text of written) if (!texts.has(text)) yield `"${text}" was lost`
  // A write that nobody waited for may have been carried out later than those after it.
  const inOrder = new Set(written)
  const meanings = { update: new Map<number, string>(), message: new Map<number, string>() }
  const updates = new Map<string, number>()
  let latest = -1
  for (const { updateId, messageId, text } of seen) {
    for (const [kind, id] of [
      ['update', updateId],
      ['message', messageId],
    ] as const) {
      const before = meanings[kind].get(id)
      if (before !== undefined && before !== text)
        yield `${kind} ${id} is "${before}" and "${text}"`
      meanings[kind].set(id, text)
    }
    const known = updates.get(text)
    if (known !== undefined && known !== updateId) {
      yield `"${text}" is update ${known} and ${updateId}`
    }
    if (known === undefined && inOrder.has(text) && numberOf(text) < latest) {
      yield `"${text}" came for the first time after number ${latest}`
    }
    updates.set(text, updateId)
    if (inOrder.has(text)) latest = Math.max(latest, numberOf(text))
  }
}

function* sending({ sent, unknown, stored }: AccountHistory): Iterable<string> {
  const counts = new Map<string, number>()
  for (const text of stored) counts.set(text, (counts.get(text) ?? 0) + 1)
  for (const text of sent)
    if (!counts.has(text)) yield `"${text}" was not sent, the bot was told so`
  for (const [text, count] of counts) if (count > 1) yield `"${text}" was sent ${count} times`
  const known = new Set([...sent, ...unknown])
  for (const text of counts.keys()) if (!known.has(text)) yield `"${text}" was refused, and sent`
}

function* standing({ log, states, failures }: AccountHistory): Iterable<string> {
  for (const failure of failures) yield `its library gave up: ${failure}`
  if (log.updates !== log.ids) yield `${log.updates} updates have ${log.ids} ids`
  const [owner, table] = states
  if (owner !== table) yield `its owner shows ${owner}, and ${table} is stored`
  if (owner !== 'active') yield `it is ${owner} in the end`
}

/** Each owner writes what it has to, and none of them after the next one has begun. */
function* owning({ writes, log }: AccountHistory): Iterable<string> {
  if (writes.length !== log.updates) {
    yield `${log.updates} updates were stored by ${writes.length} writes`
  }
  let latest = 0
  const processes = new Map<number, string>()
  for (const { updateId, epoch, owner, incarnation, writer } of writes) {
    const first = processes.get(incarnation) ?? writer
    processes.set(incarnation, first)
    const isOwner = writer.startsWith(`${owner}.`)
    if (!isOwner) yield `update ${updateId} was stored by ${writer}, its owner was ${owner}`
    if (isOwner && writer !== first) yield `update ${updateId} was stored by ${writer} for ${first}`
    if (epoch < latest) yield `update ${updateId} is of epoch ${epoch}, after one of ${latest}`
    latest = Math.max(latest, epoch)
  }
}

/** One connection of a node for an account of which only one node may speak at a time. */
interface Session {
  /** The node, by its number. */
  readonly client: number
  readonly openedAt: number
  /** When it last said something. */
  readonly heardAt: number
}

interface ExclusiveHistory {
  readonly name: string
  readonly sessions: readonly Session[]
  /** The network has ended its key, because two clients used it at once. */
  readonly isKeyEnded: boolean
}

export function overlapsOf({ name, sessions, isKeyEnded }: ExclusiveHistory): string[] {
  const found = isKeyEnded ? [`${name}: its key was ended`] : []
  for (const one of sessions) {
    for (const next of sessions) {
      const isNext = next.client !== one.client && next.openedAt >= one.openedAt
      if (!isNext || one.heardAt <= next.openedAt) continue
      const ms = Math.round(one.heardAt - next.openedAt)
      found.push(`${name}: client ${one.client} spoke ${ms} ms after ${next.client} had come`)
    }
  }
  return found
}
