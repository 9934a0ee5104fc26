/** The first load of the panel: few bytes, few round trips in a row, and soon interactive, however far the service is. */
import t from 'tap'
import { DistantLine } from '../support/distant-line.ts'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { type Asked, loadFirst, longestRow } from './first-load.ts'

/** What no content waits for may come before it, and counts then. */
const MOST_BYTES = { en: 300_000, fa: 290_000 } as const
/** Of a browser to one server; further requests wait for their turn. */
const CONNECTIONS = 6
/** The page; the script that asks who is signed in; its answer; the list. */
const ROUND_TRIPS = 4

/** Addresses with what is waited for there, and with the request that brings it. */
const contentsOf = (account: number, key: number) =>
  [
    ['/dashboard', '.tile', '/platforms/credentials/summary'],
    ['/dashboard/accounts', '.table .line', '/platforms/credentials?limit=250'],
    [`/dashboard/accounts/${account}`, '.facts dd', `/platforms/credentials/${account}`],
    [`/dashboard/keys/${key}`, '.figures dd', `/api_keys/${key}`],
  ] as const

/** No content waits for the library of bars, nor for a font of further letters: on a busy machine they may come before it is drawn. */
const isWaitedFor = ({ name }: Asked) => !/\/uPlot|-ext-/.test(name)

/** Without what nothing on the page waits for. */
const isNeeded = (list: string) => (one: Asked) =>
  /^\/(dashboard|assets\/.+\.(js|css)|panel\/)/.test(one.name) || one.name === list

t.test('the first load', { skip: noBrowser, timeout: 300_000 }, async (t) => {
  const service = await startService(t)
  const phone = '+14155559672'
  const client = await service.client(phone)
  const account = await client.link(await client.person('Support', 'support_bot'))
  const { api_key_id } = await client.key(account)
  const contents = contentsOf(account, api_key_id)
  const browser = await openBrowser()
  t.teardown(() => browser.close())

  for (const language of ['en', 'fa'] as const) {
    const visitor = await visit(browser, service, { language })
    await signIn(visitor, service, phone)
    const { context } = visitor

    for (const [address, content] of contents) {
      t.test(`${address} in ${language} is small and soon there`, async (t) => {
        const { contentMs, processorMs, asked } = await loadFirst(context, address, content)
        const bytes = asked.filter(isWaitedFor).reduce((sum, one) => sum + one.bytes, 0)
        t.ok(bytes > 100_000 && bytes < MOST_BYTES[language], `${bytes} bytes`)
        t.ok(processorMs > 50 && processorMs < 1_000, `${processorMs} ms of a processor`)
        const fonts = asked.filter(({ name }) => /vazirmatn-(arabic|latin)-wght/.test(name))
        t.same(fonts, [], 'no font that has more letters than the page')
        // The benchmark asks for 1 s. Here other tests take the processor.
        t.ok(contentMs < 15_000, `${contentMs} ms`)
      })
    }

    for (const [address, content, list] of contents) {
      t.test(`${address} in ${language} takes few round trips of 400 ms`, async (t) => {
        const line = await DistantLine.start(Number(new URL(service.url).port), 200)
        t.teardown(() => line.stop())
        const far = `http://localhost:${line.port}`
        const { contentMs, asked } = await loadFirst(context, `${far}${address}`, content)
        const needed = asked.filter(isNeeded(list))
        const row = longestRow(needed)
        t.equal(row.at(-1), list, row.join(' → '))
        t.ok(row.length <= ROUND_TRIPS, row.join(' → '))

        const scripts = needed.filter(({ name }) => name.startsWith('/assets/'))
        const main = scripts.find(({ name }) => /\/index-.+\.js$/.test(name))
        const late = scripts.filter(({ from }) => from >= (main?.to ?? 0))
        t.same(late, [], 'all scripts and styles are asked for before the main script has come')
        const session = needed.find(({ name }) => name === '/panel/session/refresh')
        t.ok(session && main && session.from < main.to, 'so is who is signed in')
        t.ok(scripts.length >= 3 && scripts.length <= CONNECTIONS, `${scripts.length} files`)
        // At least the connection, the page, a second connection, the script and the list: 2.4 s.
        t.ok(contentMs > 2_000, `the line is slow: ${contentMs} ms`)
        // The benchmark asks for 3 s.
        t.ok(contentMs < 20_000, `${contentMs} ms`)
      })
    }
  }
})
