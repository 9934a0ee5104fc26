/** The list of accounts in the browser: what stands in the address is what is searched for. */
import t from 'tap'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

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

    await page.goto('/dashboard/accounts?search=nobody')
    t.equal(await search.inputValue(), 'nobody')
    await page.getByRole('button', { name: 'Clear the filters' }).click()
    await page.getByRole('link', { name: 'Ada' }).waitFor()
    t.equal(await search.inputValue(), '')

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
    t.same(complaints, [])
  },
)
