/** Which node owns what a request concerns. The table is the truth; what is remembered of it is a guess that the owner corrects. */
import type { IncomingMessage } from 'node:http'
import { LRUCache } from 'lru-cache'
import type { Queryable } from '../database/database.ts'
import { readTwice } from '../database/failures.ts'
import { type SharedStatements, sharedLookup } from '../database/write-behind.ts'
import { hashSecret } from '../security/secrets.ts'

/** The key, account or link flow that a request concerns, from its path or its body. */
export type RequestTarget =
  | { readonly kind: 'key'; readonly id: number }
  | { readonly kind: 'credential'; readonly id: number }
  | { readonly kind: 'link'; readonly id: string }
  /** By the hash of its token, in hexadecimal digits. */
  | { readonly kind: 'page'; readonly id: string }

/** The paths of a bot's calls and files, and of the management of its key. The token may be percent-encoded. */
const OF_KEY = /^\/(?:file\/)?(?:bot|api_keys\/)(\d{1,15})(?=[:/?]|%3a|$)/i
const OF_CREDENTIAL = /^\/platforms\/credentials\/(\d{1,15})(?=[/?]|$)/
const OF_LINK = /^\/platforms\/[^/?]{1,64}\/link\/([\w-]{22})(?=[/?]|$)/
const OF_PAGE = /^\/link-pages\/([\w-]{1,100})(?=[/?]|$)/

const POLL = /^\/bot[^/?]+\/getupdates(?:[?]|$)/i

/** Whether it may be held until there are updates. */
export const isPoll = (url: string): boolean => POLL.test(url)

/** Letters, digits and the like, of which an escape says nothing else than they do (RFC 3986). */
const ESCAPED = /%(3\d|[46][1-9a-f]|[57][\da]|2d|2e|5f|7e)/gi

/**
 * The address as the router reads it: it takes an escaped letter for the letter, and ends a path at a number sign, too.
 * One that it refuses stays as it is, since without the escapes around a broken one it could name something.
 */
export function plainUrl(url: string): string {
  if (!/[%#]/.test(url)) return url
  const end = url.search(/[?#]/)
  const path = end === -1 ? url : url.slice(0, end)
  if (!isReadable(path)) return url
  const plain = path.replace(ESCAPED, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return end === -1 ? plain : `${plain}?${url.slice(end + 1)}`
}

function isReadable(path: string): boolean {
  try {
    decodeURI(path)
    return true
  } catch {
    return false
  }
}

/** Undefined for what every node answers by itself. */
export function targetOf(url: string): RequestTarget | undefined {
  const key = OF_KEY.exec(url)?.[1]
  if (key) return { kind: 'key', id: Number(key) }
  const credential = OF_CREDENTIAL.exec(url)?.[1]
  if (credential) return { kind: 'credential', id: Number(credential) }
  const link = OF_LINK.exec(url)?.[1]
  if (link) return { kind: 'link', id: link }
  const page = OF_PAGE.exec(url)?.[1]
  return page ? { kind: 'page', id: hashSecret(page).toString('hex') } : undefined
}

/** Requests that name in a body of JSON what they concern. */
const OF_BODY = /^POST (?:\/api_keys|\/platforms\/[^/?]{1,64}\/link\/(?:start|verify))(?:[?]|$)/

export const isNamedInBody = (method: string, url: string): boolean =>
  OF_BODY.test(`${method} ${url}`)

/** Undefined also for a body that is none: the route refuses it. */
export function targetIn(body: Buffer): RequestTarget | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(body.toString())
  } catch {
    return undefined
  }
  const { session_id, credential_id } = Object(parsed) as Record<string, unknown>
  if (typeof session_id === 'string') return { kind: 'link', id: session_id }
  if (Number.isSafeInteger(credential_id)) return { kind: 'credential', id: Number(credential_id) }
  return undefined
}

/** The owner of an account or a flow. */
export interface OwnerRecord {
  /** Absent for a flow of linking. */
  readonly credentialId: number | undefined
  /** The flow of linking. */
  readonly sessionId?: string | null
  /** The incarnation of its node; null if it has no owner. */
  readonly owner: number | null
}

interface NumberedOwner extends OwnerRecord {
  readonly id: number
}

/** Of many keys or accounts at once: every request that waits for an owner asks ten times a second. */
const manyStatements = {
  key: `select k.id, k.credential_id as "credentialId", l.owner
          from api_key k join credential_log l on l.credential_id = k.credential_id
          join credential c on c.id = k.credential_id
         where k.id = any($1::bigint[]) and k.revoked_at is null and c.deactivated_at is null`,
  credential: `select l.credential_id as id, l.credential_id as "credentialId", l.owner
                 from credential_log l join credential c on c.id = l.credential_id
                where l.credential_id = any($1::bigint[]) and c.deactivated_at is null`,
}

const statements = {
  link: 'select id as "sessionId", node as owner from link_session where id = $1',
  // A page for linking again has no flow before it is opened: that begins where the account is.
  page: `select s.id as "sessionId", s.node as owner
           from link_page p join link_session s on s.id = p.session_id
          where p.hash = decode($1, 'hex')
         union all
         select s.id, case when s.id is null then l.owner else s.node end from relink_page p
           left join link_session s on s.id = p.session_id
           left join credential_log l on l.credential_id = p.credential_id
          where p.hash = decode($1, 'hex')`,
}

const MOST = 200_000
const AT_ONCE = 500

export class Owners {
  readonly #db: Queryable
  readonly #accountOf: ((apiKeyId: number) => number | undefined) | undefined
  readonly #numbered: Readonly<
    Record<keyof typeof manyStatements, SharedStatements<number, NumberedOwner | undefined>>
  >
  /** A key stays with its credential for ever. */
  readonly #credentials = new LRUCache<number, number>({ maxSize: MOST, sizeCalculation: () => 1 })
  readonly #places = new LRUCache<number | string, OwnerRecord>({
    maxSize: MOST,
    sizeCalculation: () => 1,
  })

  /** `accountOf`: that of a key which lives here, so that its calls need no look while the database is away. */
  constructor(db: Queryable, accountOf?: (apiKeyId: number) => number | undefined) {
    this.#db = db
    this.#accountOf = accountOf
    const lookup = (kind: keyof typeof manyStatements) =>
      sharedLookup(
        AT_ONCE,
        (ids: readonly number[]) =>
          readTwice(() =>
            db.query<NumberedOwner>({ name: `owner-${kind}`, text: manyStatements[kind] }, [ids]),
          ),
        ({ id }) => id,
      )
    this.#numbered = { key: lookup('key'), credential: lookup('credential') }
  }

  /** The credential of a key that was looked up before, or lives here. */
  credentialOf({ kind, id }: RequestTarget): number | undefined {
    if (kind === 'credential') return id
    return kind === 'key' ? (this.#credentials.get(id) ?? this.#accountOf?.(id)) : undefined
  }

  /** The remembered owner, or else that in the table. Undefined if the account or flow has ended or does not exist. */
  async find(target: RequestTarget): Promise<OwnerRecord | undefined> {
    const credentialId = this.credentialOf(target)
    const known = this.#places.get(credentialId ?? target.id)
    const isOfKey = target.kind === 'key' && credentialId === undefined
    return (!isOfKey && known) || this.look(target)
  }

  forget(credentialId: number): void {
    this.#places.delete(credentialId)
  }

  /** The present owner in the table. */
  async look(target: RequestTarget): Promise<OwnerRecord | undefined> {
    const place = await this.#read(target)
    if (!place) return undefined
    const { credentialId } = place
    if (target.kind === 'key' && credentialId) this.#credentials.set(target.id, credentialId)
    this.#places.set(credentialId ?? target.id, place)
    return place
  }

  async #read(target: RequestTarget): Promise<OwnerRecord | undefined> {
    if (target.kind === 'key' || target.kind === 'credential') {
      return this.#numbered[target.kind].run(target.id)
    }
    const { kind, id } = target
    const named = { name: `owner-${kind}`, text: statements[kind] }
    const [place] = await readTwice(() => this.#db.query<OwnerRecord>(named, [id]))
    return place
  }
}

const FORWARD_AGAIN = Symbol('forward again')

/** It stands in the request, as what `peers.ts` notes. */
interface Noted extends IncomingMessage {
  [FORWARD_AGAIN]?: () => boolean
}

/** `forward` looks for the next owner of a request that is served here; false where the request cannot be repeated. */
export function onOwnerLost(request: IncomingMessage, forward: () => boolean): void {
  ;(request as Noted)[FORWARD_AGAIN] = forward
}

/**
 * This node has lost the account before anything was done for the request of a client. Returns whether the next owner
 * answers it.
 */
export const ownerLost = (request: IncomingMessage): boolean =>
  (request as Noted)[FORWARD_AGAIN]?.() ?? false
