/** What an open page says of things that are gone, and of a service that does not answer or asks to be left alone. */
import t from 'tap'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

t.test(
  'what is not known any more is not shown as if it were',
  { skip: noBrowser, timeout: 240_000 },
  async (t) => {
    const service = await startService(t)
    const phone = '+14155559551'
    const client = await service.client(phone)
    const ids: number[] = []
    for (const name of ['Ada', 'Bela', 'Cyrus']) {
      ids.push(await client.link(await client.person(name, `${name.toLowerCase()}_gone`)))
    }
    const [ada = 0, bela = 0] = ids
    const { api_key_id, key } = await client.key(bela)
    for (let call = 0; call < 60; call++) await client.bot(key, 'getMe')
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const visitor = await visit(browser, service)
    const { page, complaints } = visitor
    await signIn(visitor, service, phone)
    const again = page.getByRole('button', { name: 'Try again' })
    const leftAlone = {
      status: 429,
      json: {
        ok: false,
        error_code: 429,
        description: 'Too Many Requests: retry after 9',
        parameters: { retry_after: 9 },
      },
    }

    await t.test('an account that was deleted elsewhere', async () => {
      await page.goto(`/dashboard/accounts/${ada}`)
      await page.getByRole('heading', { name: 'Ada' }).waitFor()
      await client.result('DELETE', `/platforms/credentials/${ada}`)
      await page.getByText('It is not there, or it is not yours.').waitFor()
    })

    await t.test('what never was is called as it was asked for', async () => {
      for (const [place, name] of Object.entries({ accounts: 'Account some', keys: 'Key some' })) {
        await page.goto(`/dashboard/${place}/some`)
        await page.getByRole('heading', { name }).waitFor()
        await page.getByText('It is not there, or it is not yours.').waitFor()
      }
    })

    await t.test('a key while the service is away', async () => {
      await page.goto(`/dashboard/keys/${api_key_id}`)
      await page.getByText('About this key').waitFor()
      const calls = `**/api_keys/${api_key_id}`
      await page.route(calls, (route) => route.abort())
      await page.getByText('The service does not answer').first().waitFor({ timeout: 60_000 })
      await page.unroute(calls)
      await page.getByText('The service does not answer').waitFor({ state: 'detached' })
    })

    await t.test('more of a log, when it does not come', async () => {
      await page.goto(`/dashboard/keys/${api_key_id}?tab=requests`)
      const older = /api-requests\?.*before=/
      await page.route(older, (route) => route.fulfill(leftAlone))
      await page.getByRole('button', { name: 'Show more' }).click()
      await page.getByText('Too many requests. Try again in 9 s.').waitFor()
      await page.unroute(older)
      await page.getByRole('button', { name: 'Show more' }).click()
      await page.getByText('Too many requests').waitFor({ state: 'detached' })
    })

    await t.test('more of the accounts, which are asked for once', async (t) => {
      // While the stream comes up the list is read anew, which is another reason to ask.
      await page.goto('/dashboard')
      await page.getByText('Live', { exact: true }).waitFor()
      let asked = 0
      await page.route(/\/platforms\/credentials\?.*limit=250/, (route) => {
        const url = route.request().url()
        if (!url.includes('before=')) return route.continue({ url: url.replace('=250', '=1') })
        asked++
        return route.fulfill(leftAlone)
      })
      await page.getByRole('link', { name: 'Messenger accounts' }).click()
      await page.getByText('Too many requests. Try again in 9 s.').waitFor()
      await page.getByRole('link', { name: 'Cyrus' }).waitFor()
      // Time enough to ask many times.
      await page.waitForTimeout(1_000)
      t.equal(asked, 1)
      await page.unrouteAll()
      await again.click()
      await page.getByRole('link', { name: 'Bela' }).waitFor()
    })

    t.same(complaints, [])
  },
)
