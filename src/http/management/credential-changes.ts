/** GET /platforms/credentials/events: the changes of all of a user's credentials, as server-sent events. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { Static } from 'typebox'
import type { Transition } from '../../../actors/ports/ports.ts'
import { failed } from '../../../machines/model/failure.ts'
import { countCredentials } from '../../credentials/list.ts'
import type { RecordSource } from '../../credentials/records.ts'
import type { TimelineBuffer } from '../../credentials/timeline.ts'
import type { CredentialChange } from '../../records/credential.ts'
import type { EventStreams } from './event-stream.ts'
import { type Authenticated, forUsers, userOf } from './owner.ts'

/** Many changes a second are told together, of each credential the newest. */
const TOGETHER_MS = 250

interface CredentialChangesOptions extends Authenticated {
  readonly source: RecordSource
  readonly timeline: TimelineBuffer
  ownerOf(credentialId: number): number | undefined
  /** Aborted when the service goes down. */
  readonly draining: AbortSignal
  readonly streams: EventStreams
}

export const credentialChangesRoute: FastifyPluginAsyncTypebox<CredentialChangesOptions> = async (
  app,
  { source, timeline, ownerOf, draining, streams, authenticate },
) => {
  forUsers(app, authenticate)

  app.get(
    '/platforms/credentials/events',
    {
      schema: {
        tags: ['credentials'],
        summary: 'State changes of all credentials as server-sent events',
        description: 'First `state` with the counts, then `changes`: a list, four times a second.',
        produces: ['text/event-stream'],
      },
    },
    async (request, reply) => {
      const userId = userOf(request)
      const stream = streams.open(userOf(request))
      const newest = new Map<number, Transition>()
      const unwatch = timeline.watchAll((one) => {
        if (ownerOf(one.credentialId) === userId) newest.set(one.credentialId, one)
      })
      const timer = setInterval(() => {
        if (newest.size === 0) return
        stream.tell('changes', [...newest.values()].map(shown))
        newest.clear()
      }, TOGETHER_MS)
      const stop = () => {
        unwatch()
        clearInterval(timer)
      }
      try {
        const counts = await countCredentials(source, userId)
        if (draining.aborted) {
          throw failed('unavailable', 'the service is going down', {
            reason: 'going_down',
            retryAfterSeconds: 1,
          })
        }
        stream.begin(reply, counts, draining)
      } catch (cause) {
        stop()
        stream.abandon()
        throw cause
      }
      stream.ended.then(stop)
    },
  )
}

const shown = (one: Transition): Static<typeof CredentialChange> => ({
  credential_id: one.credentialId,
  at: new Date(one.at).toISOString(),
  from: one.from,
  to: one.to,
  event: one.event,
  reason: one.reason ?? null,
  state: one.publicState,
  action: one.action,
})
