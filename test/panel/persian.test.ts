/** The jobs of an operator in Persian: a delivery that fails, a diagnosis, a timeline, a key shown once, a text being written. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Route } from 'playwright-core'
import t from 'tap'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { panelScene, troubled } from './scene.ts'

const folder = join(import.meta.dirname, '../../src/panel/i18n/fa')
const words: Readonly<Record<string, string>> = Object.assign(
  {},
  ...['common', 'keys', 'diagnosis', 'credentials', 'sandbox', 'facts'].map((area) =>
    JSON.parse(readFileSync(join(folder, `${area}.json`), 'utf8')),
  ),
)
const numbers = new Intl.NumberFormat('fa-IR')

/** A message of the Persian catalogue with its values, as the panel shows it. */
function said(key: string, values: Readonly<Record<string, string | number>> = {}): string {
  const message = words[key]
  if (message === undefined) throw new Error(`no message ${key}`)
  return message.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name] ?? whole
    return typeof value === 'number' ? numbers.format(value) : value
  })
}

t.test('an operator works in Persian', { skip: noBrowser, timeout: 240_000 }, async (t) => {
  const scene = await panelScene(t)
  const { service, friend, bot, goneId, gonesKey, credentialId } = scene
  const { deliveries } = await troubled(t, scene)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, service, { language: 'fa' })
  const { page } = visitor
  const button = (key: string) => page.getByRole('button', { name: said(key), exact: true })
  const dialog = page.locator('.dialog')
  await signIn(visitor, service, scene.phone)
  t.equal(await page.locator('html').getAttribute('dir'), 'rtl')

  await t.test('a delivery that fails is opened, and sent again', async (t) => {
    await page.goto(deliveries)
    await page.locator('.records summary', { hasText: '503' }).first().click()
    await page.getByText(said('deliveries.next')).first().waitFor()
    t.same(await seriousIn(page), [])
    await button('resend.title').click()
    await dialog.getByText(said('resend.count.one', { count: 1 })).waitFor()
    await dialog.getByRole('button', { name: said('resend.go'), exact: true }).click()
    await page
      .getByText(said('resend.begun.one', { count: 1 }))
      .first()
      .waitFor()
  })

  await t.test('a diagnosis finds what is wrong', async () => {
    await page.goto(`/dashboard/keys/${gonesKey.api_key_id}/diagnosis`)
    await button('diagnosis.all').click()
    const step = said('diagnosis.step.credential')
    await page.getByRole('heading', { name: said('diagnosis.found', { step }) }).waitFor()
    await page.locator('.step.failed').first().waitFor()
  })

  await t.test('the timeline of an account tells why it is out', async (t) => {
    await page.goto(`/dashboard/accounts/${goneId}`)
    const timeline = page.getByRole('region', { name: said('account.timeline') })
    await timeline.getByText('پایان یافت').first().waitFor()
    await page.getByLabel(said('account.timeline.filter')).selectOption({
      label: said('account.timeline.trouble'),
    })
    await timeline.getByText('پایان یافت').first().waitFor()
    t.notMatch(await timeline.innerText(), /logged_out|session_revoked|\bafter\b/)
  })

  await t.test('a key that is shown once stays until it is kept', async (t) => {
    await page.goto(`/dashboard/keys?create=${credentialId}`)
    await dialog.locator('input').first().fill('یک‌بار')
    await dialog.locator('button[type=submit]').click()
    const kept = dialog.getByRole('button', { name: said('keys.kept'), exact: true })
    await kept.waitFor()
    await page.keyboard.press('Escape')
    await page.mouse.click(5, 5)
    t.match(await dialog.locator('.copied code').first().innerText(), /^\d+:\S{30,}/)
    await kept.click()
    await dialog.waitFor({ state: 'detached' })
  })

  await t.test(
    'what is written is kept while a message is on its way, and when it fails',
    async (t) => {
      await page.goto(`/dashboard/sandbox?as=${friend.id}&chat=${bot.id}`)
      const field = page.getByLabel(said('messenger.write'))
      const asked = Promise.withResolvers<Route>()
      await page.route('**/messages', (route) =>
        route.request().method() === 'POST' ? asked.resolve(route) : route.continue(),
      )
      await field.fill('سلام')
      await field.press('Enter')
      const route = await asked.promise
      await field.pressSequentially('و باز هم')
      await route.abort()
      await page.unroute('**/messages')
      await page.locator('.composer .wrong').waitFor()
      t.equal(await field.inputValue(), 'سلام\nو باز هم')
      await field.press('Enter')
      await page.locator('.line', { hasText: 'و باز هم' }).waitFor()
      t.equal(await field.inputValue(), '')
    },
  )
  t.same(visitor.complaints, [])
})
