/** By the keyboard alone: an account is linked, and deliveries are sent again. Nothing is clicked, focused or filled by script. */
import type { Locator, Page } from 'playwright-core'
import t from 'tap'
import { until } from '../support/client.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { panelScene, troubled } from './scene.ts'

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

t.test('all by the keyboard', { skip: noBrowser, timeout: 240_000 }, async (t) => {
  const scene = await panelScene(t)
  const { client, service } = scene
  const { deliveries, api_key_id } = await troubled(t, scene)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, service)
  const { page } = visitor
  const press = async (target: Locator, key = 'Enter') => {
    await tabTo(page, target)
    await page.keyboard.press(key)
  }
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await signIn(visitor, service, scene.phone)

  await t.test('an account is linked', async (t) => {
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
      await until(
        async () => (await focused.inputValue()) !== before && (await focused.isChecked()),
      )
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
  })

  await t.test('what failed is sent again', async (t) => {
    await page.goto(deliveries)
    await press(button('Send again'))
    const dialog = page.getByRole('dialog')
    await dialog.getByText('1 update will be sent.').waitFor()
    await press(dialog.getByRole('button', { name: 'Send again' }))
    await page.getByText('1 update is sent again').first().waitFor()
    const resend = await client.result('GET', `/api_keys/${api_key_id}/webhook/resend`)
    t.match(resend, { state: 'running', updates: 1, remaining: 1 })
    await press(button('Stop'))
    await page.getByText('Stopped after 0 of 1 update').waitFor()
  })
  t.same(visitor.complaints, [])
})
