/** By the keyboard alone, with Tab, arrows, Space and Enter, in both languages. Nothing is clicked, focused or filled by script. */
import type { Browser, Locator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { openDatabase } from '../../src/database/database.ts'
import { until } from '../support/client.ts'
import { quietLogger } from '../support/logger.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { dialogOf } from './dialog.ts'
import { type Said, saidIn } from './said.ts'
import { type PanelScene, panelScene, troubled } from './scene.ts'

const MOST_TABS = 150

interface Focusable {
  readonly ownerDocument: { readonly activeElement: unknown }
}

const hasFocus = (target: Locator): Promise<boolean> =>
  target.evaluate(
    (element) => (element as unknown as Focusable).ownerDocument.activeElement === element,
  )

/** Presses Tab until the focus is there. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.first().waitFor()
  for (let left = MOST_TABS; left > 0; left -= 1) {
    await page.keyboard.press('Tab')
    if (await hasFocus(target.first())) return
  }
  throw new Error(`${target} is not reached by Tab`)
}

interface Given {
  readonly language: 'en' | 'fa'
  readonly browser: Browser
  readonly scene: PanelScene
  readonly failing: Awaited<ReturnType<typeof troubled>>
}

interface Desk extends Given {
  readonly page: Page
  readonly said: Said
  readonly complaints: readonly string[]
  /** By the key of its message. */
  button(key: string): Locator
  press(target: Locator, key?: string): Promise<void>
  leave(): Promise<void>
}

/** A signed-in user before the panel. */
async function deskOf(given: Given, phone: string): Promise<Desk> {
  const { browser, scene, language } = given
  const visitor = await visit(browser, scene.service, { language })
  const { page, complaints, context } = visitor
  await signIn(visitor, scene.service, phone)
  const said = saidIn(language)
  return {
    ...given,
    ...{ page, said, complaints },
    button: (key) => page.getByRole('button', { name: said(key), exact: true }),
    async press(target, key = 'Enter') {
      await tabTo(page, target)
      await page.keyboard.press(key)
    },
    leave: () => context.close(),
  }
}

async function linkAccount(t: Test, { page, scene, language, said, button, press }: Desk) {
  const { client } = scene
  const person = await client.person('Keys', `keys_only_${language}`)
  await page.goto('/dashboard')
  await press(page.locator('nav a[href="/dashboard/accounts"]'))
  await page.waitForURL('**/dashboard/accounts')
  await press(page.locator('#content a[href="/dashboard/link"]'))
  await page.waitForURL('**/dashboard/link**')
  await tabTo(page, page.getByRole('radio').first())
  await page.keyboard.press('Space')
  const sandbox = page.getByRole('radio', { name: said('platform.sandbox'), exact: true })
  const focused = page.locator('input[type=radio]:focus')
  for (let left = 10; left > 0 && !(await sandbox.isChecked()); left -= 1) {
    const before = await focused.inputValue()
    await page.keyboard.press('ArrowDown')
    // The next press would count from where the page has not drawn yet.
    await until(async () => (await focused.inputValue()) !== before && (await focused.isChecked()))
  }
  t.ok(await sandbox.isChecked(), 'arrows go through the networks')
  await tabTo(page, page.getByLabel(said('linking.field.phone')))
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type(person.phone)
  await press(button('linking.start'))
  const code = page.locator('input[name=code]')
  await code.waitFor()
  await until(async () => {
    const isThere = await hasFocus(code)
    if (!isThere) await page.keyboard.press('Tab')
    return isThere || undefined
  })
  await page.keyboard.type(await client.code(person.id))
  await page.keyboard.press('Enter')
  await page.getByText(said('linking.linked.active')).waitFor()
}

async function sendAgain(t: Test, { page, scene, failing, said, button, press }: Desk) {
  await page.goto(failing.deliveries)
  await press(button('resend.title'))
  const dialog = dialogOf(page)
  await dialog.getByText(said('resend.count.one', { count: 1 })).waitFor()
  await press(dialog.getByRole('button', { name: said('resend.go'), exact: true }))
  const begun = said('resend.begun.one', { count: 1 })
  await page.getByText(begun).first().waitFor()
  const path = `/api_keys/${failing.api_key_id}/webhook/resend`
  const resend = await scene.client.result('GET', path)
  t.match(resend, { state: 'running', updates: 1, remaining: 1 })
  await press(button('resend.stop'))
  await page.getByText(said('resend.stopped.one', { done: 0, count: 1 })).waitFor()
  t.match(await scene.client.result('GET', path), { state: 'stopped' })
}

async function openAttempt(_t: Test, { page, failing, press }: Desk) {
  await page.goto(failing.deliveries)
  await press(page.locator('.records > li summary').first())
  await page.getByText('"text": "Do you have green tea?"').first().waitFor()
  await page.getByText('503', { exact: true }).first().waitFor()
}

/** By a user of its own: it is made once. */
async function makeDemo(t: Test, given: Desk) {
  const phone = given.language === 'en' ? '+14155559011' : '+14155559012'
  const { page, said, button, press, complaints, leave } = await deskOf(given, phone)
  await page.goto('/dashboard')
  await page.locator('#content h1').waitFor()
  await page.keyboard.press('Control+k')
  await dialogOf(page).getByRole('combobox').waitFor()
  await page.keyboard.type(said('palette.demo').toLowerCase())
  await page.locator('[data-highlighted]', { hasText: said('palette.demo') }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/dashboard/demo**')
  await press(button('demo.make'))
  await press(button('demo.run'))
  await page.getByText(said('demo.echoed')).waitFor()
  await tabTo(page, page.getByLabel(said('demo.say')))
  await page.keyboard.type('by keys')
  await page.keyboard.press('Enter')
  await page.locator('.record').filter({ hasText: 'by keys' }).nth(1).waitFor()
  t.same(complaints, [])
  await leave()
}

async function restartTwo(t: Test, { page, said, button, press }: Desk) {
  await page.goto('/dashboard/accounts')
  for (const one of ['Support Desk', 'فروشگاه']) {
    const name = said('bulk.pick', { name: one })
    await press(page.getByRole('checkbox', { name, exact: true }), 'Space')
  }
  await page.getByText(said('bulk.chosen.other', { count: 2 })).waitFor()
  await press(button('bulk.restart'))
  const dialog = page.getByRole('dialog', { name: said('bulk.ask.restart.other', { count: 2 }) })
  await press(dialog.getByRole('button', { name: said('bulk.restart'), exact: true }))
  const progress = page.locator('.bulk-progress')
  await progress.getByText(said('bulk.title.restart.other', { count: 2 })).waitFor()
  await progress.getByText(said('bulk.state.finished')).waitFor()
  t.match(await progress.innerText(), said('bulk.done', { count: 2 }))
}

async function acknowledge(_t: Test, { page, scene, said, press }: Desk) {
  // As it was before it was acknowledged in the other language.
  const database = openDatabase({ url: scene.service.databaseUrl, logger: quietLogger })
  try {
    await database.query(`update incident set state = 'open' where rule = 'account_out'`)
  } finally {
    await database.close()
  }
  const name = said('alerts.rule.account_out.one', { count: 1 })
  await page.goto('/dashboard/alerts')
  await press(page.getByRole('button', { name: said('alerts.acknowledgeOne', { name }) }))
  const incident = page.locator('.record', { hasText: name })
  await incident.getByText(said('alertState.acknowledged'), { exact: true }).waitFor()
}

async function diagnose(_t: Test, { page, scene: { gonesKey }, said, button, press }: Desk) {
  await page.goto(`/dashboard/keys/${gonesKey.api_key_id}`)
  await press(page.getByRole('link', { name: said('keys.diagnose') }))
  await press(button('diagnosis.all'))
  const step = said('diagnosis.step.credential')
  await page.getByRole('heading', { name: said('diagnosis.found', { step }) }).waitFor()
}

t.test('all by the keyboard', { skip: noBrowser, timeout: 290_000 }, async (t) => {
  const scene = await panelScene(t)
  const failing = await troubled(t, scene)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  for (const language of ['en', 'fa'] as const) {
    await t.test(language, { timeout: 200_000 }, async (t) => {
      const desk = await deskOf({ language, browser, scene, failing }, scene.phone)
      await t.test('an account is linked', (t) => linkAccount(t, desk))
      await t.test('what failed is sent again', (t) => sendAgain(t, desk))
      await t.test('an attempt is opened', (t) => openAttempt(t, desk))
      await t.test('two accounts are chosen and restarted', (t) => restartTwo(t, desk))
      await t.test('an alert is acknowledged', (t) => acknowledge(t, desk))
      await t.test('a diagnosis is run', (t) => diagnose(t, desk))
      await t.test('the demo is made and its bot answers', (t) => makeDemo(t, desk))
      t.same(desk.complaints, [])
      await desk.leave()
    })
  }
})
