/** The timeline of a credential: the stored lines, and a stream of new ones. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from 'typebox'
import type { Transition } from '../../../actors/ports/ports.ts'
import { failed } from '../../../machines/model/failure.ts'
import { findCredential, type RecordSource } from '../../credentials/records.ts'
import type { TimelineBuffer } from '../../credentials/timeline.ts'
import type { LiveTransition } from '../../records/credential.ts'
import { TransitionRecord } from '../../records/credential.ts'
import { answers, ok, PageOf, PageQuery } from '../envelope.ts'
import { callerOf } from '../on-behalf.ts'
import { CredentialParams, ownCredential } from './credentials.ts'
import { type EventStreams, streamAnswers } from './event-stream.ts'
import { type Authenticated, forUsers, userOf } from './owner.ts'
import { idBefore, pageOf } from './page.ts'

const RETRY = { reason: 'going_down', retryAfterSeconds: 1 } as const

interface TimelineRoutesOptions extends Authenticated {
  readonly source: RecordSource
  readonly timeline: TimelineBuffer
  readonly node: string
  /** Aborted when the service stops: streams end then. */
  readonly draining: AbortSignal
  readonly streams: EventStreams
}

const tags = ['credentials']

type Routes = FastifyPluginAsyncTypebox<TimelineRoutesOptions>

const storedTimelineRoute: Routes = async (app, { source, timeline }) => {
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
      const credentialId = request.params.credential_id
      await findCredential(source, userOf(request), credentialId)
      await timeline.flush()
      const rows = await source.db.query<Row>(
        `select id, at, from_state, to_state, event, reason, actor, node, other_node,
                duration_ms, count, last_at
           from credential_transition
          where credential_id = $1 and ($3::bigint is null or id < $3)
          order by id desc limit $2`,
        [credentialId, limit + 1, idBefore(before) ?? null],
      )
      const page = pageOf(rows, limit, ({ id }) => `${id}`)
      return ok({ ...page, items: page.items.map(recordOf) })
    },
  )
}

const liveTimelineRoute: Routes = async (app, options) => {
  app.get(
    '/platforms/credentials/:credential_id/events',
    {
      schema: {
        tags,
        summary: 'State changes as server-sent events',
        description:
          '`state` with the record, then a `transition` for each change; one that `repeats` counts where the timeline has it already.',
        params: CredentialParams,
        response: streamAnswers,
      },
    },
    async (request, reply) => {
      const { source, timeline, node, draining, streams } = options
      const credentialId = request.params.credential_id
      const stream = streams.open(callerOf(request))
      const stop = timeline.watch(credentialId, (one) =>
        stream.tell('transition', shown(one, node)),
      )
      try {
        const record = await ownCredential(source, request)
        if (draining.aborted) throw failed('unavailable', 'the service is going down', RETRY)
        stream.begin(reply, record, draining)
      } catch (cause) {
        stop()
        stream.abandon()
        throw cause
      }
      stream.ended.then(stop)
    },
  )
}

export const timelineRoutes: Routes = async (app, options) => {
  forUsers(app, options.authenticate)
  for (const routes of [storedTimelineRoute, liveTimelineRoute]) {
    await routes(app, options)
  }
}

const shown = (transition: Transition, node: string): Static<typeof LiveTransition> => ({
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
  repeats: transition.isRepeat ?? false,
})

interface Row {
  readonly id: number
  readonly at: Date
  readonly from_state: string
  readonly to_state: string
  readonly event: string
  readonly reason: string | null
  readonly actor: string
  readonly node: string
  readonly other_node: string | null
  readonly duration_ms: number
  readonly count: number
  readonly last_at: Date | null
}

const recordOf = (row: Row) => ({
  at: row.at.toISOString(),
  from: row.from_state,
  to: row.to_state,
  event: row.event,
  reason: row.reason,
  actor: row.actor,
  node: row.node,
  ...(row.other_node !== null && { other_node: row.other_node }),
  duration_ms: row.duration_ms,
  count: row.count,
  last_at: (row.last_at ?? row.at).toISOString(),
})
