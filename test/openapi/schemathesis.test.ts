/** The service answers as its own description says, whatever it is asked. */
import t from 'tap'
import { Missing } from '../libraries/toolchains.ts'
import { type Budget, judgePart, PARTS } from './schemathesis.ts'

/** Small enough for every run; `npm run test:schemathesis` also walks the borders of every schema. */
const budget: Budget = { examples: 1, phases: ['fuzzing'] }

for (const part of Object.keys(PARTS) as (keyof typeof PARTS)[]) {
  await t.test(part, { timeout: 240_000 }, async (t) => {
    const judged = await judgePart(t, part, budget).catch((error) => {
      if (error instanceof Missing) return error
      throw error
    })
    if (judged instanceof Missing) {
      await t.test('is judged', { skip: judged.message }, () => undefined)
      return
    }
    t.ok(judged.passed, judged.said.slice(0, 4_000))
    t.ok(judged.operations > 100, `${judged.operations} operations`)
    t.ok(judged.carriedOut > 20, `${judged.carriedOut} requests were carried out`)
  })
}
