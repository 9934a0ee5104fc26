/** Parameters and answers of calls of bots: bounded, without secrets, sealed, and deleted after some days. */
import type { Keeps, Logger } from '../../actors/ports/ports.ts'
import type { Arguments } from '../bot-api/arguments.ts'
import type { Database, Queryable } from '../database/database.ts'
import { type Mark, marked, WriteBuffer } from '../database/write-behind.ts'
import { ifReadable, type Vault } from '../security/vault.ts'
import { shownUrl } from '../webhooks/address.ts'
import { bounded, headOf, isLong } from './log.ts'

interface AnsweredCall {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly userId: number
  readonly apiKeyId: number
  readonly requestId: string
  readonly args: Arguments
  /** Undefined if the client went away before. */
  readonly answer: string | undefined
}

/** Bytes, since a part of a text would keep the whole alive. */
interface Side {
  readonly head: Buffer
  readonly isCut: boolean
}

interface Entry {
  readonly call: Omit<AnsweredCall, 'args' | 'answer'>
  readonly parameters: Side
  readonly answer: Side | undefined
}

interface Text {
  readonly text: string
  /** It was longer than what is kept. */
  readonly is_cut: boolean
}

interface StoredCall {
  readonly at: Date
  readonly parameters: Text
  /** Null if the client went away before. */
  readonly answer: Text | null
}

const LAG_MS = 500
/** Calls that wait to be written; beyond it new ones are not kept. */
const CAPACITY = 1_000
/** Calls of one key that are kept between two writes, so that one bot leaves room for the others. */
const OF_KEY = 20
/** Bytes that are kept of one key within an hour, so that a bot that fails in a loop does not fill the disk. */
const BYTES_OF_KEY = 16 * 2 ** 20
const HOUR_MS = 3_600_000
const UPKEEP_MS = HOUR_MS

interface CallLogOptions {
  readonly db: Database
  readonly vault: Pick<Vault, 'seal'>
  readonly logger: Pick<Logger, 'warn' | 'error'>
  readonly days: number
}

export class CallLog {
  readonly #options: CallLogOptions
  readonly #buffer: WriteBuffer<Entry>
  /** By key, the calls since the last write. */
  readonly #ofKey = new Map<number, number>()
  /** By key, since the hour began. */
  readonly #bytesOfKey = new Map<number, number>()
  #hour = 0
  #upkeepDue = 0

  constructor(options: CallLogOptions) {
    this.#options = options
    this.#buffer = new WriteBuffer<Entry>({
      everyMs: LAG_MS,
      capacity: CAPACITY,
      write: async (entries, mark) => {
        await this.#write(entries, mark)
        this.#ofKey.clear()
      },
      rows: 'parameters of calls',
      logger: options.logger,
      onFailure: () => {
        this.#upkeepDue = 0
      },
    })
  }

  add({ args, answer, ...call }: AnsweredCall): void {
    const ofKey = this.#ofKey.get(call.apiKeyId) ?? 0
    const bytes = this.#bytesSince(call)
    if (this.#buffer.size >= CAPACITY || ofKey >= OF_KEY || bytes >= BYTES_OF_KEY) return
    this.#ofKey.set(call.apiKeyId, ofKey + 1)
    const parameters = sideOf(parametersOf(args))
    const said = answer === undefined ? undefined : sideOf(answer)
    this.#bytesOfKey.set(call.apiKeyId, bytes + parameters.head.length + (said?.head.length ?? 0))
    this.#buffer.add({ call, parameters, answer: said })
  }

  #bytesSince({ at, apiKeyId }: Pick<AnsweredCall, 'at' | 'apiKeyId'>): number {
    const hour = Math.floor(at / HOUR_MS)
    if (hour > this.#hour) this.#bytesOfKey.clear()
    this.#hour = Math.max(hour, this.#hour)
    return this.#bytesOfKey.get(apiKeyId) ?? 0
  }

  flush(): Promise<void> {
    return this.#buffer.flush()
  }

  async #write(entries: readonly Entry[], { writer, before }: Mark): Promise<void> {
    const { db, days } = this.#options
    if (Date.now() >= this.#upkeepDue) {
      await db.query('select call_exchange_upkeep(make_interval(days => $1))', [days])
      this.#upkeepDue = Date.now() + UPKEEP_MS
    }
    const sealed = await Promise.all(entries.map((entry) => this.#seal(entry)))
    await db.query(insertion, [
      entries.map(({ call }) => call.at),
      entries.map(({ call }) => call.userId),
      entries.map(({ call }) => call.apiKeyId),
      entries.map(({ call }) => call.requestId),
      sealed,
      writer,
      before,
    ])
  }

  #seal({ call, parameters, answer }: Entry): Promise<Buffer> {
    const { at, userId, apiKeyId, requestId } = call
    const sides = { parameters: textOf(parameters), answer: answer ? textOf(answer) : null }
    const place = placeOf(apiKeyId, requestId, at)
    return this.#options.vault.seal(`user:${userId}`, place, Buffer.from(JSON.stringify(sides)))
  }
}

/** A call may end after the erasure of its user: then it is not stored. */
const insertion = `with ${marked('$6', '$7::bigint + cardinality($5::bytea[])')}
  insert into call_exchange (at, user_id, api_key_id, request_id, sealed)
  select to_timestamp(e.at / 1000), e.user_id, e.api_key_id, e.request_id, e.sealed
  from unnest($1::float8[], $2::bigint[], $3::bigint[], $4::text[], $5::bytea[]) with ordinality
    as e (at, user_id, api_key_id, request_id, sealed, n)
  where $7::bigint + e.n > (select before from mark) and exists (select from app_user where id = e.user_id and erasing_at is null)`

/** As a JSON object. A bot may send all values as text, so the object can be sent again as it is. */
const parametersOf = (args: Arguments): string =>
  JSON.stringify(Object.fromEntries([...args.names()].map((name) => [name, shown(name, args)])))

/** The address of a webhook may hold a secret anywhere, also without its scheme, and is shown as in lists. */
function shown(name: string, args: Arguments): string {
  const value = args.text(name) ?? ''
  if (name !== 'url' || value === '') return value
  const hasScheme = /^[a-z][a-z\d+.-]*:\/\//i.test(value)
  const whole = hasScheme ? value : `https://${value}`
  if (!URL.canParse(whole) || new URL(whole).origin === 'null') return value
  return hasScheme ? shownUrl(whole) : shownUrl(whole).slice('https://'.length)
}

const sideOf = (text: string): Side => ({ head: Buffer.from(headOf(text)), isCut: isLong(text) })

const textOf = ({ head, isCut }: Side): Text => ({ text: bounded(head.toString()), is_cut: isCut })

const placeOf = (apiKeyId: number, requestId: string, at: number) => ({
  table: 'call_exchange',
  column: 'sealed',
  row: `${apiKeyId}-${requestId}-${Math.round(at)}`,
})

/** Undefined if nothing of the call is kept. */
export async function findCall(
  { db, vault }: { readonly db: Database; readonly vault: Pick<Vault, 'open'> },
  { apiKeyId, requestId }: Pick<AnsweredCall, 'apiKeyId' | 'requestId'>,
): Promise<StoredCall | undefined> {
  const [row] = await db.query<{ at: Date; sealed: Buffer }>(
    `select at, sealed from call_exchange
      where api_key_id = $1 and request_id = $2 order by at desc limit 1`,
    [apiKeyId, requestId],
  )
  if (!row) return undefined
  const place = placeOf(apiKeyId, requestId, row.at.getTime())
  const blob = await ifReadable(vault.open(place, row.sealed))
  return blob && { at: row.at, ...JSON.parse(blob.toString()) }
}

interface Sought {
  readonly userId: number
  readonly apiKeyId?: number | undefined
  readonly credentialId?: number | undefined
  readonly since?: Date | undefined
  /** The newest that is looked at. */
  readonly until: Date
  /** In any case of letters. */
  readonly text?: string | undefined
  readonly chatId?: number | undefined
}

interface FoundCalls {
  readonly at: readonly Date[]
  readonly ids: readonly string[]
  /** The time of the last call that was looked at, if older ones were not. */
  readonly reached: Date | undefined
}

/** The kept calls that one search opens: 10 MB at most, since nothing else runs meanwhile. */
const OPENED = 300

/** The newest kept calls with this text in their parameters or answer, and with this chat among the parameters. */
export async function searchCalls(
  { db, vault }: { readonly db: Queryable; readonly vault: Pick<Vault, 'open'> },
  { userId, apiKeyId, credentialId, since, until, text, chatId }: Sought,
): Promise<FoundCalls> {
  // With ties: the search goes on from a time, and must leave out none of its calls.
  const rows = await db.query<{ at: Date; api_key_id: number; request_id: string; sealed: Buffer }>(
    `select at, api_key_id, request_id, sealed from call_exchange
      where user_id = $1 and ($2::bigint is null or api_key_id = $2)
        and at >= coalesce($3::timestamptz, '-infinity') and at <= $4
        and ($5::bigint is null or api_key_id in (select id from api_key where credential_id = $5))
      order by at desc fetch first ${OPENED} rows with ties`,
    [userId, apiKeyId ?? null, since ?? null, until, credentialId ?? null],
  )
  // As they stand in JSON.
  const words = text && JSON.stringify(text).slice(1, -1).toLowerCase()
  const chat = chatId !== undefined && `"chat_id":"${chatId}"`
  const opened = await Promise.all(
    rows.map(async (row) => {
      const place = placeOf(row.api_key_id, row.request_id, row.at.getTime())
      const blob = await ifReadable(vault.open(place, row.sealed))
      if (!blob) return []
      const kept: Omit<StoredCall, 'at'> = JSON.parse(blob.toString())
      const parameters = kept.parameters.text
      const all = `${parameters}\n${kept.answer?.text ?? ''}`.toLowerCase()
      const isFound = (!words || all.includes(words)) && (!chat || parameters.includes(chat))
      return isFound ? [row] : []
    }),
  )
  const found = opened.flat()
  return {
    at: found.map(({ at }) => at),
    ids: found.map(({ request_id }) => request_id),
    reached: rows.length < OPENED ? undefined : rows.at(-1)?.at,
  }
}

/** Which calls of a key are kept with their parameters and answers. */
export async function keepsCallsOf(db: Database, apiKeyId: number): Promise<Keeps> {
  const [row] = await db.query<{ keeps: Keeps }>(
    'select keeps_calls as keeps from api_key where id = $1',
    [apiKeyId],
  )
  return row?.keeps ?? 'none'
}
