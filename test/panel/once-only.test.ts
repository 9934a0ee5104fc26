/** What is shown only once is not thrown away by Esc or a click beside it, whether it is there or on its way. */
import type { Page, Route } from 'playwright-core'
import t, { type Test } from 'tap'
import { startService } from '../support/service.ts'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { saidIn } from './said.ts'

/** Tries what closes other dialogs. */
async function tryToLeave(page: Page) {
  for (let times = 0; times < 3; times++) await page.keyboard.press('Escape')
  await page.mouse.click(5, 5)
}

interface Asking {
  readonly page: Page
  readonly language: 'en' | 'fa'
  /** What is answered with the secret. */
  readonly answered: string
  /** The form of the secret. */
  readonly form: RegExp
  ask(): Promise<void>
}

/** Asks, tries to leave while the answer is on its way and when it is there, and keeps it; resolves with the secret. */
async function make(t: Test, { page, language, answered, form, ask }: Asking): Promise<string> {
  const said = saidIn(language)
  const dialog = page.locator('.dialog')
  const inDialog = (key: string) => dialog.getByRole('button', { name: said(key), exact: true })
  const asked = Promise.withResolvers<Route>()
  await page.route(answered, (route) =>
    route.request().method() === 'POST' ? asked.resolve(route) : route.continue(),
  )
  await ask()
  const route = await asked.promise
  await tryToLeave(page)
  t.equal(await dialog.count(), 1, 'it stays while the secret is made')
  t.ok(await inDialog('cancel').isDisabled())
  await route.continue()
  await page.unroute(answered)
  // Of keys and of tokens it is said alike.
  const kept = inDialog('keys.kept')
  await kept.waitFor()
  await tryToLeave(page)
  await new Promise((resolve) => setTimeout(resolve, 300))
  const secret = await dialog.locator('.copied code').first().innerText()
  t.match(secret, form)
  t.strictSame(await seriousIn(page), [])
  await kept.click()
  await dialog.waitFor({ state: 'detached' })
  return secret
}

/** A personal token is made, kept, used and revoked. */
async function token(t: Test, { page, language }: Pick<Asking, 'page' | 'language'>, url: string) {
  const said = saidIn(language)
  const button = (key: string, values = {}) =>
    page.getByRole('button', { name: said(key, values), exact: true })
  const dialog = page.locator('.dialog')
  const name = `once in ${language}`
  await page.goto('/dashboard/account')
  await button('tokens.make').first().click()
  await dialog.getByLabel(said('tokens.name')).fill(name)
  await dialog
    .getByLabel(said('tokens.lifetime'))
    .selectOption({ label: said('tokens.days.other', { count: 7 }) })
  const addresses = dialog.getByLabel(said('addresses.title'))
  await addresses.fill('nowhere')
  await dialog.locator('button[type=submit]').click()
  await dialog.getByRole('alert').getByText(said('refusal.address_form')).waitFor()
  t.equal(await dialog.locator('[aria-invalid]').count(), 0, 'nothing is wrong with the name')
  await addresses.fill('')
  const secret = await make(t, {
    ...{ page, language, answered: '**/user/tokens', form: /^chp_/ },
    ask: () => dialog.locator('button[type=submit]').click(),
  })
  const headers = { authorization: `apikey ${secret}` }
  t.equal((await fetch(`${url}/user`, { headers })).status, 200)
  const row = page.locator('.record', { hasText: name })
  await row.getByText(`…${secret.slice(-4)}`).waitFor()
  await button('tokens.revokeOne', { name }).click()
  await dialog.getByRole('button', { name: said('tokens.revoke'), exact: true }).click()
  await page.getByText(said('tokens.revoked')).first().waitFor()
  await row.waitFor({ state: 'detached' })
  t.equal((await fetch(`${url}/user`, { headers })).status, 401)
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

  await t.test('a new key', async (t) => {
    await page.goto(`/dashboard/keys?create=${credentialId}`)
    await dialog.getByLabel('Name').fill('once')
    await make(t, {
      ...{ page, language: 'en', answered: '**/api_keys', form: /^\d+:\S{30,}/ },
      ask: () => dialog.locator('button[type=submit]').click(),
    })
  })

  await t.test('a rotated key', async (t) => {
    await page.goto(`/dashboard/keys/${keyId}`)
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await make(t, {
      ...{ page, language: 'en', answered: '**/rotate', form: /^\d+:\S{30,}/ },
      ask: () => inDialog('Rotate').click(),
    })
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

  await t.test('a personal token', (t) => token(t, { page, language: 'en' }, service.url))

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

  await t.test('nor with a place of the page that was typed into the address', async (t) => {
    await page.goto('/dashboard')
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.locator(`a[href="/dashboard/keys/${keyId}"]`).first().click()
    await page.getByRole('button', { name: 'Rotate', exact: true }).waitFor()
    const go = async (how: string, end: string) => {
      await page.evaluate(`setTimeout(() => { ${how} })`)
      await page.waitForURL(({ href }) => href.endsWith(end))
    }
    const rotated = async () => {
      await page.getByRole('button', { name: 'Rotate', exact: true }).click()
      await inDialog('Rotate').click()
      await kept.waitFor()
      return dialog.locator('.copied code').first().innerText()
    }
    let questions = 0
    page.on('dialog', (question) => {
      questions++
      question.dismiss()
    })
    const stays = async (secret: string, after: string) => {
      // By the second frame whatever the change of the history began has been drawn.
      await page.evaluate(
        'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => undefined)',
      )
      t.equal(await dialog.locator('.copied code').first().innerText(), secret, after)
    }

    await go(`location.hash = 'before'`, '#before')
    const first = await rotated()
    for (const place of [`/keys/${keyId}`, '/keys']) {
      await go('history.back()', place)
      await stays(first, `back to ${place}`)
    }
    await kept.click()
    await dialog.waitFor({ state: 'detached' })

    await page.goto(`/dashboard/keys/${keyId}`)
    const second = await rotated()
    await go(`location.hash = 'meanwhile'`, '#meanwhile')
    await stays(second, 'a place typed meanwhile')
    await kept.click()
    await dialog.waitFor({ state: 'detached' })
    t.equal(questions, 0, 'nothing was loaded again')
    page.removeAllListeners('dialog')
    await page.getByRole('link', { name: 'Alerts', exact: true }).click()
    await page.waitForURL('**/dashboard/alerts')
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

  await t.test('a personal token, in Persian on a phone', async (t) => {
    const persian = await visit(browser, service, { language: 'fa', width: 320 })
    await signIn(persian, service, phone)
    await token(t, { page: persian.page, language: 'fa' }, service.url)
    t.strictSame(persian.complaints, [])
    await persian.context.close()
  })
})
