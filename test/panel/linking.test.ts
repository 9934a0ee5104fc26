/** Linking when something comes in between, and deleting what was linked. */
import t from 'tap'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

t.test(
  'a link flow loses nothing that was typed or meant',
  { skip: noBrowser, timeout: 240_000 },
  async (t) => {
    const service = await startService(t)
    const phone = '+14155559541'
    const client = await service.client(phone)
    const person = await client.person('😀 سلام')
    const credentialId = await client.link(person)
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const visitor = await visit(browser, service)
    const { page, complaints } = visitor
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const code = page.locator('input[name=code]')
    const again = `/dashboard/link?platform=sandbox&again=${credentialId}`
    const start = async () => {
      await page.locator('p .ltr').getByText(person.phone).waitFor()
      t.equal(await page.getByLabel('Phone of the account').inputValue(), person.phone)
      await button('Start').click()
      await code.waitFor()
    }
    await signIn(visitor, service, phone)

    await t.test('what is linked again stays the same account when it is begun anew', async (t) => {
      await page.goto(again)
      await start()
      await button('Cancel linking').click()
      await page.getByRole('link', { name: 'Start again' }).click()
      await page.getByRole('heading', { name: 'Link the account again' }).waitFor()
      t.match(page.url(), again)
    })

    await t.test('a code that did not get through is still there', async (t) => {
      await start()
      await page.route('**/link/verify', (route) => route.abort())
      await code.fill('12345')
      await button('Continue').click()
      await page.getByText('The service does not answer').waitFor()
      t.equal(await code.inputValue(), '12345')
      await page.unroute('**/link/verify')
      await button('Continue').click()
      await page.getByText('The code is wrong').waitFor()
      t.equal(await code.inputValue(), '')
    })

    await t.test('a flow that is gone leads to a new one', async () => {
      await page.goto('/dashboard/link/sandbox/AAAAAAAAAAAAAAAAAAAAAA')
      await page.getByText('It is not there, or it is not yours.').waitFor()
      await page.getByRole('link', { name: 'Start again' }).click()
      await page.getByLabel('Phone of the account').waitFor()
    })

    await t.test(
      'what may be done with the webhook of a bot is agreed to by a switch',
      async (t) => {
        await page.goto('/dashboard/link?platform=telegram-bot')
        await page.getByLabel('Token').fill('123456:ABC-DEF1234ghIkl')
        await page.getByRole('switch', { name: 'Delete the webhook' }).click()
        const given: unknown[] = []
        await page.route('**/link/start', (route) => {
          given.push(route.request().postDataJSON())
          return route.fulfill({
            status: 403,
            json: {
              ok: false,
              error_code: 403,
              description: 'Forbidden: Telegram bots refused the token',
            },
          })
        })
        await button('Start').click()
        await page.getByText('Telegram bots refused the token').waitFor()
        t.same(given, [
          { method: 'token', token: '123456:ABC-DEF1234ghIkl', delete_webhook: 'true' },
        ])
        await page.unroute('**/link/start')
      },
    )

    await t.test('an account is deleted by something that everybody can type', async () => {
      await page.goto(`/dashboard/accounts/${credentialId}`)
      await button('Delete').click()
      await page.getByLabel(/^Type/).fill(`${credentialId}`)
      await button('Cancel').click()
      await button('Delete').click()
      await page
        .getByRole('dialog')
        .getByRole('button', { name: 'Delete', disabled: true })
        .waitFor()
      const inPersian = (digit: string) => String.fromCharCode(0x06f0 + Number(digit))
      await page.getByLabel(/^Type/).fill(`${credentialId}`.replace(/\d/g, inPersian))
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.getByText('The account is deleted').first().waitFor()
    })

    t.same(complaints, [])
  },
)
