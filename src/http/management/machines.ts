/** GET /machines: the state machines that the service runs, as charts to be drawn. */

import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import type { AnyStateNode } from 'xstate'
import { apiKeyMachine } from '../../../machines/api-key/machine.ts'
import { credentialMachine } from '../../../machines/credential/machine.ts'
import { diagnosisMachine } from '../../../machines/diagnosis/machine.ts'
import { incidentMachine } from '../../../machines/incident/machine.ts'
import { linkMachine } from '../../../machines/link/machine.ts'
import { failed } from '../../../machines/model/failure.ts'
import { nodeMachine } from '../../../machines/node/machine.ts'
import { supervisionMachine } from '../../../machines/supervision/machine.ts'
import { webhookMachine } from '../../../machines/webhook/machine.ts'
import { Chart } from '../../records/credential.ts'
import { answers, ok } from '../envelope.ts'
import { type Authenticated, forUsers } from './owner.ts'

/** A state machine as plain data: its states as paths, and its transitions. */
function chartOf(name: string, root: AnyStateNode): Chart {
  const nodes = [...below(root)]
  return {
    name,
    states: nodes.map(stateOf),
    transitions: [root, ...nodes].flatMap(transitionsOf),
  }
}

function* below(node: AnyStateNode): Generator<AnyStateNode> {
  for (const child of Object.values(node.states)) {
    yield child
    yield* below(child)
  }
}

const pathOf = (node: AnyStateNode) => (node.path.length === 0 ? null : node.path.join('.'))

const stateOf = (node: AnyStateNode) => ({
  path: node.path.join('.'),
  parent: node.parent ? pathOf(node.parent) : null,
  type: node.type,
  initial: node.parent?.initial?.target?.includes(node) ?? false,
  meta: { ...node.meta },
  invokes: node.invoke.map(({ src }) => (typeof src === 'string' ? src : 'actor')),
})

const transitionsOf = (node: AnyStateNode) =>
  [...node.transitions.values(), node.always ?? []].flat().flatMap((transition) =>
    (transition.target ?? [undefined]).map((target) => ({
      from: pathOf(node),
      to: target ? pathOf(target) : null,
      event: eventName(transition.eventType),
      guard: guardName(transition.guard),
    })),
  )

/** `xstate.after.backoff.credential.waiting` is `after.backoff`, as in the timeline; `` is `always`. */
const eventName = (type: string) =>
  type === '' ? 'always' : type.replace(/^xstate\.(after\.\w+).*/, '$1')

function guardName(guard: unknown): string | null {
  if (guard === undefined) return null
  if (typeof guard === 'string') return guard
  if (typeof guard !== 'object' || guard === null || !('type' in guard)) return 'condition'
  const { type, params } = guard as { type: unknown; params?: unknown }
  return typeof params === 'string' ? `${type} ${params}` : String(type)
}

export const charts: ReadonlyMap<string, Chart> = new Map(
  Object.entries({
    credential: chartOf('credential', credentialMachine.root),
    api_key: chartOf('api_key', apiKeyMachine.root),
    link: chartOf('link', linkMachine.root),
    webhook: chartOf('webhook', webhookMachine.root),
    diagnosis: chartOf('diagnosis', diagnosisMachine.root),
    supervision: chartOf('supervision', supervisionMachine.root),
    node: chartOf('node', nodeMachine.root),
    incident: chartOf('incident', incidentMachine.root),
  }),
)

const tags = ['machines']

export const machineRoutes: FastifyPluginAsyncTypebox<Authenticated> = async (
  app,
  { authenticate },
) => {
  forUsers(app, authenticate)

  app.get(
    '/machines',
    {
      schema: {
        tags,
        summary: 'Names of the state machines',
        response: answers(Type.Array(Type.String())),
      },
    },
    async () => ok([...charts.keys()]),
  )

  app.get(
    '/machines/:name',
    {
      schema: {
        tags,
        summary: 'States and transitions of one machine, read from what runs',
        params: Type.Object({ name: Type.String({ maxLength: 64 }) }),
        response: answers(Chart),
      },
    },
    async (request) => {
      const chart = charts.get(request.params.name)
      if (!chart) throw failed('not_found')
      return ok(chart)
    },
  )
}
