/** Routes for operators about the processes that serve the database: who they are, and orders to them. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, type TSchema, Type } from 'typebox'
import type { NodesView } from '../../../actors/node/actor.ts'
import type { NodeRow } from '../../../actors/node/observer.ts'
import type { Database } from '../../database/database.ts'
import { Nullable } from '../../json/nullable.ts'
import type { Nodes } from '../../nodes/nodes.ts'
import { accountsByNode, orderDrain, pinAccount } from '../../nodes/orders.ts'
import type { EndedRow } from '../../nodes/table.ts'
import { answers, ok } from '../envelope.ts'
import { type Guard, guardOf } from '../health.ts'
import { idOf } from '../management/owner.ts'

const config = { audit: false }

/** What the routes of the nodes read and change. */
export interface NodesSource {
  readonly nodes: Pick<Nodes, 'view' | 'ended'>
  readonly db: Database
}

const State = Type.Enum(['joining', 'up', 'suspended', 'draining', 'left', 'gone'])

const NodeRecord = Type.Object({
  incarnation: Type.Integer({ description: 'One start of a process; never given twice' }),
  name: Type.String(),
  address: Nullable(Type.String({ description: 'Where it listens' })),
  version: Type.String(),
  schema: Type.String({ description: 'The newest migration of the database when it joined' }),
  weight: Type.Integer(),
  state: State,
  self: Type.Boolean({ description: 'Whether this is the node that answers' }),
  connected: Type.Boolean({ description: 'Whether it holds its lock in the database' }),
  to_drain: Type.Boolean({ description: 'An operator has ordered it to give its accounts away' }),
  accounts: Type.Integer({ description: 'That belong to it' }),
  beats: Type.Integer(),
  beat_age_seconds: Nullable(
    Type.Number({ description: 'As the answering node sees it; null for a node that has ended' }),
  ),
  started_at: Type.String(),
  ended_at: Nullable(Type.String()),
})

const NodesQuery = Type.Object({
  ended: Type.Boolean({ default: false, description: 'Those that ended within a week, too' }),
})

const recordOf = (row: NodeRow | EndedRow) => ({
  incarnation: row.incarnation,
  name: row.name,
  address: row.address,
  version: row.version,
  schema: row.schema,
  weight: row.weight,
  connected: row.isLocked,
  to_drain: row.isToDrain,
  beats: row.beats,
  started_at: row.startedAt.toISOString(),
})

const seconds = (milliseconds: number) => Math.round(milliseconds) / 1000

function livingRecords({ rows, incarnation, state, beatAgeMs }: NodesView) {
  return rows.map((row) => {
    const self = row.incarnation === incarnation
    const beat_age_seconds = seconds(self ? beatAgeMs : row.beatAgeMs)
    const ownState = self ? (state as Static<typeof State>) : row.state
    return { ...recordOf(row), state: ownState, self, beat_age_seconds, ended_at: null }
  })
}

const endedRecord = (row: EndedRow) => ({
  ...recordOf(row),
  state: row.state,
  self: false,
  beat_age_seconds: null,
  ended_at: row.endedAt.toISOString(),
})

const Moved = Type.Object({
  credential_id: Type.Integer(),
  node: Nullable(Type.String({ description: 'Where it is to run; null: where it is placed' })),
})

const MoveBody = Type.Object(
  {
    credential_id: Type.Integer({ minimum: 1 }),
    node: Nullable(Type.String({ minLength: 1, maxLength: 200 })),
  },
  { additionalProperties: false },
)

const NodeParams = Type.Object({ incarnation: Type.String({ maxLength: 20 }) })

const schema = <Body extends TSchema>(summary: string, body: Body) => ({
  tags: ['operations'],
  summary,
  response: answers(body),
})

/** Without a token and on a public server there is no such route. */
export const nodesRoute: FastifyPluginAsyncTypebox<Guard & NodesSource> = async (
  app,
  { nodes, db, ...guard },
) => {
  const assertAllowed = guardOf(guard)
  if (!assertAllowed) return
  app.addHook('preValidation', async (request) => assertAllowed(request))

  app.get(
    '/nodes',
    {
      config,
      schema: {
        ...schema('The processes that serve this database', Type.Array(NodeRecord)),
        querystring: NodesQuery,
      },
    },
    async ({ query }) => {
      const ended = query.ended ? await nodes.ended() : []
      const accounts = await accountsByNode(db)
      const records = [...livingRecords(nodes.view()), ...ended.map(endedRecord)]
      return ok(records.map((one) => ({ ...one, accounts: accounts.get(one.incarnation) ?? 0 })))
    },
  )
}

/** Whoever may read figures may not order anything: without a token of their own there are no such routes. */
export const nodeOrderRoutes: FastifyPluginAsyncTypebox<
  Pick<Guard, 'token'> & Pick<NodesSource, 'db'>
> = async (app, { token, db }) => {
  const assertAllowed = guardOf({ token })
  if (!assertAllowed) return
  app.addHook('preValidation', async (request) => assertAllowed(request))

  const order = (verb: 'drain' | 'undrain', summary: string) =>
    app.post(
      `/nodes/:incarnation/${verb}`,
      {
        schema: {
          ...schema(summary, Type.Object({ incarnation: Type.Integer() })),
          params: NodeParams,
        },
      },
      async ({ params }) => {
        const ref = { incarnation: idOf(params.incarnation) }
        return ok({ incarnation: await orderDrain(db, ref, verb === 'drain') })
      },
    )
  order('drain', 'Orders a node to give its accounts to the others; it goes on forwarding')
  order('undrain', 'Lets a node take accounts again')

  app.post(
    '/nodes/move',
    {
      schema: {
        ...schema('Keeps an account on a node, or lets it go where it is placed', Moved),
        body: MoveBody,
      },
    },
    async ({ body }) => {
      const { credential_id, node } = body
      await pinAccount(db, credential_id, node)
      return ok({ credential_id, node })
    },
  )
}
