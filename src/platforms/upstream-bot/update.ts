/** The updates in an answer to getUpdates: each keeps its own text, since parsing and printing would change it. */
import type { Surface } from '../../../machines/model/content.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import { itemSpans, memberSpans } from '../../json/spans.ts'
import { payloadOf } from '../../updates/row.ts'
import { type Fields, fields, integer, Malformed, number } from './fields.ts'

export interface ReceivedUpdate {
  readonly id: number
  /** Absent for an update without a kind. */
  readonly happening?: Happening | undefined
}

interface Reader {
  /** The id of the bot. */
  readonly self: string
  /** Unix time in seconds, for updates that carry none. */
  readonly now: number
}

/** `body` is the text of `envelope`. Throws `Malformed`. */
export function updatesIn(body: string, envelope: Fields, reader: Reader): ReceivedUpdate[] {
  const values = envelope.result
  if (!Array.isArray(values)) throw new Malformed('an array was expected')
  const result = [...memberSpans(body)].findLast(({ name }) => name === 'result')
  if (!result) throw new Malformed('a result was expected')
  return [...itemSpans(body, result.from)].map(({ from, to }, place) =>
    updateOf(body.slice(from, to), fields(values[place]), reader),
  )
}

/** Kinds that may report the account's own actions. */
const ECHOES: ReadonlySet<string> = new Set([
  'message',
  'edited_message',
  'channel_post',
  'edited_channel_post',
  'message_reaction',
  'poll_answer',
])

const KIND = /^[a-z][a-z0-9_]{0,63}$/

function updateOf(text: string, value: Fields, { self, now }: Reader): ReceivedUpdate {
  const id = integer(value.update_id)
  const kind = Object.keys(value).find((name) => name !== 'update_id') ?? ''
  if (!KIND.test(kind)) return { id }
  const about = maybeFields(value[kind])
  const { chat, by } = partiesOf(about)
  const date = number(about.edit_date) ?? number(about.date)
  return {
    id,
    happening: {
      kind: 'update',
      update: kind,
      // Ids may start again after a week without updates, so the source key also contains the time.
      sourceKey: `${id}${date === undefined ? '' : `@${date}`}`,
      direction: by === self && ECHOES.has(kind) ? 'own' : 'incoming',
      at: date ?? now,
      ...chat,
      payload: payloadIn(text),
    },
  }
}

/** The update for the bot's other keys about a message that a call sent. */
export function ownUpdate(
  text: string,
  value: Fields,
  { sourceKey, now, isChange }: { sourceKey: string; now: number; isChange: boolean },
): Happening {
  const { chat } = partiesOf(value)
  const isPost = chat.surface === 'channel'
  const base = isPost ? 'channel_post' : 'message'
  const update = isChange ? `edited_${base}` : base
  const at = number(value.edit_date) ?? number(value.date) ?? now
  const payload = `"${update}":${text}`
  return { kind: 'update', update, sourceKey, direction: 'own', at, ...chat, payload }
}

const SURFACES: readonly unknown[] = ['private', 'group', 'supergroup', 'channel']

/** The chat of what an update is about, directly or by its message; and the id of the person who caused it. */
function partiesOf(about: Fields) {
  const { id, type } = maybeFields(about.chat ?? maybeFields(about.message).chat)
  const chatId = Number.isSafeInteger(id) ? { chatId: id as number } : {}
  const surface = SURFACES.includes(type) ? { surface: type as Surface } : {}
  const by = maybeFields(about.from ?? about.user).id
  return { chat: { ...chatId, ...surface }, by: by === undefined ? undefined : String(by) }
}

const maybeFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

/** The update as the log stores it: without its id, and with its white space. */
function payloadIn(text: string): string {
  const [first, ...rest] = [...memberSpans(text)]
  const [kind, last] = [rest[0], rest.at(-1)]
  if (first?.name === 'update_id' && kind && last) {
    const [before, between] = [text.slice(0, first.from), text.slice(first.to, kind.start)]
    return payloadOf(text.slice(kind.start, last.to), [before, between, text.slice(last.to)])
  }
  const others = [...memberSpans(text)].filter(({ name }) => name !== 'update_id')
  return others.map(({ start, to }) => text.slice(start, to)).join()
}
