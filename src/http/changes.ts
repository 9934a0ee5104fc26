/** Notes every change of the management API in the audit log: who asked, from where, and for what. */
import type {
  FastifyInstance,
  FastifyRequest,
  onSendAsyncHookHandler,
  preHandlerHookHandler,
  RouteHandlerMethod,
} from 'fastify'
import { RequestFailed, readBack } from '../../machines/model/failure.ts'
import { type Action, actionOf } from '../audit/actions.ts'
import { type Author, changedBy, type Details, noteChange, type Via } from '../audit/log.ts'
import type { Queryable } from '../database/database.ts'
import { callerOf } from './on-behalf.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The change that is under way, in routes that change something. */
    change: Change | undefined
  }
}

type Change = { -readonly [Key in keyof Author]: Author[Key] } & {
  readonly db: Queryable
  /** What the request asked for changed nothing. */
  isNone?: boolean
}

/** By the first parameter of a path. */
const TARGETS: Readonly<Record<string, string>> = {
  key: 'key',
  webhook: 'key',
  account: 'account',
  bulk: 'bulk_action',
  link: 'link',
  token: 'token',
  session: 'session',
  view: 'view',
  alert: 'alert',
  node: 'node',
}

/** What the path names: the token of a page is a secret. */
function targetOf({ params }: FastifyRequest, action: Action): Details['target'] {
  const { id, credential_id, session_id, incarnation } = params as Record<string, string | number>
  const named = id ?? credential_id ?? session_id ?? incarnation
  const kind = TARGETS[action.slice(0, action.indexOf('.'))]
  return named === undefined || kind === undefined ? undefined : [kind, `${named}`]
}

/** An order to a node changes nothing of its author, but the service. */
const isOfService = (action: Action) => action.startsWith('node.')

function changeOf(request: FastifyRequest, action: Action, db: Queryable): Change {
  const { user, id, audit } = request
  const target = targetOf(request, action)
  const by = { db, ip: audit.ip, requestId: id, ...(target && { details: { target } }) }
  if (!user) return { via: viaOf(action), action, ...by }
  return {
    via: user.via === 'pat' ? 'token' : 'sign_in',
    action,
    userId: isOfService(action) ? undefined : user.id,
    authorId: callerOf(request),
    sessionId: user.sessionId,
    tokenId: user.token?.id,
    ...by,
  }
}

/** Where nobody is signed in: orders have a token of their own, pages of links another. */
function viaOf(action: Action): Via {
  if (isOfService(action)) return 'command'
  return action.startsWith('link.') ? 'page' : 'code'
}

/** Says more about the change of a request: what is known only while it is carried out. */
export function describeChange({ change }: FastifyRequest, details: Details): void {
  if (change) change.details = { ...change.details, ...details }
}

/** The request only looks at what it could change. */
export function changesNothing({ change }: FastifyRequest): void {
  if (change) change.isNone = true
}

/**
 * What an actor is asked for is noted as soon as it is done, or may have been: later the limit of time, or a reading that
 * fails, would take its line away.
 */
export async function carriedOut<Result>(
  request: FastifyRequest,
  asked: Promise<Result>,
): Promise<Result> {
  try {
    const result = await asked
    await noteUnnoted(request)
    return result
  } catch (cause) {
    if (cause instanceof RequestFailed && cause.failure.certain === false)
      await noteUnnoted(request)
    throw cause
  }
}

/**
 * Call it before any route is registered. Code that writes notes the change in its own transaction. The rest is noted right
 * before the answer; an answer that says that something was done comes only after its note. Other routes have no hook of it.
 */
export function noteChanges(app: FastifyInstance, db: Queryable): void {
  app.decorateRequest('change', undefined)
  app.addHook('onRoute', (route) => {
    const actions = [route.method].flat().map((verb) => actionOf(verb, route.url))
    const action = actions.find((name) => name !== undefined)
    if (!action) return
    route.preHandler = [begin(action, db), ...[route.preHandler ?? []].flat()]
    route.onSend = [...[route.onSend ?? []].flat(), noteAnswered]
    route.handler = authored(route.handler)
  })
}

/** Timers and connections that the request begins go on within its context; they do nothing in its author's name. */
function authored(handler: RouteHandlerMethod): RouteHandlerMethod {
  return async function carryOut(request, reply) {
    try {
      return await handler.call(this, request, reply)
    } finally {
      if (request.change) request.change.isOver = true
    }
  }
}

const begin =
  (action: Action, db: Queryable): preHandlerHookHandler =>
  (request, _, done) => {
    request.change = changeOf(request, action, db)
    changedBy(request.change, done)
  }

const noteAnswered: onSendAsyncHookHandler = async (request, reply, payload) => {
  if (reply.statusCode < 400) await noteUnnoted(request)
  return payload
}

export async function noteUnnoted({ change, audit }: FastifyRequest): Promise<void> {
  if (!change || change.isNoted || change.isNone) return
  // Whoever has just signed in, or opened a page, is known only now.
  if (change.via === 'page' || change.via === 'code') {
    // Nobody has signed out, where no session belongs to the token.
    if (audit.userId === undefined) return
    change.userId = audit.userId
  }
  // The change was made: an answer that says when to try again would have it made twice.
  await readBack(noteChange(change.db, {}, change))
}
