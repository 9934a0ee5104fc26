/** The first visit of a browser that knows nothing of the panel: what it asks for, and when there is content. */
import type { BrowserContext } from 'playwright-core'
import { until } from '../support/client.ts'

export interface Asked {
  readonly name: string
  /** When the request was begun and when its answer was complete, in milliseconds since the visit began. */
  readonly from: number
  readonly to: number
  readonly bytes: number
}

export interface FirstLoad {
  /** When the content was there, and with it everything that makes it answer to clicks. */
  readonly contentMs: number
  /** What the page's thread needed of a processor, which other work of the machine hardly changes. */
  readonly processorMs: number
  /** What was asked for until then. */
  readonly asked: readonly Asked[]
}

/** Opens an address with an empty cache, until there is what `content` selects. */
export async function loadFirst(
  context: BrowserContext,
  address: string,
  content: string,
): Promise<FirstLoad> {
  const page = await context.newPage()
  try {
    const browser = await context.newCDPSession(page)
    await browser.send('Network.clearBrowserCache')
    await browser.send('Performance.enable', { timeDomain: 'threadTicks' })
    await page.addInitScript(watching(content))
    await page.goto(address, { waitUntil: 'commit' })
    await until(() => page.evaluate<boolean>('globalThis.contentAt !== undefined'))
    const { metrics } = await browser.send('Performance.getMetrics')
    const spent = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN
    const found = `({ contentMs: contentAt, processorMs: ${spent * 1_000}, asked: (${asked})() })`
    return await page.evaluate<FirstLoad>(found)
  } finally {
    await page.close()
  }
}

/** Runs in the page from its beginning: the page itself knows best when it has drawn something. */
const watching = (content: string) => `new MutationObserver((_, observer) => {
  if (!document.querySelector(${JSON.stringify(content)})) return
  observer.disconnect()
  requestAnimationFrame(() => { globalThis.contentAt = performance.now() })
}).observe(document, { childList: true, subtree: true })`

const asked = `() =>
  [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
    .filter(({ responseEnd }) => responseEnd > 0 && responseEnd <= contentAt)
    .map((entry) => ({
      name: entry.name.replace(location.origin, ''),
      from: entry.startTime,
      to: entry.responseEnd,
      bytes: entry.transferSize,
    }))`

/** The longest row of requests of which each began after the one before was answered: it costs a round trip each. */
export function longestRow(asked: readonly Asked[]): readonly string[] {
  const rows = new Map<Asked, readonly string[]>()
  const longest = (found: Iterable<readonly string[]>) =>
    [...found].reduce((one, other) => (other.length > one.length ? other : one), [])
  for (const one of [...asked].sort((a, b) => a.from - b.from)) {
    const before = [...rows].filter(([{ to }]) => to <= one.from).map(([, row]) => row)
    rows.set(one, [...longest(before), one.name])
  }
  return longest(rows.values())
}
