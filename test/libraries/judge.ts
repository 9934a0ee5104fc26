/** The libraries of one toolchain as tests: each step of each library is one. */
import t from 'tap'
import { libraries } from './catalogue.ts'
import { runLibrary } from './round.ts'
import type { Toolchain } from './toolchains.ts'

export async function judge(toolchain: Toolchain): Promise<void> {
  for (const library of libraries.filter((library) => library.toolchain === toolchain)) {
    await t.test(library.name, { timeout: 180_000 }, async (t) => {
      const { missing, trials } = await runLibrary(library)
      if (missing !== undefined) {
        await t.test('is run', { skip: missing }, () => undefined)
        return
      }
      for (const [mode, { steps }] of Object.entries(trials)) {
        for (const { name, verdict, reason = '' } of steps) {
          const isSkipped = verdict === 'absent' || verdict === 'pending'
          await t.test(`${mode}: ${name}`, { skip: isSkipped && reason }, async (t) => {
            t.equal(verdict, 'passed', reason)
          })
        }
      }
    })
  }
}
