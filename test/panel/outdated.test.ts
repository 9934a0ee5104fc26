/** A panel that stayed open over an update of the service. */
import t, { type Test } from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

async function openPanel(t: Test, options: { readonly language?: 'en' | 'fa' } = {}) {
  const service = await startService(t)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, service, options)
  return { ...visitor, service, visitor }
}

t.test(
  'a page that is gone is loaded anew, once',
  { skip: noBrowser, timeout: 240_000 },
  async (t) => {
    const { service, visitor, page, context } = await openPanel(t)
    await signIn(visitor, service, '+14155559301')
    let asked = 0
    await context.route('**/assets/keys-*.js', (route) => {
      asked++
      return asked === 1 ? route.fulfill({ status: 404, body: '' }) : route.continue()
    })
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByText('No key yet').waitFor()
    t.equal(asked, 2)
    await context.unroute('**/assets/keys-*.js')
    await context.route('**/assets/account-*.js', (route) =>
      route.fulfill({ status: 404, body: '' }),
    )
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByText('That did not work').waitFor()
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByText('No key yet').waitFor()
  },
)

t.test(
  'the library of charts that is gone is asked for anew, with the page',
  { skip: noBrowser, timeout: 240_000 },
  async (t) => {
    const { service, visitor, page, context } = await openPanel(t)
    let asked = 0
    await context.route('**/assets/uPlot*.js', (route) => {
      asked++
      return asked === 1 ? route.fulfill({ status: 404, body: '' }) : route.continue()
    })
    const phone = '+14155559305'
    const client = await service.client(phone)
    await client.link(await client.person('Bot'))
    await signIn(visitor, service, phone)
    await page.goto('/dashboard')
    await page.locator('.plot canvas').waitFor()
    t.equal(asked, 2)
  },
)

t.test(
  'a page that does not come while the service is away leaves the panel in place',
  { skip: noBrowser, timeout: 240_000 },
  async (t) => {
    const { service, visitor, page, context } = await openPanel(t)
    await signIn(visitor, service, '+14155559302')
    const files = /\/assets\/keys-|\/dashboard\/keys$/
    let asked = 0
    await context.route(files, async (route) => {
      await route.abort()
      asked += Number(route.request().url().endsWith('/dashboard/keys'))
    })
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByText('The service does not answer').waitFor()
    await until(() => asked === 1)
    await page.getByRole('button', { name: 'Try again' }).click()
    await until(() => asked === 2)
    await page.getByText('The service does not answer').waitFor()
    await context.unroute(files)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('No key yet').waitFor()
  },
)

t.test(
  'a language that does not come leaves the one at hand',
  { skip: noBrowser, timeout: 240_000 },
  async (t) => {
    const { page, context, complaints } = await openPanel(t, { language: 'fa' })
    const catalogue = '**/assets/fa-*.js'
    await context.route(catalogue, (route) => route.abort())
    await page.goto('/login')
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    t.equal(await page.locator('html').getAttribute('dir'), 'ltr')
    await context.unroute(catalogue)
    await page.reload()
    await page.getByRole('heading', { name: 'ورود' }).waitFor()
    t.same(complaints, [])
  },
)

t.test(
  'a page whose connection is gone says of when it is, and one whose user left goes too',
  { skip: noBrowser, timeout: 240_000 },
  async (t) => {
    const { service, visitor, page, context } = await openPanel(t)
    await signIn(visitor, service, '+14155559305')
    const lost = page.getByText(/^No connection to the service\. You see what it said at \d/)
    await page.getByText('Live', { exact: true }).waitFor()
    t.equal(await lost.count(), 0)
    await context.setOffline(true)
    await context.route('**/*', (route) => route.abort('internetdisconnected'))
    await service.restart()
    await lost.waitFor()
    await page.getByRole('link', { name: 'Settings' }).click()
    await page.getByText('The service does not answer').first().waitFor()
    t.equal(await page.locator('.loading').count(), 0, 'and nothing seems to be on its way')
    await context.unroute('**/*')
    await context.setOffline(false)
    await lost.waitFor({ state: 'detached' })

    const second = await context.newPage()
    await second.goto('/dashboard')
    await second.getByRole('button', { name: /^Sign out/ }).click()
    await second.getByRole('button', { name: 'Send a code' }).waitFor()
    await page.getByRole('button', { name: 'Send a code' }).waitFor({ timeout: 5_000 })
  },
)

t.test(
  'every page says of when it is, in both languages, and keeps what it shows',
  { skip: noBrowser, timeout: 240_000 },
  async (t) => {
    const service = await startService(t)
    const phone = '+14155559306'
    const client = await service.client(phone)
    const bot = await client.person('Stale Bot')
    const credentialId = await client.link(bot)
    await client.result('POST', '/api_keys', {
      credential_id: credentialId,
      name: 'Stale Key',
      scopes: ['bot:send'],
    })
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const said = {
      en: /^No connection to the service\. You see what it said at \d/,
      fa: /^ارتباط با سرویس قطع است\. آنچه می‌بینید مربوط به ساعت [۰-۹]/,
    }
    const shown = [
      ['/dashboard/keys', 'Stale Key'],
      [`/dashboard/accounts/${credentialId}`, 'Stale Bot'],
      [`/dashboard/sandbox?as=${bot.id}`, 'Stale Bot'],
    ] as const
    const open = async (language: 'en' | 'fa') => {
      const visitor = await visit(browser, service, { language })
      await signIn(visitor, service, phone)
      const pages = []
      for (const [address, content] of shown) {
        const page = await visitor.context.newPage()
        await page.goto(address)
        const what = page.locator('main').getByText(content).first()
        await what.waitFor({ state: 'attached' })
        pages.push({ page, what, lost: page.getByText(said[language]) })
      }
      return { context: visitor.context, pages }
    }
    const contexts = [await open('en'), await open('fa')]
    const all = contexts.flatMap(({ pages }) => pages)
    for (const { lost } of all) t.equal(await lost.count(), 0)
    for (const { context } of contexts) {
      await context.setOffline(true)
      await context.route('**/*', (route) => route.abort('internetdisconnected'))
    }
    await service.restart()
    for (const { page, what, lost } of all) {
      await lost.waitFor()
      t.equal(await what.count(), 1, page.url())
      t.equal(await page.locator('.loading').count(), 0, page.url())
    }
    for (const { context } of contexts) {
      await context.unroute('**/*')
      await context.setOffline(false)
    }
    for (const { lost } of all) await lost.waitFor({ state: 'detached' })
  },
)
