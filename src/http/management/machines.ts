/** GET /machines: the state machines that the service runs, as charts to be drawn. */
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { apiKeyMachine } from '../../../machines/api-key/machine.ts'
import { credentialMachine } from '../../../machines/credential/machine.ts'
import { diagnosisMachine } from '../../../machines/diagnosis/machine.ts'
import { linkMachine } from '../../../machines/link/machine.ts'
import { failed } from '../../../machines/model/failure.ts'
import { supervisionMachine } from '../../../machines/supervision/machine.ts'
import { webhookMachine } from '../../../machines/webhook/machine.ts'
import { Chart } from '../../records/credential.ts'
import { answers, ok } from '../envelope.ts'
import { chartOf } from './machine-chart.ts'
import { type Authenticated, forUsers } from './owner.ts'

export const charts: ReadonlyMap<string, Chart> = new Map(
  Object.entries({
    credential: chartOf('credential', credentialMachine.root),
    api_key: chartOf('api_key', apiKeyMachine.root),
    link: chartOf('link', linkMachine.root),
    webhook: chartOf('webhook', webhookMachine.root),
    diagnosis: chartOf('diagnosis', diagnosisMachine.root),
    supervision: chartOf('supervision', supervisionMachine.root),
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
