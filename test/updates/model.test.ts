/** The log and its keys against a model of arrays and cursors: every answer is the same. */

import t from 'tap'
import type { Bounds } from '../../src/updates/held.ts'
import fc, { seed } from '../support/fast-check.ts'
import { commands, KEYS } from './model/commands.ts'
import { newKey, newLog } from './model/model.ts'
import { System } from './model/system.ts'
import { FIRST, stage } from './stage.ts'

/** Of up to 80 steps. More for a longer search: `MODEL_RUNS=5000`, with `TEST_SEED=random`. */
const numRuns = Number(process.env.MODEL_RUNS ?? 40)

const takesMs = Math.max(60_000, numRuns * 1_000)

t.setTimeout(takesMs)

/** Memory lets go of everything after each append: what is read then is read from the tables. */
const tight: Bounds = { held: 0, storing: 1 }

for (const [how, bounds] of [
  ['', undefined],
  [', and however little fits into memory', tight],
] as const) {
  t.test(`every answer is the model’s, whatever happened before${how}`, async (t) => {
    t.setTimeout(takesMs)
    const scene = await stage(t)
    t.comment(`seed ${seed}, ${numRuns} runs`)
    const property = fc.asyncProperty(commands(80), async (drawn) => {
      const system = await System.open(scene, KEYS, bounds)
      const isTight = bounds !== undefined
      const setup = () => {
        const logs = [newLog(FIRST, isTight), newLog(FIRST, isTight)]
        const keys = KEYS.map((place) => newKey(logs[place] ?? newLog(FIRST)))
        return { model: { logs, keys }, real: system }
      }
      try {
        await fc.asyncModelRun(setup, drawn)
      } finally {
        await system.close()
      }
    })
    await fc.assert(property, { numRuns, endOnFailure: false })
    t.pass(`${numRuns} histories`)
  })
}
