/** /sandbox/people/{person}/faults: makes things go wrong for one person, and right again. */
import { Type } from 'typebox'
import { missingField } from '../../../machines/model/failure.ts'
import type { Fault, FaultName } from '../../sandbox/delivery/fault-controls.ts'
import type { Faults as FaultState } from '../../sandbox/delivery/faults.ts'
import type { Network } from '../../sandbox/sandbox.ts'
import { answers, ok } from '../envelope.ts'
import { present } from './present.ts'
import { described, PersonParams, type SandboxRoutes } from './route.ts'
import { Faults, Id } from './schemas.ts'

const FAULT_NAMES: readonly FaultName[] = [
  'drop',
  'silence',
  'flood_wait',
  'delay',
  'duplicate',
  'reorder',
  'lose_answers',
  'revoke',
  'replace',
  'ban',
]

const isoTime = (milliseconds: number) => new Date(milliseconds).toISOString()

/** Faults whose time is over are left out. */
export function faultsBody(faults: FaultState, isBanned: boolean, now: number) {
  const { downUntil = 0, floodUntil = 0, delayMilliseconds, lostAnswers } = faults
  return present({
    drop: downUntil > now ? { until: isoTime(downUntil) } : undefined,
    silence: faults.isSilent ? {} : undefined,
    flood_wait: floodUntil > now ? { until: isoTime(floodUntil) } : undefined,
    delay: delayMilliseconds ? { milliseconds: delayMilliseconds } : undefined,
    duplicate: faults.isDuplicating ? {} : undefined,
    reorder: faults.isReordering ? {} : undefined,
    lose_answers: lostAnswers ? { times: lostAnswers } : undefined,
    ban: isBanned ? {} : undefined,
  })
}

const FaultParams = Type.Object({ person: Id, fault: Type.Enum([...FAULT_NAMES]) })

const Details = Type.Object(
  {
    seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 86_400 })),
    milliseconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 60_000 })),
    times: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  },
  { additionalProperties: false },
)

interface FaultDetails {
  readonly seconds?: number
  readonly milliseconds?: number
  readonly times?: number
}

function faultOf(fault: FaultName, { seconds, milliseconds, times }: FaultDetails): Fault {
  switch (fault) {
    case 'flood_wait':
      return { fault, seconds: required('seconds', seconds) }
    case 'delay':
      return { fault, milliseconds: required('milliseconds', milliseconds) }
    case 'drop':
      return { fault, ...(seconds !== undefined && { seconds }) }
    case 'lose_answers':
      return { fault, ...(times !== undefined && { times }) }
    default:
      return { fault }
  }
}

function required(field: string, value: number | undefined): number {
  if (value === undefined) throw missingField(field)
  return value
}

const faultsAnswer = async ({ people }: Network, id: number) => {
  const { faults, banned } = await people.get(id)
  return ok(faultsBody(faults, banned, Date.now()))
}

export const faultRoutes: SandboxRoutes = async (app, { network }) => {
  app.get(
    '/people/:person/faults',
    {
      schema: {
        ...described('The faults on this person'),
        params: PersonParams,
        response: answers(Faults),
      },
    },
    (request) => faultsAnswer(network(request), request.params.person),
  )

  app.put(
    '/people/:person/faults/:fault',
    {
      schema: {
        ...described('Put a fault on this person'),
        description:
          '`flood_wait` needs `seconds`, `delay` needs `milliseconds`; `drop` may stay for `seconds`, ' +
          '`lose_answers` takes `times`. `drop`, `revoke` and `replace` happen at once.',
        params: FaultParams,
        body: Details,
        response: answers(Faults),
      },
    },
    async (request) => {
      const { person, fault } = request.params
      const own = network(request)
      await own.people.get(person)
      await own.faults.put(person, faultOf(fault, request.body))
      return faultsAnswer(own, person)
    },
  )
}

export const faultClearingRoutes: SandboxRoutes = async (app, { network }) => {
  app.delete(
    '/people/:person/faults/:fault',
    {
      schema: {
        ...described('Take a fault off; an ended session needs a new link all the same'),
        params: FaultParams,
        response: answers(Faults),
      },
    },
    async (request) => {
      const { person, fault } = request.params
      const own = network(request)
      await own.people.get(person)
      await own.faults.clear(person, fault)
      return faultsAnswer(own, person)
    },
  )

  app.delete(
    '/people/:person/faults',
    {
      schema: {
        ...described('Take all faults off'),
        params: PersonParams,
        response: answers(Faults),
      },
    },
    async (request) => {
      const { person } = request.params
      const own = network(request)
      await own.people.get(person)
      await own.faults.clearAll(person)
      return faultsAnswer(own, person)
    },
  )
}
