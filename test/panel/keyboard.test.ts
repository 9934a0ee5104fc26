/** By the keyboard alone, with Tab, arrows, Space and Enter. Nothing is clicked, focused or filled by script. */
import type { Locator, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { until } from '../support/client.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
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

interface Desk {
  readonly page: Page
  readonly scene: PanelScene
  readonly failing: Awaited<ReturnType<typeof troubled>>
  button(name: string | RegExp): Locator
  press(target: Locator, key?: string): Promise<void>
}

async function linkAccount(t: Test, { page, scene: { client }, button, press }: Desk) {
  const person = await client.person('Keys', 'keys_only')
  await page.goto('/dashboard')
  await press(page.locator('nav a[href="/dashboard/accounts"]'))
  await page.waitForURL('**/dashboard/accounts')
  await press(page.locator('#content a[href="/dashboard/link"]'))
  await page.waitForURL('**/dashboard/link**')
  await tabTo(page, page.getByRole('radio').first())
  await page.keyboard.press('Space')
  const sandbox = page.getByRole('radio', { name: 'Sandbox', exact: true })
  const focused = page.locator('input[type=radio]:focus')
  for (let left = 10; left > 0 && !(await sandbox.isChecked()); left -= 1) {
    const before = await focused.inputValue()
    await page.keyboard.press('ArrowDown')
    // The next press would count from where the page has not drawn yet.
    await until(async () => (await focused.inputValue()) !== before && (await focused.isChecked()))
  }
  t.ok(await sandbox.isChecked(), 'arrows go through the networks')
  await tabTo(page, page.getByLabel('Phone of the account'))
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type(person.phone)
  await press(button('Start'))
  const code = page.locator('input[name=code]')
  await code.waitFor()
  await until(async () => {
    const isThere = await hasFocus(code)
    if (!isThere) await page.keyboard.press('Tab')
    return isThere || undefined
  })
  await page.keyboard.type(await client.code(person.id))
  await page.keyboard.press('Enter')
  await page.getByText('The account is linked and active.').waitFor()
}

async function sendAgain(t: Test, { page, scene: { client }, failing, button, press }: Desk) {
  await page.goto(failing.deliveries)
  await press(button('Send again'))
  const dialog = page.getByRole('dialog')
  await dialog.getByText('1 update will be sent.').waitFor()
  await press(dialog.getByRole('button', { name: 'Send again' }))
  await page.getByText('1 update is sent again').first().waitFor()
  const path = `/api_keys/${failing.api_key_id}/webhook/resend`
  const resend = await client.result('GET', path)
  t.match(resend, { state: 'running', updates: 1, remaining: 1 })
  await press(button('Stop'))
  await page.getByText('Stopped after 0 of 1 update').waitFor()
}

async function openAttempt(_t: Test, { page, failing, press }: Desk) {
  await page.goto(failing.deliveries)
  await press(page.locator('.records > li summary').first())
  await page.getByText('"text": "Do you have green tea?"').first().waitFor()
  await page.getByText('503', { exact: true }).first().waitFor()
}

async function makeDemo(_t: Test, { page, button, press }: Desk) {
  await page.goto('/dashboard')
  await page.locator('#content h1').waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').getByRole('combobox').waitFor()
  await page.keyboard.type('demo')
  await page.locator('[data-highlighted]', { hasText: 'Show the demo' }).waitFor()
  await page.keyboard.press('Enter')
  await page.waitForURL('**/dashboard/demo**')
  await press(button('Make a demo'))
  await press(button('Run it here'))
  await page.getByText('The bot has answered.').waitFor()
  await tabTo(page, page.getByLabel('Write to Echo as Visitor'))
  await page.keyboard.type('by keys')
  await page.keyboard.press('Enter')
  await page.locator('.record').filter({ hasText: 'by keys' }).nth(1).waitFor()
}

async function restartTwo(t: Test, { page, button, press }: Desk) {
  await page.goto('/dashboard/accounts')
  for (const name of ['Choose Support Desk', 'Choose فروشگاه']) {
    await press(page.getByRole('checkbox', { name, exact: true }), 'Space')
  }
  await page.getByText('2 chosen').waitFor()
  await press(button('Restart'))
  const dialog = page.getByRole('dialog', { name: 'Restart 2 accounts?' })
  await press(dialog.getByRole('button', { name: 'Restart' }))
  const progress = page.locator('.bulk-progress')
  await progress.getByText('Restart of 2 accounts').waitFor()
  await progress.getByText('Finished').waitFor()
  t.match(await progress.innerText(), /2 done/)
}

async function acknowledge(_t: Test, { page, button, press }: Desk) {
  await page.goto('/dashboard/alerts')
  await press(button(/^Acknowledge: 1 account is out/))
  const incident = page.locator('.record', { hasText: '1 account is out' })
  await incident.getByText('Acknowledged', { exact: true }).waitFor()
}

async function diagnose(_t: Test, { page, scene: { gonesKey }, button, press }: Desk) {
  await page.goto(`/dashboard/keys/${gonesKey.api_key_id}`)
  await press(page.getByRole('link', { name: 'Diagnose' }))
  await press(button('Take all steps'))
  await page.getByRole('heading', { name: 'Found: The account' }).waitFor()
}

t.test('all by the keyboard', { skip: noBrowser, timeout: 240_000 }, async (t) => {
  const scene = await panelScene(t)
  const failing = await troubled(t, scene)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, scene.service)
  const { page } = visitor
  const desk: Desk = {
    ...{ page, scene, failing },
    button: (name) => page.getByRole('button', { name, exact: true }),
    async press(target, key = 'Enter') {
      await tabTo(page, target)
      await page.keyboard.press(key)
    },
  }
  await signIn(visitor, scene.service, scene.phone)
  await t.test('an account is linked', (t) => linkAccount(t, desk))
  await t.test('what failed is sent again', (t) => sendAgain(t, desk))
  await t.test('an attempt is opened', (t) => openAttempt(t, desk))
  await t.test('two accounts are chosen and restarted', (t) => restartTwo(t, desk))
  await t.test('an alert is acknowledged', (t) => acknowledge(t, desk))
  await t.test('a diagnosis is run', (t) => diagnose(t, desk))
  await t.test('the demo is made and its bot answers', (t) => makeDemo(t, desk))
  t.same(visitor.complaints, [])
})
