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

/** Only what is serious or critical, as a line each. */
export async function seriousIn(page: Page): Promise<string[]> {
  // Through the debugger, which the content policy does not concern.
  await page.evaluate(axe)
  const found = (await page.evaluate(check)) as Violation[]
  return found.filter(({ impact }) => impact === 'serious' || impact === 'critical').map(shown)
}

const shown = ({ id, nodes }: Violation) =>
  `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`
