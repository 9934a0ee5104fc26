/** What Toxiproxy does to the ways to the database and to the network, drawn by a seed. */
import { randomOf } from '../cluster/random.ts'
import type { Toxic, Toxiproxy } from '../support/toxiproxy.ts'
import { again, type Fault } from './fault.ts'

/** As Toxiproxy knows it by `leadTo`. */
type Way = string

const kinds: Readonly<Record<string, Readonly<Record<string, readonly number[]>>>> = {
  latency: { latency: [30, 150, 700, 2_500], jitter: [10, 100, 600] },
  bandwidth: { rate: [1, 5, 30] },
  slow_close: { delay: [500, 4_000] },
  timeout: { timeout: [0, 300, 2_000] },
  reset_peer: { timeout: [0, 50, 500] },
  slicer: { average_size: [3, 30, 300], size_variation: [1, 2], delay: [10, 1_000, 20_000] },
  limit_data: { bytes: [1, 100, 2_000, 20_000] },
}
/** The way is closed and opened again and again. */
const FLAPS = 'flaps'
const FLAP_MS = 300

const anyWays: readonly (readonly Way[])[] = [['database'], ['network'], ['database', 'network']]

interface Spoiled {
  readonly way: Way
  readonly toxic: Toxic
}

function drawn(seed: number, choice: typeof anyWays): Spoiled[] {
  const random = randomOf(seed)
  const oneOf = <Value>(values: readonly Value[]): Value => {
    const value = values[Math.floor(random() * values.length)]
    if (value === undefined) throw new Error('nothing to draw from')
    return value
  }
  const ways = oneOf(choice)
  return ways.map((way) => {
    const type = oneOf([...Object.keys(kinds), FLAPS])
    const stream = oneOf(['upstream', 'downstream'] as const)
    const drawn = Object.entries(kinds[type] ?? {}).map(([name, from]) => [name, oneOf(from)])
    return { way, toxic: { type, stream, attributes: Object.fromEntries(drawn) } }
  })
}

const wordsOf = ({ way, toxic: { type, stream, attributes } }: Spoiled) =>
  `${way} ${type} ${stream} ${Object.values(attributes).join('/')}`.trim()

/** Needs nothing of a stage but the ways. */
interface ToxicFault extends Fault {
  begin(): Promise<() => Promise<void>>
}

/** One for each seed. */
export const toxicFaults = (
  toxiproxy: Toxiproxy | string,
  seeds: readonly number[],
  ways = anyWays,
): ToxicFault[] =>
  seeds.map((seed) => {
    const spoiled = drawn(seed, ways)
    const name = `toxics ${seed}: ${spoiled.map(wordsOf).join(', ')}`
    if (typeof toxiproxy === 'string') {
      return { name, missing: toxiproxy, begin: () => Promise.reject(new Error(toxiproxy)) }
    }
    return {
      name,
      async begin() {
        const stops: (() => Promise<void>)[] = []
        for (const { way, toxic } of spoiled) {
          if (toxic.type !== FLAPS) await toxiproxy.spoil(way, toxic)
          else {
            let isOpen = true
            stops.push(
              again(FLAP_MS, async () => {
                isOpen = !isOpen
                await toxiproxy.turn(way, isOpen)
              }),
            )
          }
        }
        return async () => {
          for (const stop of stops) await stop()
          await toxiproxy.reset()
        }
      },
    }
  })
