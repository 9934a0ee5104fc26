/** Stores each update once: drops drafts that are stored already, then writes all others in a single statement. */

import type { Database, Statement } from '../database/database.ts'
import { despiteRace } from '../database/failures.ts'
import { arrayLiteral, textArray } from '../database/write-behind.ts'
import { type NewChat, type NewMessage, unlessSame } from '../identities/store.ts'
import type { Draft } from './row.ts'

/** The newest keys are remembered, at least so many and at most twice as many. */
const REMEMBERED = 500
/** Estimated size of a key in a set. */
const KEY_BYTES = 120

/**
 * The newest source keys of one credential; loaded from the log on the first append. In two sets, of which the older one goes
 * as a whole: to delete the oldest key for each new one costs as much as all else with it.
 */
export class RecentKeys {
  #newer: Set<string>
  #older = new Set<string>()

  private constructor(keys: readonly string[]) {
    this.#newer = new Set(keys)
  }

  static async load(db: Database, credentialId: number): Promise<RecentKeys> {
    const rows = await db.query<{ source_key: string }>(
      `select source_key from update_log where credential_id = $1
        order by update_id desc limit ${REMEMBERED}`,
      [credentialId],
    )
    return new RecentKeys(rows.map((row) => row.source_key))
  }

  /** Estimated memory. */
  get bytes(): number {
    return (this.#newer.size + this.#older.size) * KEY_BYTES
  }

  /** Whether the key was unknown; it is known from now on. */
  add(key: string): boolean {
    if (this.#newer.has(key) || this.#older.has(key)) return false
    if (this.#newer.size >= REMEMBERED) {
      this.#older = this.#newer
      this.#newer = new Set()
    }
    this.#newer.add(key)
    return true
  }

  /** Events that were not stored are new again. */
  forget(keyed: readonly { readonly sourceKey: string }[]): void {
    for (const { sourceKey } of keyed) {
      this.#newer.delete(sourceKey)
      this.#older.delete(sourceKey)
    }
  }
}

/** The drafts of a batch that are not in the log yet, each once. */
export async function withoutStored(db: Database, batch: Batch): Promise<Draft[]> {
  const stored = await db.query<{ source_key: string }>(
    'select source_key from update_log where credential_id = $1 and source_key = any($2)',
    [batch.credentialId, batch.drafts.map((draft) => draft.sourceKey)],
  )
  const seen = new Set(stored.map((row) => row.source_key))
  return batch.drafts.filter(({ sourceKey }) => {
    if (seen.has(sourceKey)) return false
    seen.add(sourceKey)
    return true
  })
}

/** The updates of one credential that are stored together. */
export interface Batch {
  readonly credentialId: number
  readonly epoch: number
  readonly drafts: readonly Draft[]
  /** JSON text; null leaves the stored one. */
  readonly checkpoint: string | null
  readonly apiKeyId: number | null
  readonly traceId: string | null
  readonly chats: readonly NewChat[]
  readonly messages: readonly NewMessage[]
}

/** The rows are in the order of their batches; `before` counts those of earlier ones. A key and a trace come once a batch. */
const moved = `
  with moved as (
    update credential_log l
       set next_update_id = l.next_update_id + b.updates,
           checkpoint = coalesce(b.checkpoint::jsonb, l.checkpoint)
      from unnest($1::bigint[], $2::bigint[], $3::int[], $4::text[], $5::bigint[], $6::text[],
                  $7::int[])
           as b (credential_id, epoch, updates, checkpoint, api_key_id, trace_id, before)
     where l.credential_id = b.credential_id and l.epoch = b.epoch
    returning l.credential_id, l.next_update_id - b.updates as first_id, b.api_key_id, b.trace_id,
              b.before
  ), stored as (
    insert into update_log
      (credential_id, update_id, source_key, kind, chat_id, api_key_id, trace_id, payload)
    select r.credential_id, m.first_id + r.place - m.before - 1, r.source_key, r.kind, r.chat_id,
           m.api_key_id, m.trace_id, r.payload
      from unnest($8::bigint[], $9::text[], $10::smallint[], $11::bigint[], $12::text[])
           with ordinality as r (credential_id, source_key, kind, chat_id, payload, place)
      join moved m using (credential_id)
  )`

const mapped = `, chats as (
    insert into chat_identity (credential_id, native, chat_id)
    select c.credential_id, c.native, c.chat_id
      from unnest($13::bigint[], $14::text[], $15::bigint[]) as c (credential_id, native, chat_id)
      join moved using (credential_id)
     order by c.credential_id, c.native
    ${unlessSame.chat}
  ), messages as (
    insert into message_identity (credential_id, native, chat_id, message_id, own)
    select c.credential_id, c.native, c.chat_id, c.message_id, c.own
      from unnest($16::bigint[], $17::text[], $18::bigint[], $19::int[], $20::boolean[])
           as c (credential_id, native, chat_id, message_id, own)
      join moved using (credential_id)
     order by c.credential_id, c.native
    ${unlessSame.message}
  )`

const result = ' select credential_id, first_id from moved'

const plain: Statement = { name: 'log-append', text: moved + result }
const withIdentities: Statement = { name: 'log-append-mapped', text: moved + mapped + result }

/** First update id by credential; a credential that is missing in it was fenced. */
type FirstIds = ReadonlyMap<number, number>

/** Every credential appears at most once in `batches`. Rejects with 23505 when a source key is already stored. */
export async function commit(db: Database, batches: readonly Batch[]): Promise<FirstIds> {
  const drafts = batches.flatMap((batch) => batch.drafts)
  const before: number[] = []
  let place = 0
  for (const batch of batches) {
    before.push(place)
    place += batch.drafts.length
  }
  const values: unknown[] = [
    arrayLiteral(batches.map((batch) => batch.credentialId)),
    arrayLiteral(batches.map((batch) => batch.epoch)),
    arrayLiteral(batches.map((batch) => batch.drafts.length)),
    textArray(batches.map((batch) => batch.checkpoint)),
    arrayLiteral(batches.map((batch) => batch.apiKeyId)),
    textArray(batches.map((batch) => batch.traceId)),
    arrayLiteral(before),
    arrayLiteral(batches.flatMap((batch) => batch.drafts.map(() => batch.credentialId))),
    textArray(drafts.map((draft) => draft.sourceKey)),
    arrayLiteral(drafts.map((draft) => draft.kind)),
    arrayLiteral(drafts.map((draft) => draft.chatId)),
    textArray(drafts.map((draft) => draft.payload)),
  ]
  const identities = identityValues(batches)
  const statement = identities ? withIdentities : plain
  const stored = await despiteRace(() =>
    db.query<{ credential_id: number; first_id: number }>(statement, [
      ...values,
      ...(identities ?? []),
    ]),
  )
  return new Map(stored.map((row) => [row.credential_id, row.first_id]))
}

function identityValues(batches: readonly Batch[]): unknown[] | undefined {
  const chats = batches.flatMap(({ credentialId, chats }) =>
    chats.map((chat) => ({ credentialId, ...chat })),
  )
  const messages = batches.flatMap(({ credentialId, messages }) =>
    messages.map((message) => ({ credentialId, ...message })),
  )
  if (chats.length + messages.length === 0) return undefined
  return [
    arrayLiteral(chats.map((chat) => chat.credentialId)),
    textArray(chats.map((chat) => chat.native)),
    arrayLiteral(chats.map((chat) => chat.chatId)),
    arrayLiteral(messages.map((message) => message.credentialId)),
    textArray(messages.map((message) => message.native)),
    arrayLiteral(messages.map((message) => message.chatId)),
    arrayLiteral(messages.map((message) => message.messageId)),
    arrayLiteral(messages.map((message) => message.own)),
  ]
}
