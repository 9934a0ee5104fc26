/** Signing in over a reload, and what the next user of a tab is shown of the one before: nothing. */
import t from 'tap'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

t.test(
  'a code can be entered after a reload, and a tab forgets who left',
  { skip: noBrowser, timeout: 240_000 },
  async (t) => {
    const service = await startService(t)
    const [first, second] = ['+14155559521', '+14155559522']
    const client = await service.client(first)
    const key = await client.key(await client.link(await client.person('Ada', 'ada_tab')))
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const visitor = await visit(browser, service)
    const { page, complaints } = visitor
    const phone = page.locator('input[name=phone]')
    const code = page.locator('input[name=otp]')
    const submit = page.locator('button[type=submit]')

    await t.test('the code that was sent is still waited for', async () => {
      await page.goto('/login')
      await phone.fill(second)
      await page.route('**/auth/sendOtp', (route) => route.abort())
      await submit.click()
      await page.getByText('The service does not answer').waitFor()
      await page.unroute('**/auth/sendOtp')
      await submit.click()
      await code.waitFor()
      await page.reload()
      await page.getByText(second).waitFor()
      await code.fill(await service.code(second))
      await submit.click()
      await page.getByText('Link your first messenger account').waitFor()
      await page.getByRole('button', { name: /Sign out/ }).click()
      await phone.waitFor()
      await page.reload()
      await phone.waitFor()
    })

    await t.test('who was signed out elsewhere leaves nothing behind', async () => {
      await signIn(visitor, service, first)
      await page.getByRole('link', { name: 'API keys' }).click()
      await page.getByRole('link', { name: /test/ }).click()
      await page.getByText(key.key_hint).waitFor()
      const { items } = await client.result('GET', '/user/sessions')
      for (const { session_id, current } of items) {
        if (!current) await client.result('DELETE', `/user/sessions/${session_id}`)
      }
      await phone.fill(second)
      await submit.click()
      await code.fill(await service.code(second))
      await submit.click()
      await page.getByText('It is not there, or it is not yours.').waitFor()
    })

    t.same(complaints, [])
  },
)
