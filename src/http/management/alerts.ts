/** Incidents of a user's accounts: listed, acknowledged, silenced. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { IncidentEvent } from '../../../machines/incident/machine.ts'
import type { Staff } from '../../accounts/staff.ts'
import {
  changeIncident,
  countIncidents,
  type Incident,
  listIncidents,
} from '../../alerts/incidents.ts'
import { listMembers } from '../../alerts/members.ts'
import { SERVICE } from '../../alerts/rules.ts'
import { recordsById } from '../../credentials/list.ts'
import type { RecordSource } from '../../credentials/records.ts'
import type { Database } from '../../database/database.ts'
import { IncidentItem, IncidentRecord, IncidentSummary } from '../../records/alert.ts'
import { answers, ok, PageOf, PageQuery } from '../envelope.ts'
import { seesService } from '../on-behalf.ts'
import { type Authenticated, forUsers, IdParams, userOf } from './owner.ts'
import { idBefore, pageOf } from './page.ts'

const MINUTE_MS = 60_000
const WEEK_MINUTES = 7 * 24 * 60

const SilenceBody = Type.Object(
  { minutes: Type.Integer({ minimum: 1, maximum: WEEK_MINUTES, default: 60 }) },
  { additionalProperties: false },
)

interface AlertRoutesOptions extends Authenticated {
  readonly db: Database
  readonly staff: Pick<Staff, 'isOperator'>
  readonly source: RecordSource
  readonly now: () => number
}

const tags = ['alerts']
const response = answers(IncidentRecord)

type Routes = FastifyPluginAsyncTypebox<AlertRoutesOptions>

/** Whose incidents a user sees: operators also those of the service. */
async function ownersFor(staff: AlertRoutesOptions['staff'], request: FastifyRequest) {
  const userId = userOf(request)
  return (await seesService(staff, request)) ? [userId, SERVICE] : [userId]
}

const ListQuery = Type.Object({
  ...PageQuery.properties,
  resolved: Type.Optional(
    Type.Boolean({ description: 'Only resolved incidents, or only those that are not' }),
  ),
})

const incidentListRoute: Routes = async (app, { db, staff }) => {
  app.get(
    '/alerts',
    {
      schema: {
        tags,
        summary: 'Incidents, newest first',
        querystring: ListQuery,
        response: answers(PageOf(IncidentRecord)),
      },
    },
    async (request) => {
      const { limit, before, resolved } = request.query
      const asked = { limit: limit + 1, before: idBefore(before), isResolved: resolved }
      const rows = await listIncidents(db, await ownersFor(staff, request), asked)
      const page = pageOf(rows, limit, ({ id }) => `${id}`)
      return ok({ ...page, items: page.items.map(presentIncident) })
    },
  )
}

const incidentSummaryRoute: Routes = async (app, { db, staff }) => {
  app.get(
    '/alerts/summary',
    {
      schema: {
        tags,
        summary: 'How many incidents are not resolved, and what they concern',
        response: answers(IncidentSummary),
      },
    },
    async (request) => ok(await countIncidents(db, await ownersFor(staff, request))),
  )
}

const incidentItemsRoute: Routes = async (app, { db, staff, source, now }) => {
  app.get(
    '/alerts/:id/items',
    {
      schema: {
        tags,
        summary:
          'Your accounts and keys that your incident concerns now, those with the highest ids first',
        params: IdParams,
        querystring: PageQuery,
        response: answers(PageOf(IncidentItem)),
      },
    },
    async (request) => {
      const userId = userOf(request)
      const { limit, before } = request.query
      const members = await listMembers(db, {
        userId,
        owners: await ownersFor(staff, request),
        id: request.params.id,
        now: new Date(now()),
        before: idBefore(before),
        limit: limit + 1,
      })
      const page = pageOf(
        members,
        limit,
        ({ api_key_id, credential_id }) => `${api_key_id ?? credential_id}`,
      )
      const ids = page.items.map(({ credential_id }) => credential_id)
      const accounts = await recordsById(source, userId, ids)
      const items = page.items.flatMap(({ credential_id, api_key_id, key_name, since }) => {
        const credential = accounts.get(credential_id)
        const key = api_key_id === null ? null : { api_key_id, name: key_name ?? '' }
        return credential ? [{ credential, key, since: since?.toISOString() ?? null }] : []
      })
      return ok({ ...page, items })
    },
  )
}

const incidentChangeRoutes: Routes = async (app, { db, staff, now }) => {
  type Asked = FastifyRequest<{ Params: Static<typeof IdParams> }>
  const changed = async (request: Asked, event: IncidentEvent, until?: Date) => {
    const owners = await ownersFor(staff, request)
    const incident = { owners, id: request.params.id }
    return ok(presentIncident(await changeIncident(db, incident, event, until)))
  }
  app.post(
    '/alerts/:id/acknowledge',
    {
      schema: {
        tags,
        summary: 'Says that somebody sees to it',
        params: IdParams,
        response,
      },
    },
    (request) => changed(request, { type: 'incident.acknowledge' }),
  )

  app.post(
    '/alerts/:id/silence',
    {
      schema: {
        tags,
        summary: 'Silences it for some minutes; it is open again afterwards',
        params: IdParams,
        body: SilenceBody,
        response,
      },
    },
    (request) => {
      const until = new Date(now() + request.body.minutes * MINUTE_MS)
      return changed(request, { type: 'incident.silence' }, until)
    },
  )

  app.delete(
    '/alerts/:id/silence',
    {
      schema: {
        tags,
        summary: 'Takes its silence back: it is open again at once',
        params: IdParams,
        response,
      },
    },
    (request) => changed(request, { type: 'silence.ended' }),
  )
}

export const alertRoutes: Routes = async (app, options) => {
  forUsers(app, options.authenticate, 'keys')
  const all = [incidentListRoute, incidentSummaryRoute, incidentItemsRoute, incidentChangeRoutes]
  for (const routes of all) await routes(app, options)
}

const presentIncident = ({
  id,
  user_id,
  opened_at,
  silenced_until,
  resolved_at,
  ...rest
}: Incident) => ({
  incident_id: id,
  scope: user_id === SERVICE ? ('service' as const) : ('own' as const),
  rule: rest.rule,
  subject: rest.subject,
  state: rest.state,
  affected: rest.affected,
  opened_at: opened_at.toISOString(),
  silenced_until: silenced_until?.toISOString() ?? null,
  resolved_at: resolved_at?.toISOString() ?? null,
})
