/** A webhook from the panel: it fails, is seen to fail, is repaired, and what was sent is sent again. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import type { Request } from 'playwright-core'
import t from 'tap'
import { until } from '../support/client.ts'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { dialogOf } from './dialog.ts'
import { panelScene } from './scene.ts'

t.test(
  'a failing webhook, its repair and a replay',
  { skip: noBrowser, timeout: 240_000 },
  async (t) => {
    const scene = await panelScene(t)
    const { client, friend, key } = scene
    let status = 500
    const texts: string[] = []
    const numbers = new Map<string, number>()
    const receiver = createServer(async (request, response) => {
      const update = JSON.parse(await text(request))
      if (status === 200 && update.message) {
        texts.push(update.message.text)
        numbers.set(update.message.text, update.update_id)
      }
      response.writeHead(status).end()
    })
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    t.teardown(() => receiver.close())
    const { port } = receiver.address() as AddressInfo

    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const visitor = await visit(browser, scene.service)
    const { page } = visitor
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    /** An attempt may also have taken 200 ms. */
    const arrived = page.locator('summary').filter({ has: page.getByText('200', { exact: true }) })
    await signIn(visitor, scene.service, scene.phone)
    await page.goto(`/dashboard/keys/${key.api_key_id}?tab=webhook`)

    await t.test('the test delivery tells that nobody answers well', async () => {
      await page.getByLabel('Address', { exact: true }).fill(`http://127.0.0.1:${port}/`)
      await button('Send a test').click()
      await page.getByText('Not delivered', { exact: true }).waitFor()
      await button('Set the webhook').click()
      await page.getByText('The webhook is set').first().waitFor()
    })

    await t.test('failed attempts are in the log, with what went wrong', async () => {
      await client.write(friend.id, '@support_bot', 'Are you there?')
      await page.getByRole('tab', { name: 'Deliveries' }).click()
      await page.locator('summary', { hasText: '500' }).first().click()
      await page.getByText('Next attempt').first().waitFor()
    })

    await t.test('what went over the wire is shown, and what is kept is chosen', async (t) => {
      await page.getByRole('heading', { name: 'Request', exact: true }).first().waitFor()
      await page.getByText('"text": "Good morning! Is the shop open today?"').first().waitFor()
      t.strictSame(await seriousIn(page), [])
      const choice = page.getByLabel('Headers and bodies of this key’s attempts')
      await choice.selectOption('all')
      const path = `/api_keys/${key.api_key_id}/webhook/exchanges?update_id=1`
      await until(async () => (await client.result('GET', path)).keep === 'all')
    })

    await t.test('the key is no longer shown as one that works', async () => {
      const failing = page.locator('.badge', { hasText: 'Webhook fails' })
      await failing.waitFor()
      await page.goto('/dashboard/keys')
      await failing.waitFor()
      const record = page.locator('.record').first()
      await record.filter({ hasNotText: `Account ${key.credential_id}` }).waitFor()
      await page.goto(`/dashboard/keys/${key.api_key_id}?tab=deliveries`)
    })

    await t.test('a diagnosis leads to the webhook', async () => {
      await page.getByRole('link', { name: 'Diagnose' }).click()
      await button('Take all steps').click()
      await page.getByRole('heading', { name: 'Found: Webhook and backlog' }).waitFor()
      await page.getByRole('link', { name: 'Open the webhook' }).click()
      await button('Change the webhook').waitFor()
      await page.getByRole('tab', { name: 'Deliveries' }).click()
    })

    await t.test('once repaired it arrives, and once more on request', async (t) => {
      status = 200
      await until(() => texts.includes('Are you there?'), 90_000)
      await arrived.first().waitFor()
      await page.locator('.badge', { hasText: 'Webhook fails' }).waitFor({ state: 'detached' })
      await page.getByRole('tab', { name: 'Overview' }).click()
      await page.getByText('deliveries succeed since').waitFor()
      await page.getByRole('tab', { name: 'Deliveries' }).click()
      texts.length = 0
      await button('Send again').click()
      const dialog = dialogOf(page)
      await dialog.getByText('0 updates will be sent.').waitFor()
      t.ok(await dialog.getByRole('button', { name: 'Send again' }).isDisabled(), 'none has failed')
      await page.getByLabel('Which updates').selectOption('numbers')
      await dialog.getByLabel('From', { exact: true }).fill('1')
      await dialog.getByText('2 updates will be sent.').waitFor()
      t.strictSame(await seriousIn(page), [])
      await dialog.getByRole('button', { name: 'Send again' }).click()
      await page.getByText('2 updates are sent again').first().waitFor()
      await until(() => texts.length >= 2, 60_000)
      t.same(texts.slice(0, 2), ['Good morning! Is the shop open today?', 'Are you there?'])
      await page.getByText('2 updates were sent again').waitFor()
    })

    await t.test('a single one is sent again at once', async (t) => {
      texts.length = 0
      const newest = page.locator('.records > li').first()
      await newest.locator('summary').first().click()
      await newest.getByRole('button', { name: 'Send this one again' }).click()
      await page.getByText('1 update is sent again').first().waitFor()
      await until(() => texts.length === 1, 60_000)
      await page.getByText('1 update was sent again').waitFor()
      t.equal(texts.length, 1)
      await page.reload()
      await page.getByText('1 update was sent again').waitFor()
    })

    await t.test('a view of the log can be passed on, and goes on from an attempt', async (t) => {
      await page.getByLabel('Outcome').selectOption('failed')
      await arrived.first().waitFor({ state: 'detached' })
      await page.reload()
      const failed = page.locator('.records > li', { hasText: '500' }).first()
      await failed.locator('summary').click()
      t.equal(await arrived.count(), 0)
      const update = await failed.locator('.label').innerText()
      await failed.getByRole('button', { name: 'All attempts at this update' }).click()
      // The address has the one choice before the next is added to it.
      await page.waitForURL(/[?&]update=\d/)
      await page.getByLabel('Outcome').selectOption('All')
      await arrived.first().waitFor()
      const others = page.locator('.records > li > details > summary.record').filter({
        has: page.locator('.label'),
        hasNotText: update,
      })
      await until(async () => (await others.count()) === 0)
      texts.length = 0
      const again = button('Send again from here on')
      if (!(await again.isVisible())) await page.locator('.records summary').first().click()
      await again.click()
      t.equal(
        `Update ${await dialogOf(page).getByLabel('From', { exact: true }).inputValue()}`,
        update,
      )
      await dialogOf(page).getByRole('button', { name: 'Send again' }).click()
      await until(() => texts.includes('Are you there?'), 60_000)
    })

    await t.test('deliveries are searched, and the search can be passed on', async (t) => {
      await page.goto(`/dashboard/keys/${key.api_key_id}?tab=deliveries`)
      const rows = page.locator('.records > li')
      await rows.nth(1).waitFor()
      await page.getByText('Search and filter').click()
      await page.getByLabel('Text in the update').fill('are YOU there')
      await until(async () => (await rows.count()) === 1)
      await rows.getByText('message').waitFor()
      t.ok(await button('Follow').isDisabled(), 'a search by content is not repeated by itself')
      await page.getByLabel('Kind of update').selectOption('poll')
      await page.getByText('No attempt matches the filter.').waitFor()
      await page.reload()
      t.equal(await page.getByLabel('Kind of update').inputValue(), 'poll')
      await page.getByLabel('Chat', { exact: true }).fill('somebody')
      await page.getByText('This form is not searched').waitFor()
      t.strictSame(await seriousIn(page), [])
      await button('Clear the filters').click()
      await rows.nth(1).waitFor()
      await page.getByLabel('Answer').selectOption('5xx')
      await until(async () => (await rows.allInnerTexts()).every((row) => /500/.test(row)))
      await rows.first().waitFor()
      await button('Clear the filters').click()
    })

    await t.test('the log is followed, until it is held still', async (t) => {
      const isLook = (request: Request) => request.url().includes('/user/logs/webhook-deliveries')
      await page.waitForURL((url) => url.search === '?tab=deliveries')
      await arrived.first().waitFor()
      for (const words of ['followed', 'once more']) {
        await client.write(friend.id, '@support_bot', words)
        const update = await until(() => numbers.get(words), 60_000)
        const row = page
          .locator('.records > li')
          .filter({ hasText: new RegExp(`Update ${update}\\b`) })
        await row.first().waitFor({ timeout: 60_000 })
      }
      await button('Pause').click()
      await button('Follow').waitFor()
      let looks = 0
      const count = (request: Request) => {
        if (isLook(request)) looks++
      }
      page.on('request', count)
      // Longer than the time between two looks.
      await setTimeout(6_000)
      page.off('request', count)
      t.equal(looks, 0, 'a log that is held still is not read')
      const again = page.waitForRequest(isLook)
      await button('Follow').click()
      t.ok(await again)
      await button('Pause').waitFor()
    })

    await t.test('from an update to the call that caused it, and back', async (t) => {
      await client.bot(key.key, 'sendMessage', { chat_id: friend.id, text: 'Coming' })
      await page.goto(`/dashboard/keys/${key.api_key_id}?tab=requests`)
      await page.getByText('Search and filter').click()
      await page.getByLabel('Method').fill('sendMessage')
      const rows = page.locator('.records > li')
      await until(async () => (await rows.allInnerTexts()).every((row) => /sendMessage/.test(row)))
      await rows.first().locator('summary').click()
      t.strictSame(await seriousIn(page), [])
      await rows.first().getByText('It caused no update that is still stored.').waitFor()
      const [asked] = (await client.result('GET', '/user/logs/api-requests?method=sendMessage'))
        .items
      await page.goto(
        `/dashboard/keys/${key.api_key_id}?tab=requests&request_id=${asked.request_id}`,
      )
      await rows.first().waitFor()
      t.equal(await rows.count(), 1)
    })

    await t.test('another address leaves the other terms of the webhook as they are', async (t) => {
      const path = `/api_keys/${key.api_key_id}/webhook`
      const url = `http://127.0.0.1:${port}/`
      await until(async () => {
        const { status } = await client.ask('PUT', path, { url, max_connections: 7 })
        return status === 200
      })
      await page.goto(`/dashboard/keys/${key.api_key_id}?tab=webhook`)
      await page.getByLabel('Address', { exact: true }).fill(`${url}moved`)
      await until(async () => {
        await button('Change the webhook').click()
        const { webhook } = await client.result('GET', `/api_keys/${key.api_key_id}`)
        return webhook.url.endsWith('moved')
      })
      const { webhook } = await client.result('GET', `/api_keys/${key.api_key_id}`)
      t.equal(webhook.max_connections, 7)
    })

    await t.test('one that fails is counted, and stopped', async () => {
      await page.goto(`/dashboard/keys/${key.api_key_id}?tab=deliveries`)
      status = 500
      const newest = page.locator('.records > li').first()
      await newest.locator('summary').first().click()
      await newest.getByRole('button', { name: 'Send this one again' }).click()
      await page.getByText('0 of 1 update sent again').waitFor()
      await newest.getByText('500').first().waitFor()
      await button('Send again').click()
      const dialog = dialogOf(page)
      await dialog.getByText('1 update will be sent.').waitFor()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await button('Stop').click()
      await page.getByText('Stopped after 0 of 1 update').waitFor()
      status = 200
    })

    await t.test('signing out everywhere reaches this browser too', async () => {
      await page.goto('/dashboard/account')
      await button('Sign out everywhere').click()
      const confirm = dialogOf(page).getByRole('button').last()
      await confirm.click()
      await page.waitForURL('**/login**')
    })
    t.same(visitor.complaints, [])
  },
)
