/** The charts of usage: axes, the figures under the pointer, the same as a table, a range, and a time to compare with. */
import t from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

t.test('the usage of a key is charted', { skip: noBrowser, timeout: 240_000 }, async (t) => {
  const service = await startService(t)
  const phone = '+14155559371'
  const client = await service.client(phone)
  const key = await client.key(await client.link(await client.person('Bot')))
  for (const name of ['getMe', 'getMe', 'sendMessage']) await client.bot(key.key, name)
  const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => database.close())
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, service)
  const { page, complaints } = visitor
  await signIn(visitor, service, phone)
  const address = `/dashboard/keys/${key.api_key_id}?tab=usage`
  const tile = (name: RegExp) => page.getByRole('button', { name })

  await t.test('one figure at a time, the others beside it', async () => {
    await page.goto(address)
    await tile(/^Requests/)
      .getByText('3', { exact: true })
      .waitFor()
    t.equal(await tile(/^Requests/).getAttribute('aria-pressed'), 'true')
    await page.locator('.plot canvas').waitFor()
    await tile(/^Errors/).click()
    await page.getByRole('button', { name: /^Errors/, pressed: true }).waitFor()
    t.equal(await tile(/^Errors/).getAttribute('aria-pressed'), 'true')
    t.match(page.url(), /figure=errors/)
    t.strictSame(await seriousIn(page), [])
  })

  await t.test('the bar under the pointer says what it is', async () => {
    await page.goto(address)
    const box = await page.locator('.plot .u-over').boundingBox()
    if (!box) throw new Error('no chart')
    await page.mouse.move(box.x + box.width - 4, box.y + box.height / 2)
    const pointed = page.locator('.pointed')
    await pointed.waitFor()
    t.match(await pointed.innerText(), /:00:00\s*Requests: 3\s*Errors: 1/)
    await page.mouse.move(0, 0)
    await pointed.waitFor({ state: 'detached' })
  })

  await t.test('by keyboard it is a table', async () => {
    await page.getByText('As a table').focus()
    await page.keyboard.press('Enter')
    const rows = page.getByRole('table', { name: 'Requests' }).getByRole('row')
    t.equal(await rows.count(), 25, 'a head, and 24 hours')
    t.match(await rows.last().innerText(), /:00:00\s+3\s+1/)
    t.strictSame(await seriousIn(page), [])
  })

  await t.test('a longer range, compared with as much time before it', async () => {
    await database.query(
      `update usage_hour set hour = hour - interval '40 days' where api_key_id = $1`,
      [key.api_key_id],
    )
    await page.getByLabel('Time range').selectOption({ label: 'Last 30 days' })
    await page.getByRole('switch', { name: 'Compare with the time before' }).click()
    await page.locator('.legend', { hasText: 'The time before' }).waitFor()
    t.match(page.url(), /range=30d/)
    await page.getByText('As a table').click()
    const table = page.getByRole('table', { name: 'Requests' })
    t.match(await table.innerText(), /\t0\t0\t3/, 'what was asked 40 days ago')
  })

  await t.test('in Persian, on a phone', async () => {
    const phoneVisitor = await visit(browser, service, {
      language: 'fa',
      width: 320,
      height: 700,
      theme: 'dark',
    })
    await signIn(phoneVisitor, service, phone)
    await phoneVisitor.page.goto(address)
    await phoneVisitor.page.locator('.plot canvas').waitFor()
    await phoneVisitor.page.getByText('به‌شکل جدول').waitFor()
    const isTooWide = await phoneVisitor.page.evaluate(
      'document.documentElement.scrollWidth > document.documentElement.clientWidth',
    )
    t.equal(isTooWide, false)
    t.strictSame(await seriousIn(phoneVisitor.page), [])
    t.same(phoneVisitor.complaints, [])
  })
  t.same(complaints, [])
})
