/** A diagnosis that finds two faults: the serious one is the headline, and its evidence leads to where it can be seen. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

t.test('a stray getUpdates beside an endpoint that fails', { skip: noBrowser }, async (t) => {
  const service = await startService(t)
  const phone = '+14155559321'
  const client = await service.client(phone)
  const bot = await client.person('Shop', 'shop_bot')
  const friend = await client.person('Ada', 'ada_l')
  // Its name looks like a time and is none.
  const { api_key_id: id, key } = await client.result('POST', '/api_keys', {
    name: '2026-99-99T00:00Z',
    credential_id: await client.link(bot),
    scopes: ['bot:send', 'bot:receive'],
  })
  const receiver = createServer((request, response) => {
    request.resume()
    response.writeHead(500).end()
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  t.teardown(() => receiver.close())
  const { port } = receiver.address() as AddressInfo
  await client.bot(key, 'setWebhook', { url: `http://127.0.0.1:${port}/` })
  await client.write(friend.id, '@shop_bot', 'Hello')
  await until(
    async () => (await client.result('GET', `/api_keys/${id}`)).webhook.last_error_message,
  )
  t.match(await client.bot(key, 'getUpdates'), { status: 409 })

  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, service)
  const { page, context } = visitor
  await signIn(visitor, service, phone)
  await page.goto(`/dashboard/keys/${id}/diagnosis`)
  await page.getByRole('button', { name: 'Take all steps' }).click()

  await t.test('the endpoint is the headline, and one is one', async (t) => {
    await page.getByRole('heading', { name: 'Found: Webhook and backlog' }).waitFor()
    await page.getByText('getUpdates was refused 1 time in the last ten minutes').waitFor()
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy as text' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    const copied = (await page.evaluate('navigator.clipboard.readText()')) as string
    t.match(copied, /Wrong response from the webhook: 500 .+ \(\d+ \w+ \d{4}, \d\d:\d\d:\d\d \S+\)/)
    const [name] = copied.match(/"[^"]+"/) ?? []
    t.equal(name, '"2026-99-99T00:00Z"', 'what is no time is left as it is')
    t.notMatch(copied.replace(`${name}`, ''), /\dT\d\d:/, 'no time is as the service wrote it')
  })

  const address = page.url()
  await t.test('each line of evidence leads to where it can be seen', async () => {
    await page.getByRole('link', { name: /getUpdates was refused/ }).click()
    await page.waitForURL(`**/dashboard/keys/${id}?tab=requests&error_code=409`)
    await page.locator('.record', { hasText: 'getUpdates' }).first().waitFor()
    await page.goto(address)
    await page.getByRole('link', { name: /Wrong response from the webhook/ }).click()
    await page.waitForURL(`**/dashboard/keys/${id}?tab=deliveries&outcome=failed`)
    await page.locator('.record', { hasText: '500' }).first().waitFor()
    await page.goto(address)
    await page.getByRole('link', { name: 'The account is', exact: false }).click()
    await page.waitForURL('**/dashboard/accounts/*#timeline')
  })

  // The last one: all pages of the browser share the chosen language.
  await t.test('in Persian, too', async () => {
    const reader = await context.newPage()
    await reader.addInitScript("localStorage.setItem('chapar.language', 'fa')")
    await reader.goto(address)
    await reader.getByText('getUpdates ۱ بار رد شد').waitFor()
    await reader.close()
  })
})
