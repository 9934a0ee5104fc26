/** Support in the panel: finds a user, sees what they see, diagnoses, gives a reason for texts, and goes back. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { startService } from '../support/service.ts'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { dialogOf } from './dialog.ts'
import { saidIn } from './said.ts'

const phone = '+14155559301'
const helped = '+14155559302'
const said = saidIn('en')

t.test('support helps a user in the panel', { skip: noBrowser, timeout: 180_000 }, async (t) => {
  const service = await startService(t, { env: { SUPPORT_PHONES: phone } })
  const user = await service.client(helped)
  const bot = await user.person('Ada', 'helped_ada')
  const account = await user.link(bot)
  const { api_key_id: keyId } = await user.key(account)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, service)
  const { page, complaints } = visitor
  await signIn(visitor, service, phone)
  const band = page.getByRole('region', { name: "Another user's records" })
  const refused: string[] = []
  page.on('response', (answer) => {
    if (answer.status() >= 400) refused.push(`${answer.status()} ${new URL(answer.url()).pathname}`)
  })

  await t.test('the user is found by the number of an account', async (t) => {
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    await page.getByLabel('By', { exact: true }).selectOption('credential_id')
    await page.getByLabel('Account number', { exact: true }).fill(`${account}`)
    await page.getByRole('button', { name: 'Find' }).click()
    const rows = page.locator('li.record')
    await rows.getByText('9302').waitFor()
    t.equal(await rows.count(), 1)
    t.notMatch(await page.locator('main').innerText(), helped)
    t.same(await seriousIn(page), [])
    await page.getByRole('button', { name: 'Look' }).click()
  })

  await t.test('their pages are shown, and nothing is refused on the way', async (t) => {
    await band.waitFor()
    await page.getByRole('link', { name: 'Messenger accounts', exact: true }).click()
    await page.locator('main').getByText('helped_ada').first().waitFor()
    const keyPage = `keys/${keyId}`
    const tabs = ['webhook', 'deliveries', 'requests', 'usage'].map(
      (tab) => `${keyPage}?tab=${tab}`,
    )
    const accountPage = `accounts/${account}`
    const own = ['', 'accounts', accountPage, `${accountPage}/diagnosis`, 'alerts', 'keys', keyPage]
    for (const address of [...own, ...tabs]) {
      await page.goto(`${visitor.origin}/dashboard/${address}`)
      await band.waitFor()
      await page.locator('main h1').first().waitFor()
      // Some parts of a page ask for more once they are shown.
      await pause(500)
      t.same(refused, [], address)
    }
    t.equal(await page.getByRole('link', { name: 'Sandbox', exact: true }).count(), 0)
    t.same(await seriousIn(page), [])
  })

  await t.test('a diagnosis runs to its end', async (t) => {
    await page.goto(`${visitor.origin}/dashboard/keys/${keyId}/diagnosis`)
    await page.getByRole('button', { name: said('diagnosis.all') }).click()
    await page.getByRole('heading', { name: said('diagnosis.healthy') }).waitFor()
    t.same(refused, [])
  })

  await t.test('a reason shows the phone', async (t) => {
    await page.getByRole('button', { name: 'Show texts and phones' }).click()
    await page.getByLabel('Reason').fill('ticket 12')
    await page.getByRole('button', { name: 'Show', exact: true }).click()
    await band.getByText(helped).waitFor()
    t.match(await band.innerText(), /shown until/)
  })

  await t.test('and back: own records, no band', async (t) => {
    await page.getByRole('button', { name: 'Back to your own' }).click()
    await band.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Messenger accounts', exact: true }).click()
    await page.getByRole('heading', { name: 'Messenger accounts' }).waitFor()
    t.equal(await page.getByText('helped_ada').count(), 0)
  })

  await t.test('who signs in at this tab afterwards looks at nobody', async (t) => {
    await page.goto(`${visitor.origin}/dashboard/users`)
    await page.getByRole('button', { name: 'Look' }).last().click()
    await band.waitFor()
    await page.reload()
    await band.waitFor()
    // The tab is away while somebody else signs in at another one.
    await page.goto('about:blank')
    await page.context().clearCookies()
    const other = await page.context().newPage()
    await signIn({ ...visitor, page: other }, service, helped)
    // Who is signed in is known before the rest of the panel has come.
    await page.route(/assets\/index-/, async (route) => {
      await pause(700)
      await route.continue()
    })
    await page.goto(`${visitor.origin}/dashboard/accounts`)
    await page.locator('main').getByText('helped_ada').first().waitFor()
    t.equal(await band.count(), 0)
  })
  t.same(complaints, [])
})

t.test(
  'an operator suspends a user, who reads why in the panel, and ends it',
  { skip: noBrowser, timeout: 180_000 },
  async (t) => {
    const env = { OPERATOR_PHONES: phone, SUPPORT_PHONES: '+14155559303' }
    const service = await startService(t, { env })
    const user = await service.client(helped)
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const operator = await visit(browser, service)
    const suspended = await visit(browser, service)
    await signIn(suspended, service, helped)
    await suspended.page.getByRole('link', { name: 'Messenger accounts', exact: true }).waitFor()
    await signIn(operator, service, phone)
    const { page } = operator
    await page.goto(`${operator.origin}/dashboard/users`)
    const row = page.locator('li.record', { hasText: '9302' })
    await row.getByRole('button', { name: said('users.suspend'), exact: true }).click()
    const dialog = dialogOf(page)
    t.same(await seriousIn(page), [])
    await dialog.getByLabel(said('users.suspend.why')).fill('Ticket 41')
    await dialog.getByRole('button', { name: said('users.suspend'), exact: true }).click()
    await row.getByText('Ticket 41').waitFor()
    await row.getByText(said('users.suspended'), { exact: true }).waitFor()
    t.equal((await user.ask('GET', '/user')).status, 403)

    const why = suspended.page.getByText('An operator has suspended you: Ticket 41')
    await suspended.page
      .getByRole('link', { name: 'Messenger accounts', exact: true })
      .click({ timeout: 5_000 })
      // The end of its stream of events may have told it before.
      .catch(() => undefined)
    await why.waitFor()
    await suspended.page.reload()
    await why.waitFor()
    t.same(await seriousIn(suspended.page), [])

    await row.getByRole('button', { name: said('users.unsuspend'), exact: true }).click()
    await dialog.getByRole('button', { name: said('users.unsuspend'), exact: true }).click()
    await row.getByText('Ticket 41').waitFor({ state: 'detached' })
    await suspended.page.getByRole('button', { name: 'Try again' }).click()
    await suspended.page
      .getByRole('link', { name: 'Messenger accounts', exact: true })
      .first()
      .waitFor()

    const support = await visit(browser, service)
    await signIn(support, service, '+14155559303')
    await support.page.goto(`${support.origin}/dashboard/users`)
    await support.page.locator('li.record', { hasText: '9302' }).waitFor()
    const suspending = { name: said('users.suspend'), exact: true }
    t.equal(await support.page.getByRole('button', suspending).count(), 0, 'support does not')
    t.same(operator.complaints, [])
  },
)
