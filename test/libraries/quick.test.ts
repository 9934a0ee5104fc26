/** The libraries whose packages are fetched in seconds, against the service: `npm run test:libraries -- --quick`. */
import t from 'tap'
import { libraries } from './catalogue.ts'
import { isQuick, modes, runLibrary } from './round.ts'

for (const library of libraries.filter(isQuick)) {
  await t.test(library.name, { timeout: 180_000 }, async (t) => {
    const { missing, trials } = await runLibrary(library)
    if (missing !== undefined) {
      await t.test('is run', { skip: missing }, () => undefined)
      return
    }
    for (const mode of modes) {
      for (const { name, verdict, reason = '' } of trials[mode]?.steps ?? []) {
        const isSkipped = verdict === 'absent' || verdict === 'pending'
        await t.test(`${mode}: ${name}`, { skip: isSkipped && reason }, async (t) => {
          t.equal(verdict, 'passed', reason)
        })
      }
    }
  })
}
