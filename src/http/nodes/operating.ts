/** Routes for operators about the processes that serve the database: who they are, and orders to them. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { type Static, type TSchema, Type } from 'typebox'
import type { NodesView } from '../../../actors/node/actor.ts'
import type { NodeRow } from '../../../actors/node/observer.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Staff } from '../../accounts/staff.ts'
import type { Database } from '../../database/database.ts'
import { Nullable } from '../../json/schemas.ts'
import type { Nodes } from '../../nodes/nodes.ts'
import { holdingsByNode, listPins, orderDrain, pinAccount } from '../../nodes/orders.ts'
import type { EndedRow } from '../../nodes/table.ts'
import { NodeRecord, type NodeState, PinRecord } from '../../records/node.ts'
import { answers, ok } from '../envelope.ts'
import { type Guard, guardOf } from '../health.ts'
import { type Authenticated, forUsers, Id, userOf } from '../management/owner.ts'

const config = { audit: false }

/** The data that the routes of the nodes read and change. */
export interface NodesSource {
  readonly nodes: Pick<Nodes, 'view' | 'ended'>
  readonly db: Database
}

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
    const ownState = self ? (state as Static<typeof NodeState>) : row.state
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

const NodeParams = Type.Object({ incarnation: Id })

const PinsQuery = Type.Object({
  credential_id: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
})

const schema = <Body extends TSchema>(summary: string, body: Body) => ({
  tags: ['operations'],
  summary,
  // For the tokens of the configuration; those for operators as users say otherwise.
  security: [{ operator: [] }],
  response: answers(body),
})

type App = Parameters<FastifyPluginAsyncTypebox>[0]

/** `figures` are reported by the node itself; they are missing for a node that has just joined. */
async function recordsOf({ nodes, db }: NodesSource, withEnded: boolean) {
  const ended = withEnded ? await nodes.ended() : []
  const holdings = await holdingsByNode(db)
  return [...livingRecords(nodes.view()), ...ended.map(endedRecord)].map((one) => {
    const { accounts = 0, pins = 0, figures } = holdings.get(one.incarnation) ?? {}
    const told = one.ended_at === null ? figures : null
    return {
      ...one,
      accounts,
      pins,
      held_polls: told?.held ?? null,
      parked: told?.parked ?? null,
      lag_ms: told?.lagMs ?? null,
      memory_mb: told?.memoryMb ?? null,
    }
  })
}

interface Kind {
  readonly config?: typeof config
}

/** `GET <prefix>/nodes` and the pins. */
function addReading(app: App, prefix: string, source: NodesSource, kind: Kind): void {
  app.get(
    `${prefix}/nodes`,
    {
      ...kind,
      schema: {
        ...schema('The processes that serve this database', Type.Array(NodeRecord)),
        querystring: NodesQuery,
      },
    },
    async ({ query }) => ok(await recordsOf(source, query.ended)),
  )
  app.get(
    `${prefix}/nodes/pins`,
    {
      ...kind,
      schema: {
        ...schema('The accounts that operators keep at a node', Type.Array(PinRecord)),
        querystring: PinsQuery,
      },
    },
    async ({ query }) => ok(await listPins(source.db, query.credential_id ?? null, query.limit)),
  )
}

/** `POST <prefix>/nodes/…`: what can be ordered. */
function addOrders(app: App, prefix: string, { db }: Pick<NodesSource, 'db'>, kind: Kind): void {
  const order = (verb: 'drain' | 'undrain', summary: string) =>
    app.post(
      `${prefix}/nodes/:incarnation/${verb}`,
      {
        ...kind,
        schema: {
          ...schema(summary, Type.Object({ incarnation: Type.Integer() })),
          params: NodeParams,
        },
      },
      async ({ params }) => {
        return ok({ incarnation: await orderDrain(db, params, verb === 'drain') })
      },
    )
  order('drain', 'Orders a node to give its accounts to the others; it goes on forwarding')
  order('undrain', 'Lets a node take accounts again')

  app.post(
    `${prefix}/nodes/move`,
    {
      ...kind,
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

/** Without a token and on a public server there is no such route. */
export const nodesRoute: FastifyPluginAsyncTypebox<Guard & NodesSource> = async (
  app,
  { nodes, db, ...guard },
) => {
  const assertAllowed = guardOf(guard)
  if (!assertAllowed) return
  app.addHook('preValidation', async (request) => assertAllowed(request))
  addReading(app, '', { nodes, db }, { config })
}

/** Permission to read figures does not include orders: without their own token these routes do not exist. */
export const nodeOrderRoutes: FastifyPluginAsyncTypebox<
  Pick<Guard, 'token'> & Pick<NodesSource, 'db'>
> = async (app, { token, db }) => {
  const assertAllowed = guardOf({ token })
  if (!assertAllowed) return
  app.addHook('preValidation', async (request) => assertAllowed(request))
  addOrders(app, '', { db }, {})
}

interface OperatorOptions extends NodesSource, Authenticated {
  readonly staff: Pick<Staff, 'isOperator'>
}

/** The same for operators: for the panel, and for scripts by a token with the scope `operate`. Other users get 403. */
export const operatorRoutes: FastifyPluginAsyncTypebox<OperatorOptions> = async (
  app,
  { authenticate, staff, nodes, db },
) => {
  forUsers(app, authenticate, 'operate')
  app.addHook('onRequest', async (request) => {
    if (!(await staff.isOperator(userOf(request)))) throw failed('forbidden', 'only for operators')
  })
  addReading(app, '/operators', { nodes, db }, {})
  addOrders(app, '/operators', { db }, {})
}
