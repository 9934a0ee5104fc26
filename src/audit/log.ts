/** Writes the audit log: what is noted belongs to the author under way, and is stored with the change or not at all. */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Queryable, Records } from '../database/database.ts'
import { AuditEntry } from '../database/entities.ts'
import type { Action } from './actions.ts'

/**
 * How the author was known: by a sign-in, a token, a page for the owner of an account, a code, or as who runs commands;
 * `service` where there is none, and it tells of what it could not do.
 */
export type Via = 'sign_in' | 'token' | 'page' | 'code' | 'command' | 'service'

/** Who changes something now, from where, and what. */
export interface Author {
  readonly via: Via
  readonly action: Action
  /** Whose records change; undefined: those of the service. */
  readonly userId?: number | undefined
  readonly authorId?: number | undefined
  readonly sessionId?: number | undefined
  readonly tokenId?: number | undefined
  readonly ip?: string | undefined
  readonly requestId?: string | undefined
  /** What a request names, where nothing says more. */
  readonly details?: Details
  /** It was noted. */
  isNoted?: boolean
  /** The request was carried out: what actors do later, by timers and connections that it began, is not the author's. */
  isOver?: boolean
}

/** What a change was about: values before and after it, without secrets. */
export interface Details {
  readonly target?: readonly [kind: string, id: number | string]
  readonly before?: Readonly<Record<string, unknown>>
  readonly after?: Readonly<Record<string, unknown>>
  /** Whose records change, where the author is known only by the change. */
  readonly userId?: number
  /** Where the request changes something else along with what it is named by. */
  readonly action?: Action
}

const authors = new AsyncLocalStorage<Author>()

/** What `work` changes is changed by this author. */
export const changedBy = <Result>(author: Author, work: () => Result): Result =>
  authors.run(author, work)

/** Undefined for what the service does by itself. */
function authorNow(): Author | undefined {
  const author = authors.getStore()
  return author?.isOver ? undefined : author
}

/** The same, also once the request is over: for the end of something that it began, whoever waits for it. */
export const authorBefore = (): Author | undefined => authors.getStore()

function rowOf(author: Author, details: Details) {
  const all = { ...author.details, ...details }
  const { target, before, after, userId = author.userId, action = author.action } = all
  return {
    userId: userId ?? null,
    action,
    via: author.via,
    authorId: author.authorId ?? null,
    sessionId: author.sessionId ?? null,
    tokenId: author.tokenId ?? null,
    ip: author.ip ?? null,
    requestId: author.requestId ?? null,
    target: target?.[0] ?? null,
    targetId: target === undefined ? null : `${target[1]}`,
    before: before ?? null,
    after: after ?? null,
  }
}

const insert = `
  insert into audit_log (user_id, action, via, author_id, session_id, token_id, ip, request_id,
                         target, target_id, before, after)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`

/** Within the transaction of the change. What the service changes by itself has no author, and is not noted. */
export async function noteChange(
  tx: Queryable,
  details: Details = {},
  author = authorNow(),
): Promise<void> {
  if (!author) return
  const { before, after, ...row } = rowOf(author, details)
  await tx.query(insert, [
    ...Object.values(row),
    before && JSON.stringify(before),
    after && JSON.stringify(after),
  ])
  author.isNoted = true
}

/** The same by an entity manager, within its transaction. */
export async function noteIn(em: Records, details: Details = {}): Promise<void> {
  const author = authorNow()
  if (!author) return
  await em.insert(AuditEntry, rowOf(author, details))
  author.isNoted = true
}
