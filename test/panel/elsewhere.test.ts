/** What reaches an open page from elsewhere: a sign-out, a look away; and a page that is not encrypted. */
import t from 'tap'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

const skip = noBrowser

t.test('an open page follows what happens elsewhere', { skip, timeout: 240_000 }, async (t) => {
  const service = await startService(t)
  const phone = '+14155559501'
  const client = await service.client(phone)
  const bot = await client.person('Bot', 'far_bot')
  const credentialId = await client.link(bot)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, service)
  const { page } = visitor
  await signIn(visitor, service, phone)
  await page.goto(`/dashboard/accounts/${credentialId}`)
  await page.getByRole('button', { name: 'Show the chart' }).click()
  const live = page.getByText('Live', { exact: true })
  await live.waitFor()

  await t.test('who looks away for long gives the connection up, and misses nothing', async () => {
    const lit = (state: string) => page.locator(`.statechart .lit[data-state="${state}"]`).waitFor()
    // What was heard last is no longer true afterwards.
    await page.getByRole('button', { name: 'Restart', exact: true }).click()
    await page.locator('.timeline button', { hasText: 'credential.restart' }).waitFor()
    await lit('live.online')
    const turn = (state: 'hidden' | 'visible') =>
      page.evaluate(
        `Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true })
         document.dispatchEvent(new Event('visibilitychange'))`,
      )
    await turn('hidden')
    await page.getByText('Reconnecting').waitFor({ timeout: 90_000 })
    await client.result('PUT', `/sandbox/people/${bot.id}/faults/revoke`, {})
    await client.state(credentialId, 'logged_out', 60_000)
    await turn('visible')
    await live.waitFor()
    await lit('signedOut')
    await page.getByText('Link it again').first().waitFor()
  })

  await t.test('who is signed out elsewhere is led to the sign-in without a touch', async () => {
    const { items } = await client.result('GET', '/user/sessions')
    const there = items.find((one: { current: boolean }) => !one.current)
    await client.result('DELETE', `/user/sessions/${there.session_id}`)
    await page.waitForURL('**/login?next=**')
  })
  t.same(visitor.complaints, [])
})

t.test('a page without encryption says what that means', { skip, timeout: 120_000 }, async (t) => {
  const service = await startService(t)
  const browser = await openBrowser('--host-resolver-rules=MAP panel.test 127.0.0.1')
  t.teardown(() => browser.close())
  const { port } = new URL(service.url)
  const visitor = await visit(browser, service, { origin: `http://panel.test:${port}` })
  const { page } = visitor
  await signIn(visitor, service, '+14155559502')
  await page.getByText('Link your first messenger account').waitFor()
  await page.reload()
  await page.waitForURL('**/login?next=**')
  await page.getByText('a reload signs you out').waitFor()
})
