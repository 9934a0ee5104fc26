/** The libraries of one language as tests: each step of each library is one. */
import t from 'tap'
import { libraries } from './catalogue.ts'
import { runLibrary } from './round.ts'
import type { Language } from './toolchains.ts'

const ofLanguage = (language: Language) =>
  libraries.filter((library) => library.language === language)

export async function judge(language: Language): Promise<void> {
  for (const library of ofLanguage(language)) {
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
