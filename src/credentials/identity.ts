/** Names of linked accounts, sealed at rest with a key of their user, so that one key opens a whole list; and their secrets. */

import { createHmac } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import type { AccountIdentity } from '../../actors/ports/platform.ts'
import type { Json } from '../../machines/model/protocol.ts'
import type { Database } from '../database/database.ts'
import { maskAddresses } from '../security/redact.ts'
import type { Vault } from '../security/vault.ts'

/** The columns of `credential` that hold it. */
export interface IdentityRow {
  readonly id: number
  /** An older version wrote it unsealed and may still write during an upgrade, so it takes precedence. */
  readonly account: AccountIdentity | null
  readonly account_sealed: Buffer | null
}

export const identityColumns = 'id, account, account_sealed'

const placeOf = (credentialId: number) => ({
  table: 'credential',
  column: 'account',
  row: credentialId,
})

export const sealIdentity = (
  vault: Pick<Vault, 'seal'>,
  userId: number,
  credentialId: number,
  identity: AccountIdentity,
): Promise<Buffer> =>
  vault.seal(`user:${userId}`, placeOf(credentialId), Buffer.from(JSON.stringify(identity)))

/** Undefined once it was wiped. */
export async function openIdentity(
  vault: Pick<Vault, 'open'>,
  { id, account, account_sealed: sealed }: IdentityRow,
): Promise<AccountIdentity | undefined> {
  if (account !== null) return account
  if (sealed === null) return undefined
  return JSON.parse((await vault.open(placeOf(id), sealed)).toString()) as AccountIdentity
}

/** The place of the secrets in the database, to which their ciphertext is bound. */
export const secretsOf = (credentialId: number) => ({
  table: 'credential',
  column: 'secrets',
  row: `${credentialId}`,
})

export const sealSecrets = (
  vault: Pick<Vault, 'seal'>,
  credentialId: number,
  secrets: Json,
): Promise<Buffer> =>
  vault.seal(
    `credential:${credentialId}`,
    secretsOf(credentialId),
    Buffer.from(JSON.stringify(secrets)),
  )

/** A keyed hash that finds an account when it is linked again, without naming it. */
export function nativeIndex(vault: Pick<Vault, 'derive'>, native: string): string {
  return createHmac('sha256', vault.derive('account-index')).update(native).digest('base64url')
}

const AT_ONCE = 500
const unsealed = `
  select id, user_id, native_id, account from credential
  where account is not null and id > $1 order by id limit ${AT_ONCE}`
const replace = `
  update credential c set account = null, account_sealed = fresh.sealed, native_id = fresh.native
    from unnest($1::bigint[], $2::bytea[], $3::text[]) as fresh (id, sealed, native)
   where c.id = fresh.id and c.account is not null`

interface Unsealed {
  readonly id: number
  readonly user_id: number
  readonly native_id: string
  readonly account: AccountIdentity
}

/** Seals names that older versions stored unencrypted; resolves with their number. It may be interrupted at any time. */
export async function sealIdentities(db: Database, vault: Vault): Promise<number> {
  let count = 0
  let after = 0
  for (;;) {
    const rows = await db.query<Unsealed>(unsealed, [after])
    if (rows.length === 0) return count
    const sealed: Buffer[] = []
    for (const { id, user_id, account } of rows) {
      sealed.push(await sealIdentity(vault, user_id, id, account))
    }
    const natives = rows.map(({ native_id }) => nativeIndex(vault, native_id))
    await db.query(replace, [rows.map(({ id }) => id), sealed, natives])
    count += rows.length
    after = rows.at(-1)?.id ?? after
  }
}

/** Some 300 bytes each. */
const MOST = 50_000
const LIVES_MS = 600_000

interface Opened {
  /** A copy: the bytes of a row hold all that came from the database with it, up to 64 KB. */
  readonly sealed: string
  readonly identity: AccountIdentity
}

/** Opened identities, kept for a while: lists are searched and sorted by what is sealed at rest. */
export class OpenedIdentities {
  readonly #vault: Pick<Vault, 'open'>
  readonly #opened = new LRUCache<number, Opened>({
    maxSize: MOST,
    sizeCalculation: () => 1,
    ttl: LIVES_MS,
  })

  constructor(vault: Pick<Vault, 'open'>) {
    this.#vault = vault
  }

  /** Undefined once it was wiped. An identity that was sealed again is opened again. */
  async of(row: IdentityRow): Promise<AccountIdentity | undefined> {
    const { id, account, account_sealed: sealed } = row
    if (account !== null || sealed === null) {
      this.#opened.delete(id)
      return openIdentity(this.#vault, row)
    }
    const known = this.#opened.get(id)
    const copy = sealed.toString('latin1')
    if (known?.sealed === copy) return known.identity
    const identity = await openIdentity(this.#vault, row)
    if (identity) this.#opened.set(id, { sealed: copy, identity })
    return identity
  }
}

/** A name as lists are searched and sorted by it. */
interface AccountName {
  readonly id: number
  /** The beginning of first and last, in small letters: the cursors of a list sorted by names carry it. */
  readonly name: string
  /** Name, username with its sign, and phone, folded, a line each. */
  readonly folded: string
}

/** Small Latin letters without accents and Latin digits: "zoe" finds Zoë, and ۲۷ finds 27. */
export const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .replace(/[۰-۹٠-٩]/g, (digit) => `${digit.charCodeAt(0) & 15}`)
    .toLowerCase()

/** Accounts whose names differ only behind it are sorted by their ids. */
const SORTED_CHARACTERS = 100

const collator = new Intl.Collator('und')

export const byName = (one: AccountName, other: AccountName): number =>
  collator.compare(one.name, other.name) || one.id - other.id

/**
 * The largest number of names in memory for all users together, about 300 bytes each. For a user with more names, each
 * search opens them again.
 */
const NAMES = 300_000
const READ_AT_ONCE = 2_000
/** How many names are opened, compared or searched before other work gets a turn. */
const OPENED_AT_ONCE = 200
const COMPARED_AT_ONCE = 2_000
const SEARCHED_AT_ONCE = 10_000

type Open = (row: IdentityRow) => Promise<AccountIdentity | undefined>

/** The opened names of users that search their lists. PostgreSQL cannot index sealed names. */
export class AccountNames {
  readonly #db: Database
  readonly #open: Open
  readonly #lists = new LRUCache<number, NameList>({
    maxSize: NAMES,
    ttl: LIVES_MS,
    updateAgeOnGet: true,
  })

  constructor(db: Database, open: Open) {
    this.#db = db
    this.#open = open
  }

  /** All that was committed before the call is in it. */
  async of(userId: number): Promise<NameList> {
    const list = this.#lists.get(userId) ?? new NameList(this.#db, userId, this.#open)
    this.#lists.set(userId, list, { size: Math.max(1, list.size) })
    await list.refresh()
    this.#lists.set(userId, list, { size: Math.max(1, list.size) })
    return list
  }
}

/** Names of one user's accounts, also of those that are being deleted. */
class NameList {
  readonly #db: Database
  readonly #userId: number
  readonly #open: Open
  readonly #names = new Map<number, AccountName>()
  #sorted: readonly AccountName[] = []
  readonly #unsorted = new Set<number>()
  /** Transactions before it are read. */
  #since: string | undefined
  #turn: Promise<unknown> = Promise.resolve()

  constructor(db: Database, userId: number, open: Open) {
    this.#db = db
    this.#userId = userId
    this.#open = open
  }

  get size(): number {
    return this.#names.size
  }

  refresh(): Promise<void> {
    return this.#sequentially(() => this.#read())
  }

  /** The ids of accounts in whose texts the words are, or that have this id, in no order. `isMasked`: in what staff sees. */
  async find(search: string, isMasked = false): Promise<number[]> {
    const found = await matching([...this.#names.values()], search, isMasked)
    return found.map(({ id }) => id)
  }

  /** Sorted by name; with a search, only the accounts that `find` finds. */
  async sorted(search: string | undefined): Promise<readonly AccountName[]> {
    const all = await this.#sequentially(() => this.#sort())
    return search === undefined ? all : matching(all, search)
  }

  #sequentially<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => undefined)
    return done
  }

  async #read(): Promise<void> {
    const [snapshot] = await this.#db.query<{ oldest: string; next: string }>(
      `select pg_snapshot_xmin(pg_current_snapshot())::text as oldest,
         pg_snapshot_xmax(pg_current_snapshot())::text as next`,
    )
    if (!snapshot) return
    // Rows from a backup may have numbers that this server reaches in years: they are read once.
    const until = this.#since === undefined ? null : snapshot.next
    for (let [at, id] = [this.#since ?? '0', 0]; ; ) {
      const rows = await this.#db.query<IdentityRow & { at: string }>(
        `select ${identityColumns}, identity_at::text as at from credential
          where user_id = $1 and (identity_at, id) > ($2::xid8, $3)
            and ($4::xid8 is null or identity_at < $4)
          order by identity_at, id limit ${READ_AT_ONCE}`,
        [this.#userId, at, id, until],
      )
      for (const [index, row] of rows.entries()) {
        if (index % OPENED_AT_ONCE === OPENED_AT_ONCE - 1) await setImmediate()
        await this.#take(row)
      }
      const last = rows.at(-1)
      if (!last || rows.length < READ_AT_ONCE) break
      ;({ at, id } = last)
    }
    this.#since = snapshot.oldest
  }

  async #take(row: IdentityRow): Promise<void> {
    const identity = await this.#open(row)
    this.#unsorted.add(row.id)
    if (!identity) {
      this.#names.delete(row.id)
      return
    }
    const { firstName, lastName = '', username = '', phone = '' } = identity
    const name = (lastName === '' ? firstName : `${firstName} ${lastName}`).toLowerCase()
    // As lists show it, and as people paste it.
    const handle = username === '' ? '' : `@${username}`
    const texts = [name, handle, phone].map(folded).join('\n')
    this.#names.set(row.id, {
      id: row.id,
      name: name.slice(0, SORTED_CHARACTERS),
      folded: texts,
    })
  }

  /** Merges changed names into the sorted list, so that a change does not sort the whole list again. */
  async #sort(): Promise<readonly AccountName[]> {
    if (this.#unsorted.size === 0) return this.#sorted
    const changed = [...this.#unsorted].flatMap((id) => this.#names.get(id) ?? [])
    const kept = this.#sorted.filter(({ id }) => !this.#unsorted.has(id))
    this.#unsorted.clear()
    this.#sorted = await merged(kept, await sortedInSteps(changed))
    return this.#sorted
  }
}

const ADDRESS = /\S@/

/** Name and username as they are shown while addresses are masked: no search tells the rest letter by letter. */
function shownToStaff({ folded }: AccountName): string {
  const shown = folded.slice(0, folded.lastIndexOf('\n'))
  if (!ADDRESS.test(shown)) return shown
  const end = shown.lastIndexOf('\n')
  const handle = shown.slice(end + 1)
  // An account without a name is named by it.
  const local = /^@([^@]+)@/.exec(handle)?.[1]
  return maskAddresses(shown.slice(0, end) === local ? handle : shown)
}

async function matching(
  names: readonly AccountName[],
  search: string,
  isMasked = false,
): Promise<AccountName[]> {
  const words = folded(search)
  const id = Number(/^#?(\d+)$/.exec(words)?.[1])
  const found: AccountName[] = []
  for (let at = 0; at < names.length; at += SEARCHED_AT_ONCE) {
    if (at > 0) await setImmediate()
    for (const one of names.slice(at, at + SEARCHED_AT_ONCE)) {
      const text = isMasked ? shownToStaff(one) : one.folded
      if (one.id === id || text.includes(words)) found.push(one)
    }
  }
  return found
}

async function sortedInSteps(names: readonly AccountName[]): Promise<readonly AccountName[]> {
  let runs: (readonly AccountName[])[] = []
  for (let at = 0; at < names.length; at += OPENED_AT_ONCE) {
    runs.push(names.slice(at, at + OPENED_AT_ONCE).sort(byName))
    await setImmediate()
  }
  while (runs.length > 1) {
    const longer: (readonly AccountName[])[] = []
    for (let at = 0; at < runs.length; at += 2) {
      longer.push(await merged(runs[at] ?? [], runs[at + 1] ?? []))
    }
    runs = longer
  }
  return runs[0] ?? []
}

async function merged(
  one: readonly AccountName[],
  other: readonly AccountName[],
): Promise<readonly AccountName[]> {
  if (other.length === 0) return one
  const all: AccountName[] = []
  for (let [at, beside] = [0, 0]; at < one.length || beside < other.length; ) {
    const [left, right] = [one[at], other[beside]]
    const next = left && (!right || byName(left, right) <= 0) ? left : right
    if (!next) break
    if (next === left) at++
    else beside++
    if (all.push(next) % COMPARED_AT_ONCE === 0) await setImmediate()
  }
  return all
}
