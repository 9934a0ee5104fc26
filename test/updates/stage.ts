/** Credentials with their logs on a real database, as a node opens them, and what happens on their network. */

import type { Test } from 'tap'
import type { ReadUpdates } from '../../actors/ports/ports.ts'
import type { Happening } from '../../machines/model/happening.ts'
import { DEFAULT_KINDS, type Filter } from '../../machines/model/update-kinds.ts'
import type { Database } from '../../src/database/database.ts'
import { Translator } from '../../src/translation/translator.ts'
import type { Bounds } from '../../src/updates/held.ts'
import { PostgresUpdateLog } from '../../src/updates/log.ts'
import { testDatabase } from '../support/database.ts'
import { testFileIds } from '../support/file-ids.ts'

export const FIRST = 5_000_001

export interface Node {
  readonly updates: PostgresUpdateLog
  /** Updates of each commit that stored any or none. */
  readonly commits: number[]
  /** What it tells of new updates: the account, and how many. */
  readonly received: [credentialId: number, updates: number][]
  append(credentialId: number, happenings: readonly Happening[], more?: AppendMore): Promise<number>
  /** Everything after `after`, by update id. */
  read(credentialId: number, after: number, more?: ReadMore): Promise<Read>
}

interface AppendMore {
  readonly epoch?: number
  readonly checkpoint?: number
  readonly apiKeyId?: number
}

interface ReadMore {
  readonly apiKeyId?: number
  readonly filter?: Filter
  readonly limit?: number
  readonly keepNewest?: number
}

export interface Read extends ReadUpdates {
  readonly ids: number[]
  readonly texts: string[]
}

export interface Stage {
  readonly db: Database
  readonly url: string
  /** Opens a log of its own over the same tables, as a restarted service does. */
  node(credentialIds: readonly number[], db?: Database, bounds?: Bounds): Promise<Node>
  credential(first?: number): Promise<number>
  key(credentialId: number, cursor?: number, filter?: Filter): Promise<number>
  epoch(credentialId: number, epoch: number): Promise<void>
  /** Source keys in the order of their ids, which have to be contiguous from the first on. */
  stored(credentialId: number): Promise<string[]>
}

export async function stage(t: Pick<Test, 'teardown'>): Promise<Stage> {
  const { database: db, url } = await testDatabase(t)
  let accounts = 0
  return {
    db,
    url,
    node: (credentialIds, nodeDb = db, bounds?: Bounds) => openNode(nodeDb, credentialIds, bounds),
    async credential(first = FIRST) {
      const [row] = await db.query<{ id: number }>(
        `with owner as (
           insert into app_user (phone_index, phone_sealed) values ($1, '') returning id
         ), linked as (
           insert into credential (user_id, platform, native_id, account)
           select id, 'test', $2, '{}' from owner returning id
         )
         insert into credential_log (credential_id, next_update_id)
         select id, $3 from linked returning credential_id as id`,
        [Buffer.from(`${++accounts}`), `${accounts}`, first],
      )
      return row?.id ?? 0
    },
    async key(credentialId, cursor = FIRST - 1, filter = []) {
      const [row] = await db.query<{ id: number }>(
        `insert into api_key (user_id, credential_id, name, scopes, secret_hash, key_hint, cursor, filter)
         select user_id, id, 'test', '{bot:receive}', '', '', $2, $3 from credential where id = $1
         returning id`,
        [credentialId, cursor, JSON.stringify(filter)],
      )
      return row?.id ?? 0
    },
    async epoch(credentialId, epoch) {
      await db.query(
        `with moved as (
           update credential_log set epoch = $2 where credential_id = $1 returning epoch)
         update credential c set epoch = moved.epoch from moved where c.id = $1`,
        [credentialId, epoch],
      )
    },
    async stored(credentialId) {
      const rows = await db.query<{ update_id: number; source_key: string }>(
        'select update_id, source_key from update_log where credential_id = $1 order by update_id',
        [credentialId],
      )
      const from = rows[0]?.update_id ?? 0
      const gap = rows.find(({ update_id }, index) => update_id !== from + index)
      if (gap) throw new Error(`ids are not contiguous at ${gap.update_id}`)
      return rows.map(({ source_key }) => source_key)
    },
  }
}

async function openNode(
  db: Database,
  credentialIds: readonly number[],
  bounds?: Bounds,
): Promise<Node> {
  const commits: number[] = []
  const received: [number, number][] = []
  const observer = {
    committed: (updates: number) => commits.push(updates),
    received: (credentialId: number, count: number) => received.push([credentialId, count]),
  }
  const translator = new Translator(db, testFileIds, () => 'mapped')
  const updates = new PostgresUpdateLog(db, translator, observer, bounds)
  for (const credentialId of credentialIds) await updates.open(credentialId)
  return {
    updates,
    commits,
    received,
    /** Resolves with how many were stored, -1 when fenced. */
    async append(credentialId, happenings, { epoch = 0, ...more } = {}) {
      const appended = await updates.append({ credentialId, epoch, happenings, ...more })
      return appended.stored ? appended.count : -1
    },
    async read(credentialId, after, { apiKeyId = 0, filter = [], limit = 100, keepNewest } = {}) {
      const poll = { requestId: 'r', askedAt: 0, after, keepNewest, limit, timeoutMs: 0, filter }
      const read = await updates.read(credentialId, apiKeyId, poll)
      const page = JSON.parse(read.json) as Update[]
      return {
        ...read,
        ids: page.map(({ update_id }) => update_id),
        texts: page.map((update) => (update.message ?? update.edited_message)?.text ?? ''),
      }
    },
  }
}

interface Update {
  readonly update_id: number
  readonly message?: { readonly text: string }
  readonly edited_message?: { readonly text: string }
}

interface Written {
  readonly chat?: string
  readonly kind?: 'message' | 'edited'
  readonly text?: string
  readonly native?: string
}

/** Somebody wrote something: the source key is also its text, unless another is given. */
export function written(sourceKey: string, { chat = 'ada', ...more }: Written = {}): Happening {
  const { kind = 'message', text = sourceKey, native = sourceKey } = more
  const person = { native: chat, firstName: chat }
  const message = {
    native,
    chat: { ...person, surface: 'private' as const },
    from: person,
    at: 1_700_000_000,
    content: { kind: 'text' as const, text, entities: [] },
  }
  return { kind, sourceKey, direction: 'incoming', at: message.at, message }
}

export const many = (count: number, prefix: string, more?: Written): Happening[] =>
  Array.from({ length: count }, (_, index) => written(`${prefix}${index}`, more))

export const onlyEdits: Filter = [{ from: 0, kinds: 2 }]
export const everything: Filter = [{ from: 0, kinds: DEFAULT_KINDS }]
