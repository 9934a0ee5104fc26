/** The charts of usage: axes, the figures under the pointer, the same as a table, a range, and a time to compare with. */
import type { Page, Route } from 'playwright-core'
import t, { type Test } from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { type Service, startService } from '../support/service.ts'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

const HOUR_MS = 3_600_000

/** Keeps back the figures of the time before; resolves with how to let them through, once they are asked for. */
async function holdBefore(page: Page): Promise<() => Promise<() => Promise<void>>> {
  const asked = Promise.withResolvers<Route>()
  const isBefore = ({ pathname, searchParams }: URL) =>
    pathname === '/user/usage' && Date.parse(searchParams.get('to') ?? '') < Date.now() - HOUR_MS
  await page.route(isBefore, (route) => asked.resolve(route))
  return async () => {
    const route = await asked.promise
    return async () => {
      await route.continue()
      await page.unroute(isBefore)
    }
  }
}

t.test('the usage of a key is charted', { skip: noBrowser, timeout: 240_000 }, async (t) => {
  const service = await startService(t)
  const phone = '+14155559371'
  const client = await service.client(phone)
  const key = await client.key(await client.link(await client.person('Bot')))
  for (const name of ['getMe', 'getMe', 'sendMessage']) await client.bot(key.key, name)
  // The service writes what it counts a moment later, and the page asks once.
  const usage = `/user/usage?api_key_id=${key.api_key_id}`
  await until(async () => (await client.result('GET', usage)).totals.requests === 3)
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

  await t.test('also where the system names no language that there is', async () => {
    const page = await visitor.context.newPage()
    await page.addInitScript(`Object.defineProperty(navigator, 'language', { value: 'C' })`)
    await page.goto(address)
    await page.locator('.plot canvas').waitFor()
    await page.close()
  })

  await t.test('the share of a method is text', async (t) => {
    const methods = page.getByRole('region', { name: 'Requests by method' }).getByRole('listitem')
    t.match(await methods.first().innerText(), /getMe\s+2\s+67%/)
    t.match(await methods.first().ariaSnapshot(), /67% of all/)
    t.match(await methods.nth(1).innerText(), /sendMessage\s+1\s+33%/)
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

  await t.test('nothing is compared with zeros while the time before is loading', async (t) => {
    const asked = await holdBefore(page)
    await page.goto(address)
    await page.getByRole('switch', { name: 'Compare with the time before' }).click()
    const letThrough = await asked()
    await page
      .getByRole('switch', { name: 'Compare with the time before', checked: true })
      .waitFor()
    await page.getByText('As a table').click()
    const heads = page.getByRole('table', { name: 'Requests' }).getByRole('columnheader')
    await heads.first().waitFor()
    t.same(await heads.allInnerTexts(), ['Requests', 'Errors'])
    t.equal(await page.locator('.legend', { hasText: 'The time before' }).count(), 0)
    await letThrough()
    await heads.filter({ hasText: 'The time before' }).waitFor()
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

  await t.test('days are those of the figures, wherever the reader is', async (t) => {
    const american = await visit(browser, service, { zone: 'America/New_York' })
    await signIn(american, service, phone)
    await american.page.goto(`${address}&range=30d`)
    await american.page.getByText('As a table').click()
    const days = american.page.getByRole('table', { name: 'Requests' }).getByRole('rowheader')
    await days.last().waitFor()
    t.equal(await days.count(), 30, 'no day counts for the time before, too')
    const inUtc = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
    t.equal(await days.last().innerText(), inUtc.format(Date.now()))
    await american.context.close()
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

const words = {
  en: {
    calls: 'Bot calls',
    management: 'Management calls',
    errors: 'Errors',
    received: 'Updates received',
    compare: 'Compare with the time before',
    before: 'The time before',
    table: 'As a table',
  },
  fa: {
    calls: 'فراخوانی‌های بات',
    management: 'فراخوانی‌های مدیریت',
    errors: 'خطاها',
    received: 'به‌روزرسانی‌های رسیده',
    compare: 'مقایسه با بازهٔ پیشین',
    before: 'بازهٔ پیشین',
    table: 'به‌شکل جدول',
  },
}

const latin = (text: string) =>
  text.replace(/[۰-۹]/g, (digit) => `${digit.charCodeAt(0) - '۰'.charCodeAt(0)}`)

/** Two calls of a bot, three updates for it, and twice as much a day before. */
async function trafficOf(t: Test, service: Service, phone: string) {
  const client = await service.client(phone)
  const ada = await client.person('Ada')
  const bot = await client.person('Bot', 'bot_traffic')
  const credentialId = await client.link(bot)
  const { key } = await client.key(credentialId)
  for (let n = 0; n < 2; n++) await client.bot(key, 'getMe')
  for (let n = 0; n < 3; n++) await client.write(ada.id, '@bot_traffic', `Hello ${n}`)
  const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => database.close())
  // Asked of the database, because whoever asks the service is counted, too.
  const counted = async (measure: string, label: string) => {
    const [row] = await database.query<{ amount: number }>(
      `select coalesce(sum(amount), 0)::int as amount from usage_total
        where measure = $1 and label = $2`,
      [measure, label],
    )
    return row?.amount ?? 0
  }
  await until(async () => (await counted('request', 'getMe')) === 2)
  await until(async () => (await counted('updates_received', '')) === 3)
  for (const [table, more] of [
    ['usage_total', ''],
    ['usage_hour', 'credential_id, api_key_id,'],
  ]) {
    await database.query(
      `insert into ${table} (user_id, hour, ${more} measure, label, amount)
       select user_id, hour - interval '1 day', ${more} measure, label, amount * 2 from ${table}`,
    )
  }
  return { credentialId, counted }
}

const bots = { skip: noBrowser, timeout: 240_000 }

t.test('the traffic of bots is charted, on the dashboard and of an account', bots, async (t) => {
  const service = await startService(t)
  const phone = '+14155559372'
  const { credentialId, counted } = await trafficOf(t, service, phone)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  for (const language of ['en', 'fa'] as const) {
    const said = words[language]
    const visitor = await visit(browser, service, { language })
    const { page, complaints } = visitor
    await signIn(visitor, service, phone)

    /** What stands at the newest bar under the pointer, and in the table of a compared chart. */
    const newest = async (title: string) => {
      await page.locator('.bars').scrollIntoViewIfNeeded()
      // A chart is drawn anew when its figures come.
      const pointed = await until(async () => {
        const box = await page.locator('.plot .u-over').boundingBox()
        if (!box) return undefined
        await page.mouse.move(box.x, box.y)
        await page.mouse.move(box.x + box.width - 4, box.y + box.height / 2)
        const [text] = await page.locator('.pointed').allInnerTexts()
        return text && latin(text)
      })
      const asked = await holdBefore(page)
      await page.getByRole('switch', { name: said.compare }).click()
      const letThrough = await asked()
      await page.getByText(said.table).click()
      const table = page.getByRole('table', { name: title })
      await table.waitFor()
      t.notMatch(await table.innerText(), said.before, 'nothing is compared with zeros')
      t.equal(await page.locator('.legend', { hasText: said.before }).count(), 0)
      await letThrough()
      await page.locator('.legend', { hasText: said.before }).waitFor()
      const row = table.getByRole('row').last()
      await until(async () => /\t[1-9]\d*$/.test(latin(await row.innerText())))
      t.strictSame(await seriousIn(page), [])
      return { pointed, row: latin(await row.innerText()) }
    }

    await t.test(`calls of the panel are counted apart, in ${language}`, async (t) => {
      const lost = () => counted('management_error', '404')
      const before = await lost()
      await page.goto('/dashboard/keys/999999')
      await until(async () => (await lost()) > before)
      await page.goto('/dashboard')
      const figure = (name: string) => page.locator('.figure', { hasText: name }).locator('dd')
      await figure(said.management).waitFor()
      t.equal(latin(await figure(said.calls).innerText()), '2')
      t.equal(latin(await figure(said.errors).innerText()), '0')
      t.ok(Number(latin(await figure(said.management).innerText())) > 0)
      const { pointed, row } = await newest(said.calls)
      t.match(pointed, new RegExp(`${said.calls}: 2\\s*${said.errors}: 0`))
      t.match(row, /\t2\t0\t4$/)
    })

    await t.test(`the updates of an account, in ${language}`, async (t) => {
      await page.goto(`/dashboard/accounts/${credentialId}`)
      const { pointed, row } = await newest(said.received)
      t.match(pointed, `${said.received}: 3`)
      t.match(row, /\t3\t\d\t6$/)
    })
    t.same(complaints, [])
    await visitor.context.close()
  }
})
