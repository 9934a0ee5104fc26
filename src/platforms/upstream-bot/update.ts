/** The updates in an answer to getUpdates: each keeps its own text, since parsing and printing would change it. */
import type { Surface } from '../../../machines/model/content.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import { isDeeperThan, itemSpans, memberSpans, type Span } from '../../json/spans.ts'
import { payloadOf } from '../../updates/row.ts'
import { type Fields, fields, integer, Malformed, maybeFields, number } from './fields.ts'

export interface ReceivedUpdate {
  readonly id: number
  /** Absent for an update without a kind, and for one that is nested too deep. */
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
  return itemsIn(body).map(({ from, to }, place) =>
    updateOf(wellFormed(body.slice(from, to)), fields(values[place]), reader),
  )
}

/** A pair of halves, a half alone, and a backslash, after which nothing is escaped. */
const ESCAPED = /\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[dD][89a-fA-F]..|\\\\/g

/** Half a character is told as none: libraries refuse the whole answer for one that a stranger wrote. */
const wellFormed = (text: string): string =>
  /\\u[dD][89a-fA-F]/.test(text)
    ? text.replace(ESCAPED, (found) => (found.length === 6 ? '\\ufffd' : found))
    : text

/**
 * PHP reads 512 levels and Python about 990, with those of the answer around the update. A bot that cannot read an answer gets
 * it again and again.
 */
const DEEPEST = 500

export const isTooDeep = (text: string): boolean => isDeeperThan(text, DEEPEST)

/** As most servers begin and end their answers. */
const USUAL_BEGINNING = /^\s*\{\s*"ok"\s*:\s*true\s*,\s*"result"\s*:\s*(?=\[)/
const USUAL_END = /^\s*\]\s*\}\s*$/

/** The places of the updates. A look through the members of the answer, which may come in any order, costs half of the rest. */
function itemsIn(body: string): Span[] {
  const usual = USUAL_BEGINNING.exec(body)
  if (usual) {
    const [{ length: start }] = usual
    const items = itemSpans(body, start)
    if (USUAL_END.test(body.slice(items.at(-1)?.to ?? start + 1))) return items
  }
  const result = memberSpans(body).findLast(({ name }) => name === 'result')
  if (!result) throw new Malformed('a result was expected')
  return itemSpans(body, result.from)
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
  if (!KIND.test(kind) || isTooDeep(text)) return { id }
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
  const payload = `"${update}":${wellFormed(text)}`
  return { kind: 'update', update, sourceKey, direction: 'own', at, ...chat, payload }
}

const SURFACES: readonly unknown[] = ['private', 'group', 'supergroup', 'channel']

/** The chat of what an update is about, directly or by its message; and the id of the person who caused it. */
function partiesOf(about: Fields) {
  const { id, type } = maybeFields(about.chat ?? maybeFields(about.message).chat)
  const chatId = Number.isSafeInteger(id) ? { chatId: id as number } : {}
  const surface = SURFACES.includes(type) ? { surface: type as Surface } : {}
  const by = maybeFields(about.from ?? about.user).id
  return { chat: { ...chatId, ...surface }, by: isId(by) ? `${by}` : undefined }
}

const isId = (value: unknown): value is string | number =>
  typeof value === 'number' || typeof value === 'string'

/** As servers write an update: its id, and what stands around it. */
const USUAL_ID = /^(\{\s*"update_id"\s*:\s*)\d+(\s*,\s*)(?=")/

/** A second id, or the letters of one as escapes. */
const MORE_IDS = /"update_id"|\\u00[567]/

/** The update as the log stores it: without its id, and with its white space. */
function payloadIn(text: string): string {
  const usual = USUAL_ID.exec(text)
  // A second id would come behind the log's own, and readers take the last one.
  if (!usual || MORE_IDS.test(text.slice(usual[0].length))) return payloadOfMembers(text)
  const [{ length }, before = '', between = ''] = usual
  // The bracket, and the white space before it.
  const end = text.slice(text.slice(0, -1).trimEnd().length)
  return payloadOf(text.slice(length, -end.length), [before, between, end])
}

/** The same, by a look through all of it. */
function payloadOfMembers(text: string): string {
  const members = memberSpans(text)
  const others = members.filter(({ name }) => name !== 'update_id')
  const [first, kind, last] = [members[0], others[0], others.at(-1)]
  const isFramed = first?.name === 'update_id' && others.length === members.length - 1
  if (isFramed && kind && last) {
    const [before, between] = [text.slice(0, first.from), text.slice(first.to, kind.start)]
    return payloadOf(text.slice(kind.start, last.to), [before, between, text.slice(last.to)])
  }
  return others.map(({ start, to }) => text.slice(start, to)).join()
}
