/** The audit log: the changes of a user, and for operators those of the service; page by page, or as lines of JSON. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { type Static, Type } from 'typebox'
import type { Staff } from '../../accounts/staff.ts'
import { type AuditQuery, exportChanges, listChanges } from '../../audit/read.ts'
import type { Database } from '../../database/database.ts'
import { AuditRecord } from '../../records/audit.ts'
import { answers, Failed, fileOf, ok, PageOf, PageQuery } from '../envelope.ts'
import { seesService } from '../on-behalf.ts'
import { type Authenticated, forUsers, inTurn, turnsOf, userOf } from './owner.ts'
import { idBefore, pageOf, timeOf } from './page.ts'

const Time = Type.Optional(Type.String({ format: 'date-time' }))
const Filter = Type.Object(
  {
    action: Type.Optional(
      Type.String({
        pattern: '^[a-z_]{1,40}(\\.[a-z_]{1,40})?$',
        description: 'As `key.revoked`; or all of one kind, as `key`',
      }),
    ),
    target: Type.Optional(Type.String({ pattern: '^[a-z_]{1,40}$' })),
    target_id: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
    since: Time,
    until: Time,
  },
  { additionalProperties: false },
)
const ListQuery = Type.Object(
  { ...PageQuery.properties, ...Filter.properties },
  { additionalProperties: false },
)

/** A slow reader may have hundreds of thousands of lines. */
const EXPORT_MS = 3_600_000

interface AuditRoutesOptions extends Authenticated {
  readonly db: Database
  readonly staff: Pick<Staff, 'isOperator'>
}

const tags = ['audit']

const queryOf = (given: Static<typeof Filter>) => ({
  action: given.action,
  target: given.target,
  targetId: given.target_id,
  since: given.since === undefined ? undefined : new Date(timeOf('since', given.since)),
  until: given.until === undefined ? undefined : new Date(timeOf('until', given.until)),
})

export const auditRoutes: FastifyPluginAsyncTypebox<AuditRoutesOptions> = async (
  app,
  { db, staff, authenticate },
) => {
  forUsers(app, authenticate)

  const asked = async (request: FastifyRequest, given: Static<typeof Filter>) => ({
    ...queryOf(given),
    userId: userOf(request),
    withService: await seesService(staff, request),
  })

  app.get(
    '/audit',
    {
      schema: {
        tags,
        summary: 'Who changed what, from where, newest first',
        description:
          'Changes by the management API and failed sign-ins; for operators also orders and commands. Kept for 400 days. `before` and `after` of a record have no secrets.',
        querystring: ListQuery,
        response: answers(PageOf(AuditRecord)),
      },
    },
    async (request, reply) =>
      inTurn(request, reply, async () => {
        const { limit, before, ...filter } = request.query
        const query = await asked(request, filter)
        const page = { before: idBefore(before), limit: limit + 1 }
        return ok(pageOf(await listChanges(db, { ...query, ...page }), limit, ({ id }) => `${id}`))
      }),
  )

  app.get(
    '/audit/export',
    {
      config: { answerWithin: EXPORT_MS },
      schema: {
        tags,
        summary: 'The same as lines of JSON, all of them',
        querystring: Filter,
        response: {
          200: {
            description: 'The lines',
            content: { 'application/x-ndjson': { schema: Type.String() } },
          },
          default: Failed,
        },
      },
    },
    async (request, reply) => {
      const turns = turnsOf(request, reply)
      const read = (page: AuditQuery) => turns(() => listChanges(db, page))
      const lines = exportChanges(read, await asked(request, request.query))
      const file = { name: 'audit.jsonl', type: 'application/x-ndjson' }
      return reply.send(fileOf(reply, lines, file) as never)
    },
  )
}
