/** The list of accounts in the browser: what stands in the address is what is searched for. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { type Said, saidIn } from './said.ts'

interface Listed {
  readonly page: Page
  readonly said: Said
  /** The account that is out. */
  readonly out: number
}

/** A search, a state and a reason are filters, which the table that is saved heeds as well. */
async function filterAndExport(t: Test, { page, said, out }: Listed) {
  const link = (name: string) => page.getByRole('link', { name })
  const isGone = (name: string) => link(name).waitFor({ state: 'detached' })
  const search = page.getByRole('searchbox')
  const state = page.getByLabel(said('accounts.filter.state'), { exact: true })
  await page.goto('/dashboard/accounts?search=nobody')
  await page.getByText(said('accounts.none')).waitFor()
  t.equal(await search.inputValue(), 'nobody')
  await page.getByRole('button', { name: said('accounts.clear') }).click()
  await link('Ada').waitFor()
  t.equal(await search.inputValue(), '')
  await state.selectOption({ label: said('state.logged_out') })
  await isGone('Ada')
  await link('Eve').waitFor()
  await page.getByText(said('accounts.shown.one', { count: 1 }), { exact: true }).waitFor()
  await state.selectOption({ label: said('accounts.filter.any') })
  await link('Ada').waitFor()
  await page.goto('/dashboard/accounts?reason=session_revoked')
  await link('Eve').waitFor()
  t.equal(await link('Ada').count(), 0, 'a reason is a filter')
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: said('accounts.export'), exact: true }).click()
  const file = await saved
  t.equal(file.suggestedFilename(), 'accounts.csv')
  const lines = (await readFile(await file.path(), 'utf8')).trim().split('\r\n')
  t.equal(lines.length, 2)
  t.match(lines[1], `${out},sandbox,Eve,,eve_listed,`)
}

t.test(
  'a search is taken away wherever it is taken away',
  { skip: noBrowser, timeout: 240_000 },
  async (t) => {
    const service = await startService(t)
    const phone = '+14155559511'
    const client = await service.client(phone)
    await client.link(await client.person('سلام '.repeat(12)))
    await client.link(await client.person('Ada', 'ada_listed'))
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const visitor = await visit(browser, service)
    const { page, complaints } = visitor
    await signIn(visitor, service, phone)
    const search = page.getByRole('searchbox')
    const searched = () => new URL(page.url()).searchParams.get('search')

    await page.goto('/dashboard/accounts')
    await page.getByRole('link', { name: 'Ada' }).waitFor()
    await search.fill('nobody')
    await page.getByText('No account matches').waitFor()
    t.equal(searched(), 'nobody', 'the view can be passed on')
    await page.getByRole('link', { name: 'Messenger accounts' }).click()
    await page.getByRole('link', { name: 'Ada' }).waitFor()
    // Longer than the panel waits for somebody to go on typing.
    await page.waitForTimeout(1_000)
    t.equal(searched(), null, 'it does not come back')
    t.equal(await search.inputValue(), '')

    // What does not fit is cut off at the end of the name, which is on the other side.
    await page.getByRole('link', { name: /^سلام/ }).waitFor()
    const name = `[...document.querySelectorAll('.who .label')].find(({ textContent }) => /^سلام/.test(textContent))`
    const { direction, textAlign } = (await page.evaluate(
      `(({ direction, textAlign }) => ({ direction, textAlign }))(getComputedStyle(${name}))`,
    )) as Readonly<Record<string, string>>
    t.same({ direction, textAlign }, { direction: 'rtl', textAlign: 'left' })

    const zoe = await client.person('Zoë', 'zoe_listed', { phone: '+16505552718' })
    await client.link(zoe)
    for (const text of ['zoe', '۲۷۱۸']) {
      await search.fill(text)
      await page.getByRole('link', { name: 'Ada' }).waitFor({ state: 'detached' })
      await page.getByRole('link', { name: 'Zoë' }).waitFor()
      await page.getByText('1 account', { exact: true }).waitFor()
      await search.fill('')
      await page.getByRole('link', { name: 'Ada' }).waitFor()
    }

    // A list that scrolls begins a row with each frame.
    await page.evaluate(`for (const name of ['NumberFormat', 'DateTimeFormat', 'RelativeTimeFormat']) {
      Intl[name] = new Proxy(Intl[name], {
        construct(target, given) {
          window.formatsMade = (window.formatsMade ?? 0) + 1
          return new target(...given)
        },
      })
    }`)
    await search.fill('zoe')
    await page.getByRole('link', { name: 'Ada' }).waitFor({ state: 'detached' })
    await search.fill('')
    await page.getByRole('link', { name: 'Ada' }).waitFor()
    t.equal(await page.evaluate('window.formatsMade ?? 0'), 0, 'rows share the formats')

    // As with more accounts than a page of the list has, while it is not known how many there are.
    await page.route('**/credentials/groups?*', (route) => route.abort())
    await page.route(/\/platforms\/credentials\?.*limit=250/, (route) => {
      const url = route.request().url()
      return url.includes('before=')
        ? route.abort()
        : route.continue({ url: url.replace('=250', '=1') })
    })
    await page.goto('/dashboard/accounts?state=active')
    await page.getByText('At least 1 account', { exact: true }).waitFor()
    await page.unrouteAll()

    const eve = await client.person('Eve', 'eve_listed')
    const out = await client.link(eve)
    await client.result('PUT', `/sandbox/people/${eve.id}/faults/revoke`, {})
    await client.state(out, 'logged_out')
    await filterAndExport(t, { page, said: saidIn('en'), out })
    t.same(complaints, [])

    const persian = await visit(browser, service, { language: 'fa', width: 390, height: 844 })
    await signIn(persian, service, phone)
    await filterAndExport(t, { page: persian.page, said: saidIn('fa'), out })
    t.same(persian.complaints, [])
  },
)
