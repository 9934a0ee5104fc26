/** What is shown only once is not thrown away by Esc or a click beside it, whether it is there or on its way. */
import type { Page, Route } from 'playwright-core'
import t from 'tap'
import { startService } from '../support/service.ts'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

/** Tries what closes other dialogs. */
async function tryToLeave(page: Page) {
  for (let times = 0; times < 3; times++) await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
}

t.test('keys and tokens stay until they are kept', { skip: noBrowser }, async (t) => {
  const service = await startService(t)
  const phone = '+14155559341'
  const client = await service.client(phone)
  const credentialId = await client.link(await client.person('Bot', 'once_bot'))
  const { api_key_id: keyId } = await client.key(credentialId)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, service)
  const { page, context, complaints } = visitor
  const dialog = page.locator('.dialog')
  const inDialog = (name: string) => dialog.getByRole('button', { name, exact: true })
  const kept = inDialog('I have kept it')
  await signIn(visitor, service, phone)

  /** Asks, tries to leave while the answer is on its way and when it is there, and keeps it. */
  async function make(answered: string, ask: () => Promise<void>, form: RegExp) {
    const asked = Promise.withResolvers<Route>()
    await page.route(answered, (route) =>
      route.request().method() === 'POST' ? asked.resolve(route) : route.continue(),
    )
    await ask()
    const route = await asked.promise
    await tryToLeave(page)
    t.equal(await dialog.count(), 1, 'it stays while the secret is made')
    t.ok(await inDialog('Cancel').isDisabled())
    await route.continue()
    await page.unroute(answered)
    await kept.waitFor()
    await tryToLeave(page)
    await new Promise((resolve) => setTimeout(resolve, 300))
    t.match(await dialog.locator('.copied code').first().innerText(), form)
    t.strictSame(await seriousIn(page), [])
    await kept.click()
    await dialog.waitFor({ state: 'detached' })
  }

  await t.test('a new key', async () => {
    await page.goto(`/dashboard/keys?create=${credentialId}`)
    await dialog.getByLabel('Name').fill('once')
    await make('**/api_keys', () => dialog.locator('button[type=submit]').click(), /^\d+:\S{30,}/)
  })

  await t.test('a rotated key', async () => {
    await page.goto(`/dashboard/keys/${keyId}`)
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await make('**/rotate', () => inDialog('Rotate').click(), /^\d+:\S{30,}/)
  })

  await t.test('a key pressed before the page draws again', async () => {
    await page.goto(`/dashboard/keys/${keyId}`)
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await inDialog('Rotate').waitFor()
    const disabled = await inDialog('Rotate').evaluate(async (element) => {
      const button = element as unknown as { click(): void; readonly ariaDisabled: string | null }
      button.click()
      for (let turns = 0; turns < 20; turns++) await undefined
      return button.ariaDisabled
    })
    t.equal(disabled, 'true', 'the dialog is busy in the same turn as the click')
    await kept.waitFor()
    await kept.click()
  })

  await t.test('a personal token', async () => {
    await page.goto('/dashboard/account')
    await page.getByRole('button', { name: 'Make a token' }).first().click()
    await dialog.getByLabel('Name').fill('once')
    await make('**/user/tokens', () => dialog.locator('button[type=submit]').click(), /^chp_/)
  })

  await t.test('Back does not take a new key away', async (t) => {
    await page.goto('/dashboard')
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('button', { name: 'Create a key' }).first().click()
    await dialog.getByLabel('Name').fill('back')
    await dialog.locator('button[type=submit]').click()
    await kept.waitFor()
    const secret = await dialog.locator('.copied code').first().innerText()
    const address = page.url()
    for (const steps of [-1, -2]) {
      await page.evaluate(
        `new Promise((done) => {
           addEventListener('popstate', done, { once: true })
           history.go(${steps})
         }).then(() => undefined)`,
      )
      await page.waitForURL(address)
      t.equal(await dialog.locator('.copied code').first().innerText(), secret)
    }
    await kept.click()
    await dialog.waitFor({ state: 'detached' })
    await page.goBack()
    await dialog.getByLabel('Name').waitFor()
    await page.keyboard.press('Escape')
  })

  await t.test('nor after a jump over the navigation', async (t) => {
    await page.goto('/dashboard')
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.locator(`a[href="/dashboard/keys/${keyId}"]`).first().click()
    await page.locator('a.skip').focus()
    await page.keyboard.press('Enter')
    t.equal(await page.evaluate('document.activeElement.id'), 'content')
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await inDialog('Rotate').click()
    await kept.waitFor()
    const secret = await dialog.locator('.copied code').first().innerText()
    await page.evaluate(`new Promise((done) => {
      addEventListener('popstate', done, { once: true, capture: true })
      history.back()
    }).then(() => undefined)`)
    await page.waitForURL(`**/dashboard/keys/${keyId}`)
    t.equal(await dialog.locator('.copied code').first().innerText(), secret)
    await kept.click()
    await dialog.waitFor({ state: 'detached' })
  })

  await t.test('a reload asks before it takes a new key away', async (t) => {
    await page.goto(`/dashboard/keys/${keyId}`)
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await inDialog('Rotate').click()
    await kept.waitFor()
    const asked = page.waitForEvent('dialog')
    await page.evaluate('setTimeout(() => location.reload())')
    const question = await asked
    t.equal(question.type(), 'beforeunload')
    await question.dismiss()
    await kept.click()
    await dialog.waitFor({ state: 'detached' })
  })

  await t.test('a method is tried with a key that was kept, and can still be copied', async (t) => {
    await page.goto(`/dashboard/keys?create=${credentialId}`)
    await dialog.getByLabel('Name').fill('tried')
    await dialog.locator('button[type=submit]').click()
    await kept.waitFor()
    const secret = await dialog.locator('.copied code').first().innerText()
    await dialog.getByRole('link', { name: 'I have kept it: try a method' }).click()
    await page.getByRole('heading', { name: 'Try a method' }).waitFor()
    t.equal(await page.getByLabel('The key', { exact: true }).inputValue(), secret)
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.getByRole('button', { name: 'Copy the key' }).click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    t.equal(await page.evaluate('navigator.clipboard.readText()'), secret)
    t.strictSame(await seriousIn(page), [])
    await page.getByLabel('The key', { exact: true }).fill(`${keyId}:pasted`)
    t.equal(await page.getByRole('button', { name: 'Copy the key' }).count(), 0)
  })

  await t.test('a dialog that holds nothing is left by Esc as ever', async () => {
    await page.goto(`/dashboard/keys?create=${credentialId}`)
    await dialog.getByLabel('Name').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  })
  t.strictSame(complaints, [])
})
