/** All credentials of a user: the list, searched, filtered and as CSV, their counts, and the stream of their changes. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, Type } from 'typebox'
import type { Transition } from '../../../actors/ports/ports.ts'
import { failed } from '../../../machines/model/failure.ts'
import { accountsOf } from '../../alerts/members.ts'
import { SERVICE } from '../../alerts/rules.ts'
import { countTags } from '../../bulk/tags.ts'
import {
  type CredentialSort,
  countCredentials,
  exportCredentials,
  groupCredentials,
  searchCredentials,
} from '../../credentials/list.ts'
import type { RecordSource } from '../../credentials/records.ts'
import type { TimelineBuffer } from '../../credentials/timeline.ts'
import {
  type CredentialChange,
  CredentialGroups,
  CredentialRecord,
  CredentialSummary,
} from '../../records/credential.ts'
import { answers, Failed, fileOf, ok, PageOf, PageQuery } from '../envelope.ts'
import { callerOf, isMaskedFor } from '../on-behalf.ts'
import { TAGS, WORDS } from '../validation.ts'
import { type EventStreams, streamAnswers } from './event-stream.ts'
import { type Authenticated, forUsers, inTurn, piecesInTurn, userOf } from './owner.ts'
import { idBefore } from './page.ts'

/** Changes are sent together this often, only the newest of each credential. */
const TOGETHER_MS = 250
/** After a gap, each stream reads the state again at a random moment within this time. */
const READ_AGAIN_MS = 1_000

interface CredentialChangesOptions extends Authenticated {
  readonly source: RecordSource
  readonly timeline: TimelineBuffer
  ownerOf(credentialId: number): number | undefined
  /** Aborted when the service stops. */
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
        description:
          'First `state` with the counts, then `changes`: a list, four times a second. `state` comes again when changes may have been missed.',
        response: streamAnswers,
      },
    },
    async (request, reply) => {
      const userId = userOf(request)
      const stream = streams.open(callerOf(request))
      const newest = new Map<number, Transition>()
      const unwatch = timeline.watchAll((one) => {
        if (ownerOf(one.credentialId) === userId) newest.set(one.credentialId, one)
      })
      const timer = setInterval(() => {
        if (newest.size === 0) return
        stream.tell('changes', [...newest.values()].map(shown))
        newest.clear()
      }, TOGETHER_MS)
      const unmissed = tellingAgain(timeline, stream, () => countCredentials(source, userId))
      const stop = () => {
        unwatch()
        unmissed()
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

/** Sends the state again when changes may have been missed; returns how to stop. */
function tellingAgain(
  timeline: TimelineBuffer,
  stream: ReturnType<EventStreams['open']>,
  read: () => Promise<object>,
): () => void {
  let timer: NodeJS.Timeout | undefined
  const tell = () => {
    read().then(
      (state) => stream.tell('state', state),
      // A reader that reconnects gets the state, too.
      () => stream.end(),
    )
  }
  const unwatch = timeline.onMissed(() => {
    clearTimeout(timer)
    timer = setTimeout(tell, Math.random() * READ_AGAIN_MS)
  })
  return () => {
    unwatch()
    clearTimeout(timer)
  }
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

const Words = (description: string) =>
  Type.Optional(Type.String({ pattern: WORDS, maxLength: 600, description }))

export const FilterQuery = Type.Object({
  search: Type.Optional(
    Type.String({ maxLength: 100, description: 'In names, usernames and phones; or an id' }),
  ),
  state: Words('One state or several, with commas between'),
  action: Words('One action or several, with commas between'),
  reason: Words('One reason or several, with commas between'),
  platform: Type.Optional(Type.String({ maxLength: 64 })),
  tag: Type.Optional(
    Type.String({
      pattern: TAGS,
      maxLength: 600,
      description: 'One tag or several, with commas between: one of them is enough',
    }),
  ),
  incident: Type.Optional(
    Type.String({
      pattern: '^[1-9]\\d{0,14}$',
      description: 'The id of an incident: the accounts that it concerns now',
    }),
  ),
})

const ListQuery = Type.Object({
  ...PageQuery.properties,
  ...FilterQuery.properties,
  // Sorted by names, it carries the beginning of one, in any script.
  before: Type.Optional(Type.String({ maxLength: 1_000 })),
  sort: Type.String({
    enum: ['created', 'name', 'state', 'last_event', 'urgency'],
    default: 'created',
    description: '`urgency`: what needs somebody comes first',
  }),
  order: Type.String({ enum: ['desc', 'asc'], default: 'desc' }),
})

/** A hundred thousand accounts, read by a slow caller. */
export const EXPORT_MS = 600_000

export const csvAnswers = {
  200: { description: 'The lines', content: { 'text/csv': { schema: Type.String() } } },
  default: Failed,
}

export const filterOf = (given: Static<typeof FilterQuery>) => ({
  search: given.search?.trim() || undefined,
  states: listOf(given.state),
  actions: listOf(given.action),
  reasons: listOf(given.reason),
  tags: listOf(given.tag),
  platform: given.platform,
  incident: given.incident,
})

/** The filter with the accounts of its incident. */
export async function wantedBy(
  { db }: RecordSource,
  userId: number,
  given: Static<typeof FilterQuery>,
) {
  const { incident, ...wanted } = filterOf(given)
  if (incident === undefined) return { ...wanted, ids: undefined }
  // An incident of the whole service is shown with the accounts of this user alone.
  const asked = { userId, owners: [userId, SERVICE], id: Number(incident), now: new Date() }
  return { ...wanted, ids: await accountsOf(db, asked) }
}

const ExportBody = Type.Object(
  {
    credential_ids: Type.Array(Type.Integer({ minimum: 1 }), {
      minItems: 1,
      maxItems: 10_000,
      description: 'These accounts; those that are gone are left out',
    }),
  },
  { additionalProperties: false },
)

interface CredentialListOptions extends Authenticated {
  readonly source: RecordSource
}

const tags = ['credentials']
const listOf = (words: string | undefined) => words?.split(',')

type Routes = FastifyPluginAsyncTypebox<CredentialListOptions>

const listRoute: Routes = async (app, { source }) => {
  app.get(
    '/platforms/credentials',
    {
      schema: {
        tags,
        summary: 'Linked accounts, newest first unless sorted',
        querystring: ListQuery,
        response: answers(PageOf(CredentialRecord)),
      },
    },
    async (request) => {
      const { sort, order, before, limit } = request.query
      if (sort === 'created') idBefore(before)
      const query = {
        ...(await wantedBy(source, userOf(request), request.query)),
        isMasked: isMaskedFor(request),
        sort: sort as CredentialSort,
        order: order as 'desc',
        before,
        limit,
      }
      return ok(await searchCredentials(source, userOf(request), query))
    },
  )
}

const exportRoutes: Routes = async (app, { source }) => {
  app.get(
    '/platforms/credentials/export',
    {
      config: { answerWithin: EXPORT_MS },
      schema: {
        tags,
        summary: 'Linked accounts as CSV, filtered like the list, oldest first',
        querystring: FilterQuery,
        response: csvAnswers,
      },
    },
    async (request, reply) => {
      const userId = userOf(request)
      const wanted = await inTurn(request, reply, () => wantedBy(source, userId, request.query))
      const lines = piecesInTurn(request, reply, exportCredentials(source, userId, wanted))
      const file = fileOf(reply, lines, { name: 'accounts.csv', type: 'text/csv' })
      return reply.send(file as never)
    },
  )

  app.post(
    '/platforms/credentials/export',
    {
      // It has a body, since the list may be long, and changes nothing.
      config: { answerWithin: EXPORT_MS, scope: 'read' },
      schema: {
        tags,
        summary: 'These linked accounts as CSV, oldest first',
        body: ExportBody,
        response: csvAnswers,
      },
    },
    async (request, reply) => {
      const { credential_ids } = request.body
      const made = exportCredentials(source, userOf(request), credential_ids)
      const lines = piecesInTurn(request, reply, made)
      const file = fileOf(reply, lines, { name: 'accounts.csv', type: 'text/csv' })
      return reply.send(file as never)
    },
  )
}

const countRoutes: Routes = async (app, { source }) => {
  app.get(
    '/platforms/credentials/groups',
    {
      schema: {
        tags,
        summary: 'How many pass the filters of the list, and how many are out for each reason',
        querystring: FilterQuery,
        response: answers(CredentialGroups),
      },
    },
    async (request) => {
      const userId = userOf(request)
      const wanted = await wantedBy(source, userId, request.query)
      const [groups, by_tag] = await Promise.all([
        groupCredentials(source, userId, { ...wanted, isMasked: isMaskedFor(request) }),
        countTags(source.db, userId),
      ])
      return ok({ ...groups, by_tag })
    },
  )

  app.get(
    '/platforms/credentials/tags',
    {
      schema: {
        tags,
        summary: 'How many accounts have each tag; the hundred most frequent ones',
        response: answers(CredentialGroups.properties.by_tag),
      },
    },
    async (request) => ok(await countTags(source.db, userOf(request))),
  )

  app.get(
    '/platforms/credentials/summary',
    {
      schema: {
        tags,
        summary: 'How many there are of each state',
        response: answers(CredentialSummary),
      },
    },
    async (request) => ok(await countCredentials(source, userOf(request))),
  )
}

export const credentialListRoutes: Routes = async (app, options) => {
  forUsers(app, options.authenticate)
  for (const routes of [listRoute, exportRoutes, countRoutes]) await routes(app, options)
}
