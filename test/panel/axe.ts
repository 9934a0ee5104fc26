/** What axe holds against the page that is shown. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const check = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`

/** Every violation, of whichever impact, as a line each. */
export const violationsIn = async (page: Page): Promise<string[]> => (await found(page)).map(shown)

/** Only what is serious or critical, as a line each: for a page in the middle of something. */
export async function seriousIn(page: Page): Promise<string[]> {
  const isSerious = ({ impact }: Violation) => impact === 'serious' || impact === 'critical'
  return (await found(page)).filter(isSerious).map(shown)
}

async function found(page: Page): Promise<Violation[]> {
  // Through the debugger, which the content policy does not concern.
  await page.evaluate(axe)
  return (await page.evaluate(check)) as Violation[]
}

const shown = ({ id, nodes }: Violation) =>
  `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`
