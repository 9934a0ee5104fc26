/** The small things: a quiet start, dense lists, a key that says what is wrong with it, and a sandbox that remembers. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

const packageFile = new URL('../../package.json', import.meta.url)

t.test('what makes the panel pleasant', { skip: noBrowser, timeout: 300_000 }, async (t) => {
  const service = await startService(t)
  const phone = '+14155559381'
  const client = await service.client(phone)
  const bot = await client.person('Shop', 'shop_bot')
  const ada = await client.person('Ada', 'ada_l')
  const eve = await client.person('Eve', 'eve_l')
  const credentialId = await client.link(bot)
  const { api_key_id: id, key } = await client.key(credentialId)
  const receiver = createServer((request, response) => {
    request.resume()
    response.writeHead(500).end()
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.teardown(() => receiver.close())
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`

  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, service)
  const { page, context, complaints } = visitor
  const button = (name: string | RegExp) => page.getByRole('button', { name })

  await t.test('the first page logs nothing in the console', async (t) => {
    const logged: string[] = []
    page.on('console', (message) => logged.push(message.text()))
    await page.goto('/')
    await page.locator('input[name=phone]').waitFor()
    t.same(logged, [])
  })
  await signIn(visitor, service, phone)

  await t.test('lists are dense on demand, also after a reload', async (t) => {
    await page.goto('/dashboard/keys')
    const row = page.locator('.records .record').first()
    await row.waitFor()
    const before = (await row.boundingBox())?.height ?? 0
    await button('Density').click()
    await page.getByRole('menuitemradio', { name: 'Dense lists' }).click()
    await until(async () => ((await row.boundingBox())?.height ?? before) < before)
    await page.reload()
    await row.waitFor()
    t.ok(((await row.boundingBox())?.height ?? before) < before)
    t.strictSame(await seriousIn(page), [])
  })

  await t.test(
    'the list of accounts is dense as well, at once and without cut letters',
    async (t) => {
      await page.goto('/dashboard/accounts')
      const row = page.locator('.table .line').first()
      await row.waitFor()
      const heights = async () => ({
        row: (await row.boundingBox())?.height,
        list: (await page.locator('.table [role=rowgroup]').boundingBox())?.height,
        content: await page.evaluate<number>(
          `Math.max(...[...document.querySelectorAll('.table .line > *')].map((cell) => cell.scrollHeight))`,
        ),
      })
      const choose = async (name: string) => {
        await button('Density').focus()
        await page.keyboard.press('Enter')
        await page.getByRole('menuitemradio', { name }).focus()
        await page.keyboard.press('Enter')
        await page.keyboard.press('Escape')
      }
      t.match(await heights(), { row: 40, list: 40 })
      await choose('Roomy lists')
      await until(async () => (await heights()).list === 60)
      await choose('Dense lists')
      await until(async () => (await heights()).list === 40)
      await page.setViewportSize({ width: 320, height: 700 })
      const { row: height, content } = await heights()
      t.ok(content <= (height ?? 0), `${content} px of content`)
      t.strictSame(await seriousIn(page), [])
      await page.setViewportSize({ width: 1_280, height: 800 })
    },
  )

  await t.test('alerts are two keys away', async () => {
    await page.keyboard.press('g')
    await page.keyboard.press('i')
    await page.waitForURL('**/dashboard/alerts')
  })

  await t.test('where one fills in, selects are as wide as inputs', async (t) => {
    for (const [address, input, ...selects] of [
      [`/dashboard/keys?create=${credentialId}`, 'Name', 'Account', 'How long it works'],
      ['/dashboard/link?platform=sandbox', 'Phone of the account', 'Person of your sandbox'],
      ['/dashboard/alerts', 'Webhook', 'Key that writes into a chat'],
    ] as const) {
      await page.goto(address)
      const width = async (label: string) => {
        const box = await page.getByLabel(label, { exact: true }).boundingBox()
        return Math.round(box?.width ?? 0)
      }
      await page.getByLabel(input, { exact: true }).waitFor()
      for (const select of selects) t.equal(await width(select), await width(input), select)
    }
  })

  await t.test(
    'a key shows where its bot has to call, and what it confirmed once it did',
    async (t) => {
      await page.goto(`/dashboard/keys/${id}`)
      await page.getByText('Waiting updates').first().waitFor()
      t.equal(await page.getByText('Confirmed up to').count(), 0)
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await page
        .locator('dd', { hasText: visitor.origin })
        .getByRole('button', { name: 'Copy' })
        .click()
      await button('Copied').waitFor()
      t.equal(await page.evaluate('navigator.clipboard.readText()'), visitor.origin)
      await page.locator('summary', { hasText: 'First lines of a bot' }).first().click()
      await page.getByText("new Bot('<KEY>'").waitFor()
      await client.write(ada.id, '@shop_bot', 'Good morning')
      const { body } = await client.bot(key, 'getUpdates', { timeout: 20 })
      const confirmed = body.result[0].update_id
      await client.bot(key, 'getUpdates', { offset: confirmed + 1 })
      await page
        .locator('.figure', { hasText: 'Confirmed up to' })
        .getByText(`${confirmed}`)
        .waitFor()
    },
  )

  await t.test(
    'help stands where one hesitates, and the foot leads to the documentation',
    async (t) => {
      await button('What does that mean: Scopes').click()
      await page.getByText('is refused with 403').waitFor()
      t.strictSame(await seriousIn(page), [])
      await page.keyboard.press('Escape')
      await page.getByText('is refused with 403').waitFor({ state: 'hidden' })
      await page.getByRole('status').filter({ hasText: 'All works' }).waitFor({ timeout: 90_000 })
      const { version } = JSON.parse(await readFile(packageFile, 'utf8'))
      await page.getByText(`Chapar ${version}`).waitFor()
      const docs = page.getByRole('link', { name: 'Documentation' })
      t.equal(await docs.getAttribute('href'), '/docs')
      const machines = page.getByRole('link', { name: 'openapi.json' })
      t.equal(await machines.getAttribute('href'), '/openapi.json')
      t.equal((await page.request.get('/openapi.json')).status(), 200)
    },
  )

  await t.test('the webhook is set with all its terms', async (t) => {
    await page.getByRole('tab', { name: 'Webhook' }).click()
    await page.getByLabel('Address', { exact: true }).fill(address)
    await page.getByText('Kinds of updates, connections, what waits').click()
    await page.getByLabel('Kinds of updates', { exact: true }).fill('message, callback_query')
    await page.getByLabel('Headers of your own').fill('X-Tenant: seven\nX-Stage: test: 1')
    await page.getByLabel('Deliveries at once, at most').fill('7')
    await button('Set the webhook').click()
    await page.getByText('The webhook is set').first().waitFor()
    const { webhook } = await client.result('GET', `/api_keys/${id}`)
    t.same(webhook.header_names, ['x-tenant', 'x-stage'])
    t.match(webhook, { max_connections: 7, allowed_updates: ['message', 'callback_query'] })
    await client.write(ada.id, '@shop_bot', 'Hello')
  })

  await t.test('while it fails the key is not called usable, and the tab says why', async (t) => {
    await until(async () => {
      const { webhook } = await client.result('GET', `/api_keys/${id}`)
      return webhook.failing_since !== undefined && webhook.state === 'resting'
    }, 90_000)
    await page.reload()
    await page.locator('.badge', { hasText: 'Webhook fails' }).waitFor()
    t.equal(await page.getByText('Usable', { exact: true }).count(), 0)
    await page.getByText('Wrong response from the webhook: 500').first().waitFor()
    t.strictSame(await seriousIn(page), [])
    const stopped = await page.context().newPage()
    await stopped.route(`**/api_keys/${id}`, async (route) => {
      const response = await route.fetch()
      const answer = await response.json()
      answer.result.webhook.state = 'suspended'
      await route.fulfill({ response, json: answer })
    })
    await stopped.goto(page.url())
    await stopped.locator('.badge', { hasText: 'Webhook stopped' }).waitFor()
    await stopped.getByText('Deliveries stopped after a week of failures').waitFor()
    await stopped.close()
    const reader = await page.context().newPage()
    await reader.addInitScript("localStorage.setItem('chapar.language', 'fa')")
    await reader.setViewportSize({ width: 320, height: 700 })
    await reader.goto(page.url())
    const lines = reader.getByLabel('سرآیندهای خودتان')
    await lines.waitFor()
    t.equal(await lines.inputValue(), 'x-tenant:\nx-stage:', 'names without values')
    const isTooWide = await reader.evaluate(
      'document.documentElement.scrollWidth > document.documentElement.clientWidth',
    )
    t.equal(isTooWide, false)
    t.strictSame(await seriousIn(reader), [])
    await reader.evaluate("localStorage.setItem('chapar.language', 'en')")
    await reader.close()
  })

  await t.test(
    'what waits is dropped by the change that says so, and by no later one',
    async (t) => {
      const stored = async () => (await client.result('GET', `/api_keys/${id}`)).webhook
      const change = async () => {
        const request = page.waitForRequest((one) => one.method() === 'PUT')
        await button('Change the webhook').click()
        return (await request).postDataJSON()
      }
      const kinds = page.getByLabel('Kinds of updates', { exact: true })
      await kinds.fill('')
      await page.getByText('Emptied: the usual ones.').waitFor()
      t.ok(await kinds.isVisible(), 'what is typed in stays open')
      await kinds.fill('message, callback_query')
      await page.getByRole('switch', { name: 'Drop what waits' }).click()
      await page.getByLabel('Address', { exact: true }).fill(`${address}dropped`)
      const first = await change()
      t.match(first, { drop_pending_updates: true })
      t.same(first.headers, [{ name: 'x-tenant' }, { name: 'x-stage' }], 'values stay as stored')
      t.notOk('allowed_updates' in first, 'kinds that are as they were are not sent')
      await until(async () => (await stored()).url.endsWith('dropped'))
      await page.getByRole('switch', { name: 'Drop what waits', checked: false }).waitFor()
      await until(async () => (await stored()).pending_update_count === 0)
      await client.write(ada.id, '@shop_bot', 'It waits')
      await until(async () => (await stored()).pending_update_count === 1)
      await page.getByLabel('Address', { exact: true }).fill(`${address}moved`)
      t.match(await change(), { drop_pending_updates: false })
      await until(async () => (await stored()).url.endsWith('moved'))
      t.match(await stored(), {
        pending_update_count: 1,
        allowed_updates: ['message', 'callback_query'],
      })
      await client.bot(key, 'deleteWebhook')
    },
  )

  await t.test('the kinds that a polling bot chose are kept by its first webhook', async (t) => {
    await client.bot(key, 'getUpdates', { allowed_updates: ['poll'] })
    await page.goto(`/dashboard/keys/${id}?tab=webhook`)
    await page.getByLabel('Address', { exact: true }).fill(address)
    await button('Set the webhook').click()
    await button('Change the webhook').waitFor()
    const { webhook } = await client.result('GET', `/api_keys/${id}`)
    t.strictSame(webhook.allowed_updates, ['poll'])
    await client.bot(key, 'deleteWebhook')
  })

  await t.test('an account shows its tags', async () => {
    await client.result('POST', '/platforms/credentials/tags', {
      credential_ids: [credentialId],
      add: ['vip'],
      remove: [],
    })
    await page.goto(`/dashboard/accounts/${credentialId}`)
    await page.getByRole('link', { name: '#vip' }).click()
    await page.waitForURL('**/dashboard/accounts?tag=vip')
  })

  await t.test('a draft and as whom one acted survive a reload', async (t) => {
    await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${bot.id}`)
    const text = page.getByRole('textbox', { name: 'Write a message' })
    await text.fill('not sent yet')
    await page.reload()
    t.equal(await text.inputValue(), 'not sent yet')
    await page.getByLabel('Act as').selectOption(`${eve.id}`)
    await page.goto('/dashboard/sandbox')
    const acting = page.getByLabel('Act as')
    await acting.waitFor()
    t.equal(await acting.inputValue(), `${eve.id}`)
  })

  await t.test('in Persian amounts have Persian units', async (t) => {
    const reader = await context.newPage()
    await reader.addInitScript("localStorage.setItem('chapar.language', 'fa')")
    await reader.goto(`/dashboard/keys/${id}?tab=usage`)
    await reader.getByText('بایت').first().waitFor()
    await reader.getByText('همه چیز کار می‌کند').waitFor({ timeout: 90_000 })
    t.notMatch(await reader.locator('main').innerText(), /\b(kB|byte)\b/)
    await reader.close()
  })

  await t.test('no draft outlives the session, though the sandbox is not open', async (t) => {
    const drafts = async () => `${await page.evaluate("sessionStorage.getItem('chapar.drafts')")}`
    t.match(await drafts(), 'not sent yet')
    await context.clearCookies()
    await page.goto('/dashboard/keys')
    await page.waitForURL('**/login**')
    t.notMatch(await drafts(), 'not sent yet')
  })
  t.same(complaints, [])
})
