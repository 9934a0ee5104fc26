/** Keys in the browser: of which account they are, changed after they were made, and told when they are over. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

const LONG = `${'a very long name '.repeat(5)}of a key`

t.test(
  'a key is made for any account and changed later',
  { skip: noBrowser, timeout: 240_000 },
  async (t) => {
    const service = await startService(t)
    const phone = '+14155559501'
    const client = await service.client(phone)
    const ids: number[] = []
    for (const name of ['Ada', 'Bela', 'Cyrus', 'Darya']) {
      ids.push(await client.link(await client.person(name, `${name.toLowerCase()}_keys`)))
    }
    const [ada = 0] = ids
    const scopes = ['bot:send']
    await client.result('POST', '/api_keys', { name: LONG, credential_id: ada, scopes })
    const brief = await client.result('POST', '/api_keys', {
      name: 'brief',
      credential_id: ada,
      scopes,
    })
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const visitor = await visit(browser, service, { width: 390, height: 844 })
    const { page, complaints } = visitor
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    await signIn(visitor, service, phone)

    await t.test('an account that is not in the list at hand is chosen nevertheless', async (t) => {
      // As with more accounts than one list holds.
      await page.route(/\/platforms\/credentials\?limit=200/, (route) =>
        route.continue({ url: route.request().url().replace('limit=200', 'limit=2') }),
      )
      await page.goto(`/dashboard/keys?create=${ada}`)
      const account = page.getByLabel('Account', { exact: true })
      const chosen = account.locator('option:checked')
      await chosen.filter({ hasText: 'Ada' }).waitFor({ state: 'attached' })
      await page.getByLabel(/^Find an account/).fill('bela')
      await account.locator('option', { hasText: 'Bela' }).waitFor({ state: 'attached' })
      t.match(await chosen.innerText(), 'Ada', 'a search changes no choice')
      await account.selectOption(`${ids[1]}`)
      await page.getByLabel('Name', { exact: true }).fill("Bela's")
      await button('Make the key').click()
      await page.getByText('This is the only time').waitFor()
      await button('I have kept it').click()
      const { items } = await client.result('GET', '/api_keys')
      t.match(items[0], { name: "Bela's", credential_id: ids[1], expires_at: null })
      const made = page.getByRole('link', { name: /Bela's/ })
      await made.filter({ hasText: '\u2068Bela\u2069' }).waitFor()
    })

    await t.test('what the choice has read does not disturb what is told live', async (t) => {
      let streams = 0
      page.on('request', (request) => {
        if (request.url().endsWith('/platforms/credentials/events')) streams++
      })
      await button('Menu').click()
      await page.getByRole('link', { name: 'Messenger accounts' }).click()
      await page.getByText('Live', { exact: true }).waitFor()
      await client.result('POST', `/platforms/credentials/${ada}/restart`)
      await until(async () => {
        const answer = await client.result('GET', `/platforms/credentials/${ada}/transitions`)
        return answer.items[0].event === 'probe.passed'
      })
      await client.result('DELETE', `/platforms/credentials/${ids[3]}`)
      await page.getByText('3 accounts').waitFor()
      t.equal(streams, 0, 'nothing was followed anew')
    })

    await t.test('a key that has expired says so, and works on with another expiry', async (t) => {
      await client.result('PATCH', `/api_keys/${brief.api_key_id}`, {
        expires_at: new Date(Date.now() + 5_000).toISOString(),
      })
      // As a rule before it has expired.
      await page.goto('/dashboard/keys')
      await page.getByRole('link', { name: /brief/ }).getByText('Expired').waitFor()
      await page.goto(`/dashboard/keys/${brief.api_key_id}`)
      t.equal((await client.bot(brief.key, 'getMe')).status, 401)
      await button('Change').click()
      await page.getByLabel('Name', { exact: true }).fill('not so brief')
      await page.getByLabel('bot:receive').check()
      await page.getByLabel('How long it works').selectOption('Until it is revoked')
      await button('Save').click()
      await page.getByRole('heading', { name: 'not so brief' }).waitFor()
      await page.locator('.badge', { hasText: /^Usable$/ }).waitFor()
      t.match(await client.result('GET', `/api_keys/${brief.api_key_id}`), {
        name: 'not so brief',
        scopes: ['bot:send', 'bot:receive'],
        expires_at: null,
      })
      await until(async () => (await client.bot(brief.key, 'getMe')).status === 200)
    })

    await t.test(
      'keys are searched, and those with trouble or at their end are chosen',
      async (t) => {
        await page.goto('/dashboard/keys')
        await page.getByRole('link', { name: /Bela's/ }).waitFor()
        await page.getByLabel('Search by name, hint or account').fill('bela')
        await page.waitForURL('**/dashboard/keys?search=bela')
        await page.getByRole('link', { name: /not so brief/ }).waitFor({ state: 'detached' })
        await page.getByRole('link', { name: /Bela's/ }).waitFor()
        await page.getByLabel('Show').selectOption('Revoked keys')
        await page.getByText('No such key').waitFor()
        await button('Clear the filters').click()
        await page.getByRole('link', { name: /not so brief/ }).waitFor()
        t.equal(await page.getByLabel('Search by name, hint or account').inputValue(), '')
        await page.getByLabel('Show').selectOption('Webhook fails')
        await page.waitForURL('**/dashboard/keys?trouble=webhook')
        await page.getByText('No such key').waitFor()
      },
    )

    await t.test('letters that are not searched yet are gone once something else is', async (t) => {
      const search = page.getByRole('searchbox')
      const searched = () => new URL(page.url()).search
      // Faster than anybody types.
      const typeAndClick = (words: string, place: string) =>
        page.evaluate(`(() => {
          const input = document.querySelector('input[type=search]')
          const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')
          set.call(input, ${JSON.stringify(words)})
          input.dispatchEvent(new Event('input', { bubbles: true }))
          const places = [...document.querySelectorAll('button, a')]
          places.find(({ textContent }) => textContent.trim() === ${JSON.stringify(place)}).click()
        })()`)
      await typeAndClick('zzz', 'Clear the filters')
      await page.getByRole('link', { name: /not so brief/ }).waitFor()
      await page.waitForTimeout(1_000)
      t.same([searched(), await search.inputValue()], ['', ''])

      // The next page takes a while to come.
      await page.reload()
      await page.getByRole('link', { name: /not so brief/ }).waitFor()
      await page.route(/\.js$/, async (route) => {
        await pause(1_000)
        await route.continue()
      })
      await typeAndClick('zzz', 'Messenger accounts')
      await page.waitForURL('**/dashboard/accounts')
      await page.getByRole('heading', { name: 'Messenger accounts' }).waitFor()
      await page.waitForTimeout(1_000)
      t.same([new URL(page.url()).pathname, searched()], ['/dashboard/accounts', ''])
      await page.unrouteAll({ behavior: 'wait' })

      // A link within the page.
      await page.getByRole('link', { name: 'Bela' }).waitFor()
      await typeAndClick('zzz', 'Messenger accounts')
      await page.waitForTimeout(1_000)
      t.same([searched(), await search.inputValue()], ['', ''])
      await page.goto('/dashboard/keys')
    })

    await t.test('in Persian, a name in other digits and letters is found', async (t) => {
      await client.result('POST', '/api_keys', { name: 'Café 27', credential_id: ada, scopes })
      const persian = await visit(browser, service, { language: 'fa', width: 390, height: 844 })
      await signIn(persian, service, phone)
      await persian.page.goto('/dashboard/keys')
      await persian.page.getByRole('link', { name: /Bela's/ }).waitFor()
      await persian.page.getByLabel('جستجو با نام، نشانه یا حساب').fill('cafe ۲۷')
      await persian.page.getByRole('link', { name: /Bela's/ }).waitFor({ state: 'detached' })
      await persian.page.getByRole('link', { name: /Café 27/ }).waitFor()
      t.same(persian.complaints, [])
      await persian.context.close()
    })

    await t.test('a page asks for the keys that it shows', async (t) => {
      const asked: string[] = []
      page.on('request', (request) => {
        const { pathname, search } = new URL(request.url())
        if (pathname === '/api_keys') asked.push(search)
      })
      await page.goto(`/dashboard/accounts/${ada}`)
      await page.getByRole('link', { name: /not so brief/ }).waitFor()
      t.same(new Set(asked), new Set([`?credential_id=${ada}&revoked=false&limit=1000`]))
    })

    await t.test('a long name is cut off, not the page', async (t) => {
      for (const address of ['/dashboard/keys', `/dashboard/accounts/${ada}`]) {
        await page.goto(address)
        await page.getByRole('link', { name: new RegExp(LONG) }).waitFor()
        const reach = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        t.equal(reach, 0, address)
      }
    })

    await t.test('it is told when updates were last dropped', async () => {
      const dropped_at = '2026-03-21T08:30:00.000Z'
      await page.route(`**/api_keys/${brief.api_key_id}`, async (route) => {
        const response = await route.fetch()
        const { result, ...rest } = await response.json()
        const json = { ...rest, result: { ...result, dropped_update_count: 3, dropped_at } }
        await route.fulfill({ response, json })
      })
      await page.goto(`/dashboard/keys/${brief.api_key_id}`)
      const notice = page.locator('.notice', { hasText: '3 updates were dropped unread' })
      await notice.locator(`time[datetime="${dropped_at}"]`).waitFor()
    })

    t.same(complaints, [])
  },
)
