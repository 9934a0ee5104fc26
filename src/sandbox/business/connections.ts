/** Business connections: a person lets an account read and write in their private chats, and the account gets the events there. */
import { randomBytes } from 'node:crypto'
import type { BusinessConnection, BusinessRight } from '../../../machines/model/business.ts'
import type { Message } from '../../../machines/model/content.ts'
import { failed, notFound } from '../../../machines/model/failure.ts'
import type {
  Operation,
  OperationKind,
  OperationResult,
} from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import { openPrivateChat } from '../chats/private-chat.ts'
import { personOf, privateChatWith } from '../delivery/mapping.ts'
import { notify } from '../delivery/notify.ts'
import type { BusinessLink, BusinessLinks, Call, NetworkContext } from '../network/context.ts'
import { type PersonRow, personJson } from '../network/rows.ts'

interface Row {
  readonly id: string
  readonly person: PersonRow
  readonly account: number
  readonly at: number
  readonly rights: readonly BusinessRight[]
  readonly isEnabled: boolean
}

const selecting = `
  select b.id, ${personJson('p')} as person, b.account_id as account, b.rights,
    b.is_enabled as "isEnabled", floor(extract(epoch from b.at))::bigint as at
  from sandbox_business b join sandbox_person p on p.id = b.person_id`

const connectionOf = ({ account: _, person, ...row }: Row): BusinessConnection => ({
  ...row,
  person: personOf(person),
})

/** The enabled connections of all people: read once, then kept up to date by what changes them here. */
export class BusinessConnections implements BusinessLinks {
  readonly #db: Queryable
  #known: Promise<Map<number, readonly BusinessLink[]>> | undefined

  constructor(db: Queryable) {
    this.#db = db
  }

  async of(people: readonly number[]): Promise<readonly BusinessLink[]> {
    this.#known ??= this.#read()
    const known = await this.#known.catch((cause) => {
      this.#known = undefined
      throw cause
    })
    return known.size === 0 ? [] : people.flatMap((person) => known.get(person) ?? [])
  }

  changed(): void {
    this.#known = undefined
  }

  async #read() {
    const rows = await this.#db.query<BusinessLink>(
      'select id, person_id as person, account_id as account from sandbox_business where is_enabled',
    )
    return Map.groupBy(rows, ({ person }) => person)
  }
}

/** Connects, or changes the rights of a connection. The account is notified. */
export async function connectBusiness(
  context: NetworkContext,
  person: number,
  account: number,
  rights: readonly BusinessRight[],
): Promise<BusinessConnection> {
  if (person === account) throw failed('bad_request', 'an account cannot act for itself')
  return change(context, person, account, (tx) =>
    tx.query(
      `insert into sandbox_business (id, person_id, account_id, at, rights, is_enabled)
       values ($1, $2, $3, to_timestamp($4), $5, true)
       on conflict (person_id, account_id) do update
       set rights = excluded.rights, is_enabled = true`,
      [randomBytes(12).toString('base64url'), person, account, context.now() / 1000, [...rights]],
    ),
  )
}

export function disconnectBusiness(
  context: NetworkContext,
  person: number,
  account: number,
): Promise<BusinessConnection> {
  return change(context, person, account, (tx) =>
    tx.query(
      `update sandbox_business set is_enabled = false, rights = '{}'
       where person_id = $1 and account_id = $2`,
      [person, account],
    ),
  )
}

async function change(
  context: NetworkContext,
  person: number,
  account: number,
  store: (tx: Queryable) => Promise<unknown>,
): Promise<BusinessConnection> {
  const woken: number[] = []
  const connection = await context.db.transaction(async (tx) => {
    await openPrivateChat(tx, person, account)
    await store(tx)
    const [row] = await tx.query<Row & { readonly chat: number }>(
      `${selecting} where b.person_id = $1 and b.account_id = $2`,
      [person, account],
    )
    if (!row) throw failed('not_found', '')
    const changed = connectionOf(row)
    const event = {
      kind: 'business_connection' as const,
      chat: await privateChatOf(tx, person, account),
      actor: person,
      facts: { connection: changed },
    }
    await notify({ db: tx, wake: (people) => woken.push(...people) }, event, { people: [account] })
    return changed
  })
  context.business.changed()
  context.wake(woken)
  return connection
}

/** The id of the row of their chat, which is open. */
async function privateChatOf(db: Queryable, one: number, other: number): Promise<number> {
  const [chat] = await db.query<{ id: number }>(
    `select id from sandbox_chat
     where low_id = least($1::bigint, $2::bigint) and high_id = greatest($1::bigint, $2::bigint)`,
    [one, other],
  )
  if (!chat) throw notFound('chat')
  return chat.id
}

/** Rejects where this account has no such connection. */
export async function connectionFor(
  db: Queryable,
  account: number,
  id: string,
): Promise<BusinessConnection> {
  const [row] = await db.query<Row>(`${selecting} where b.id = $1 and b.account_id = $2`, [
    id,
    account,
  ])
  if (!row) throw notFound('business connection')
  return connectionOf(row)
}

/** The connections of a person, for their settings. */
export async function connectionsOf(db: Queryable, person: number) {
  const rows = await db.query<Row>(`${selecting} where b.person_id = $1 order by b.at`, [person])
  return rows.map((row) => ({ account: row.account, connection: connectionOf(row) }))
}

const WRITING: readonly OperationKind[] = ['send', 'send_album', 'forward', 'copy']
const EDITING: readonly OperationKind[] = ['edit', 'edit_caption', 'edit_buttons', 'edit_location']

const TOLD: ReadonlySet<OperationKind> = new Set([...WRITING, ...EDITING, 'delete'])

/** The account that acted itself, and one that has the chat of its own, learn nothing here. */
export async function reportToBusiness(
  call: Call,
  operation: Operation,
  result: OperationResult,
): Promise<void> {
  if (!TOLD.has(operation.kind) || !('chat' in operation) || operation.chat === undefined) return
  const [sender, other] = [call.by.person, Number(operation.chat)]
  if (!(other > 0)) return
  const links = await call.context.business.of([sender, other])
  for (const link of links) {
    const peer = link.person === sender ? other : sender
    const isOwn = call.business?.connection === link.id
    if (!isOwn && link.account !== peer) await report(call, link, peer, operation, result)
  }
}

async function report(
  { context: { db, wake }, by }: Call,
  { id: connection, person, account }: BusinessLink,
  peer: number,
  operation: Operation,
  result: OperationResult,
): Promise<void> {
  const [row] = await db.query<{ peer: PersonRow }>(
    `select ${personJson('p')} as peer from sandbox_person p where p.id = $1`,
    [peer],
  )
  if (!row) return
  const place = privateChatWith(row.peer)
  const event = { chat: await privateChatOf(db, person, peer), actor: by.person }
  const to = { people: [account] }
  if (operation.kind === 'delete') {
    const facts = { connection, place, messages: [String(operation.message)] }
    return notify({ db, wake }, { ...event, kind: 'business_deleted', facts }, to)
  }
  const kind = EDITING.includes(operation.kind) ? 'business_edited' : 'business_message'
  for (const message of messagesOf(result)) {
    const { replyTo, ...seen } = message
    const letter: Message = {
      ...seen,
      chat: place,
      ...(replyTo && { replyTo: { native: replyTo.native } }),
    }
    await notify({ db, wake }, { ...event, kind, facts: { connection, letter } }, to)
  }
}

function messagesOf(result: OperationResult): readonly Message[] {
  if (result.kind === 'messages') return result.messages
  return result.kind === 'message' ? [result.message] : []
}
