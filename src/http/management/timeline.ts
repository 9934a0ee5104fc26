/** What happened to a credential: the stored timeline, and its changes as they come. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { failed } from '../../../actors/errors.ts'
import type { Transition } from '../../../actors/ports.ts'
import { findCredential, type RecordSource } from '../../credentials/records.ts'
import type { TimelineBuffer } from '../../credentials/timeline-buffer.ts'
import { answers, ok, PageOf, PageQuery } from '../envelope.ts'
import { securityHeaders } from '../headers.ts'
import { CredentialParams } from './credentials.ts'
import { type Authenticated, forUsers, idOf, pageBefore, userOf } from './owner.ts'

const TransitionRecord = Type.Object({
  at: Type.String(),
  from: Type.String(),
  to: Type.String(),
  event: Type.String(),
  reason: Type.Union([Type.String(), Type.Null()]),
  actor: Type.String(),
  node: Type.String(),
  duration_ms: Type.Integer(),
})

const HEARTBEAT_MS = 15_000

export interface TimelineRoutesOptions extends Authenticated {
  readonly source: RecordSource
  readonly timeline: TimelineBuffer
  readonly node: string
  /** Aborted when the service goes down: streams end then. */
  readonly draining: AbortSignal
}

export const timelineRoutes: FastifyPluginAsyncTypebox<TimelineRoutesOptions> = async (
  app,
  { source, timeline, node, draining, authenticate },
) => {
  forUsers(app, authenticate)
  const tags = ['credentials']

  app.get(
    '/platforms/credentials/:credential_id/transitions',
    {
      schema: {
        tags,
        summary: 'The timeline, newest first',
        params: CredentialParams,
        querystring: PageQuery,
        response: answers(PageOf(TransitionRecord)),
      },
    },
    async (request) => {
      const { limit, before } = request.query
      const credentialId = idOf(request.params.credential_id)
      if (!(await findCredential(source, userOf(request), credentialId))) throw failed('not_found')
      await timeline.flush()
      const rows = await source.db.query<Row>(
        `select id, at, from_state, to_state, event, reason, actor, node, duration_ms
           from credential_transition
          where credential_id = $1 and ($3::bigint is null or id < $3)
          order by id desc limit $2`,
        [credentialId, limit, pageBefore(before) ?? null],
      )
      const last = rows.length === limit ? rows.at(-1) : undefined
      return ok({ items: rows.map(recordOf), next_before: last ? `${last.id}` : null })
    },
  )

  app.get(
    '/platforms/credentials/:credential_id/events',
    {
      schema: {
        tags,
        summary: 'State changes as server-sent events',
        params: CredentialParams,
        produces: ['text/event-stream'],
      },
    },
    async (request, reply) => {
      const record = await findCredential(
        source,
        userOf(request),
        idOf(request.params.credential_id),
      )
      if (!record) throw failed('not_found')
      reply.hijack()
      const { raw } = reply
      raw.writeHead(200, {
        ...securityHeaders,
        'content-type': 'text/event-stream; charset=utf-8',
        'x-request-id': request.id,
        'x-accel-buffering': 'no',
      })
      raw.write(`event: state\ndata: ${JSON.stringify(record)}\n\n`)
      const stop = timeline.watch(record.credential_id, (transition) => {
        raw.write(`event: transition\ndata: ${JSON.stringify(shown(transition))}\n\n`)
      })
      const heartbeat = setInterval(() => raw.write(': still here\n\n'), HEARTBEAT_MS)
      const end = () => {
        stop()
        clearInterval(heartbeat)
        draining.removeEventListener('abort', end)
        raw.end()
      }
      raw.once('close', end)
      draining.addEventListener('abort', end, { once: true })
    },
  )

  const shown = (transition: Transition) => ({
    at: new Date(transition.at).toISOString(),
    from: transition.from,
    to: transition.to,
    event: transition.event,
    reason: transition.reason ?? null,
    state: transition.publicState,
    action: transition.action,
    actor: `credential:${transition.credentialId}`,
    node,
    duration_ms: Math.round(transition.durationMs),
  })
}

interface Row {
  readonly id: number
  readonly at: Date
  readonly from_state: string
  readonly to_state: string
  readonly event: string
  readonly reason: string | null
  readonly actor: string
  readonly node: string
  readonly duration_ms: number
}

const recordOf = (row: Row) => ({
  at: row.at.toISOString(),
  from: row.from_state,
  to: row.to_state,
  event: row.event,
  reason: row.reason,
  actor: row.actor,
  node: row.node,
  duration_ms: row.duration_ms,
})
