/** Many keys, some of their endpoints dead: how fast the live ones get theirs, in turns with none dead. */
import { createServer } from 'node:net'
import { atLeast, atMost, type Finding } from './support/finding.ts'
import {
  deliveriesTake,
  processorOf,
  rateOf,
  type Scene,
  setWebhooks,
  type Turn,
  timed,
} from './support/hooks.ts'
import { microseconds, perSecond } from './support/statistics.ts'

const LIVE = 900
/** Healthy, but not counted: in the turns with none dead they take the place of those that are. */
const SPARE = 100
const DEAD = 100
export const KEYS = LIVE + SPARE + DEAD
const EACH = 5
const TURNS = 9
const CONNECTIONS = 2

/** The same live keys are counted in both: they have to share with healthy ones, or with dead ones. */
export async function besideTheDead(
  scene: Scene,
  keys: readonly string[],
  credentialIds: readonly number[],
): Promise<Finding[]> {
  const refusing = await closedPort()
  const urlOf = (index: number) => {
    if (index < LIVE) return `${scene.origin}/live/${index}`
    if (index < LIVE + SPARE) return `${scene.origin}/spare/${index}`
    // Some are gone, some hang.
    return index % 2 === 0 ? `http://127.0.0.1:${refusing}/` : `${scene.origin}/dead/${index}`
  }
  await setWebhooks(scene, keys, urlOf, CONNECTIONS)
  const live = credentialIds.slice(0, LIVE)
  const withSpare = [...live, ...credentialIds.slice(LIVE, LIVE + SPARE)]
  const withDead = [...live, ...credentialIds.slice(LIVE + SPARE)]
  const turn = (speaking: readonly number[]) =>
    timed(scene.service, () =>
      deliveriesTake(scene, LIVE * EACH, () =>
        scene.service.ask('speak', {
          credentialIds: speaking,
          batch: EACH,
          reports: 1,
          everyMs: 0,
        }),
      ),
    )
  const none: Turn[] = []
  const some: Turn[] = []
  // The first of each only warms up.
  await turn(withSpare)
  await turn(withDead)
  for (let number = 0; number < TURNS; number++) {
    none.push(await turn(withSpare))
    some.push(await turn(withDead))
  }
  const count = LIVE * EACH
  const [rate, before] = [rateOf(some, count), rateOf(none, count)]
  const [cost, costBefore] = [processorOf(some, count), processorOf(none, count)]
  return [
    {
      what: `  ${LIVE} keys beside ${DEAD} dead endpoints, against none dead`,
      ours: perSecond(rate, 'deliveries'),
      bare: perSecond(before, 'deliveries'),
      ...atLeast(rate, before, 0.9),
    },
    {
      what: '  processor time of the service for each, from the report on',
      ours: microseconds(cost),
      bare: microseconds(costBefore),
      ...atMost(cost, costBefore, 1.1),
    },
  ]
}

async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}
