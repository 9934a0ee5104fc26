/** Two tabs, two records, two answers beside each other: what belongs to one is never taken for the other's. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import type { Client } from '../support/client.ts'
import { type Service, startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, type Visitor, visit } from './browser.ts'
import { dialogOf } from './dialog.ts'
import { saidIn } from './said.ts'

const said = saidIn('en')

interface Scene {
  readonly service: Service
  readonly client: Client
  readonly phone: string
  readonly visitor: Visitor
}

async function sceneOf(t: Test, phone: string): Promise<Scene> {
  const service = await startService(t)
  const client = await service.client(phone)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, service)
  return { service, client, phone, visitor }
}

/** Goes to a record by the palette, as nobody leaves the page for it. */
async function jump(page: Page, name: string): Promise<void> {
  await page.locator('#content h1').waitFor()
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: said('palette.title') })
  await palette.getByRole('combobox').fill(name)
  await palette.getByRole('option', { name }).click()
  await page.getByRole('heading', { name, exact: true }).waitFor()
}

const buttonOf = (page: Page) => (key: string) =>
  page.getByRole('button', { name: said(key), exact: true })

const skip = noBrowser

t.test('one record after the other', { skip, timeout: 240_000 }, async (t) => {
  const { service, client, phone, visitor } = await sceneOf(t, '+14155559711')
  const ada = await client.link(await client.person('Ada', 'ada_beside'))
  await client.link(await client.person('Bela', 'bela_beside'))
  const made = async (name: string) =>
    await client.result('POST', '/api_keys', {
      name,
      credential_id: ada,
      scopes: ['bot:send', 'bot:receive'],
    })
  const alpha = await made('Alpha')
  await made('Omega')
  const { page, complaints } = visitor
  const button = buttonOf(page)
  await signIn(visitor, service, phone)

  await t.test('Back to a key does not bring the address that was typed for another', async (t) => {
    await page.goto(`/dashboard/keys/${alpha.api_key_id}?tab=webhook`)
    const address = page.getByLabel(said('webhook.url'), { exact: true })
    t.equal(await address.inputValue(), '')
    await jump(page, 'Omega')
    await page.getByRole('tab', { name: said('keys.tab.webhook') }).click()
    await address.fill('https://omega.example/hook')
    await page.goBack()
    await page.getByRole('heading', { name: 'Alpha', exact: true }).waitFor()
    t.equal(await address.inputValue(), '')
    t.match(page.url(), `/keys/${alpha.api_key_id}?tab=webhook`)
  })

  await t.test('a test of one account is not shown of another', async (t) => {
    await page.goto(`/dashboard/accounts/${ada}`)
    await jump(page, 'Bela')
    await button('account.health.test').click()
    const results = page.getByRole('region', { name: said('account.health') }).locator('.record')
    await results.first().waitFor()
    await jump(page, 'Ada')
    t.equal(await results.count(), 0)
  })

  await t.test('Enter opens nothing that was found for other letters', async () => {
    await page.goto('/dashboard')
    await page.locator('#content h1').waitFor()
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: said('palette.title') })
    const found = (name: string) => palette.getByRole('option', { name })
    await palette.getByRole('combobox').fill('Ada')
    await found('Ada').waitFor()
    const later = /\/platforms\/credentials\?.*search=Bela/
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    await page.route(later, async (route) => {
      await answered
      await route.continue()
    })
    await palette.getByRole('combobox').fill('Bela')
    await found('Ada').waitFor({ state: 'detached' })
    answer()
    await found('Bela').waitFor()
    await page.unroute(later)
    await page.keyboard.press('Escape')
  })

  await t.test('the chats to choose from are those of the key that was given last', async () => {
    const friend = await client.person('Frida', 'frida_beside')
    await client.write(friend.id, '@ada_beside', 'Hello')
    const { key } = await client.result('POST', `/api_keys/${alpha.api_key_id}/rotate`, {})
    await page.goto(`/dashboard/keys/${alpha.api_key_id}/try`)
    const field = page.getByLabel(said('try.key'), { exact: true })
    const refused = page.waitForResponse('**/getChats')
    await field.fill(alpha.key)
    await refused
    await field.fill(key)
    await page.locator('option', { hasText: 'Frida' }).waitFor({ state: 'attached' })
  })
  t.same(complaints, [])
})

t.test('one tab beside the other', { skip, timeout: 240_000 }, async (t) => {
  const { service, client, phone, visitor } = await sceneOf(t, '+14155559712')
  const credentialId = await client.link(await client.person('Ada', 'ada_tabs'))
  const { api_key_id: id } = await client.key(credentialId)
  const { page, complaints } = visitor
  const button = buttonOf(page)
  await signIn(visitor, service, phone)

  await t.test('a change of a key sends what was changed, and leaves the rest', async (t) => {
    await page.goto(`/dashboard/keys/${id}`)
    await button('keys.change').click()
    await client.result('PATCH', `/api_keys/${id}`, { name: 'Elsewhere', scopes: ['bot:send'] })
    const dialog = page.getByRole('dialog', { name: said('keys.change.title') })
    await dialog.getByLabel(said('keys.lifetime'), { exact: true }).selectOption('30')
    await dialog.getByRole('button', { name: said('save'), exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    t.match(await client.result('GET', `/api_keys/${id}`), {
      name: 'Elsewhere',
      scopes: ['bot:send'],
      expires_at: String,
    })
    await button('keys.change').click()
    await dialog.getByLabel(said('keys.name'), { exact: true }).fill('Here')
    await dialog.getByRole('button', { name: said('save'), exact: true }).click()
    await page.getByRole('heading', { name: 'Here', exact: true }).waitFor()
  })

  await t.test('a diagnosis that went on in another tab goes on from there', async (t) => {
    await page.goto(`/dashboard/keys/${id}/diagnosis`)
    await button('diagnosis.stepwise').click()
    const next = (step: string) =>
      page.getByRole('button', {
        name: said('diagnosis.next', { step: said(`diagnosis.step.${step}`) }),
        exact: true,
      })
    await next('get_me').waitFor()
    const diagnosis = new URL(page.url()).searchParams.get('diagnosis')
    await client.result('POST', `/api_keys/${id}/diagnosis/${diagnosis}/next`, { all: true })
    await next('get_me').click()
    await page.getByRole('heading', { name: said('diagnosis.healthy') }).waitFor()
    t.equal(await page.locator('.wrong').count(), 0)
    t.equal(await page.locator('.step.pending').count(), 0)
  })

  await t.test('a row that moved while the list was read stands there once', async (t) => {
    await page.goto('/dashboard')
    await page.getByText('Live', { exact: true }).waitFor()
    const pages = /\/platforms\/credentials\?.*limit=250/
    await page.route(pages, async (route) => {
      const url = route.request().url()
      const answer = await route.fetch({ url: url.replace(/&before=\w+/, '') })
      const json = await answer.json()
      json.result.next_before = url.includes('before=') ? null : '1'
      await route.fulfill({ json })
    })
    const second = page.waitForResponse((answer) => /before=1/.test(answer.url()))
    await page.getByRole('link', { name: 'Messenger accounts' }).click()
    await second
    await page.getByText(said('accounts.shown.one', { count: 1 }), { exact: true }).waitFor()
    t.equal(await page.getByRole('link', { name: 'Ada', exact: true }).count(), 1)
    await page.unroute(pages)
  })

  await t.test('a table is saved however long it takes, and after a renewed sign-in', async (t) => {
    await page.goto('/dashboard/accounts')
    await button('accounts.export').waitFor()
    // The limit of other calls, shortened, and an answer that comes in pieces for longer than that.
    await page.evaluate(`(() => {
      const [limit, real] = [AbortSignal.timeout.bind(AbortSignal), fetch]
      let isFirst = true
      AbortSignal.timeout = (ms) => limit(Math.min(ms, 5_000))
      window.fetch = (url, init) => {
        if (!String(url).includes('/export')) return real(url, init)
        if (isFirst) {
          isFirst = false
          return Promise.resolve(Response.json({ ok: false, error_code: 401 }, { status: 401 }))
        }
        const body = new ReadableStream({
          async start(stream) {
            const end = (cause) => stream.error(cause)
            init.signal?.addEventListener('abort', () => end(init.signal.reason))
            for (let line = 0; line < 8; line++) {
              await new Promise((resolve) => setTimeout(resolve, 1_000))
              try { stream.enqueue(new TextEncoder().encode(line + ',')) } catch { return }
            }
            stream.close()
          },
        })
        return Promise.resolve(new Response(body))
      }
    })()`)
    const saved = page.waitForEvent('download')
    await button('accounts.export').click()
    const file = await saved
    t.equal(await readFile(await file.path(), 'utf8'), '0,1,2,3,4,5,6,7,')
  })

  const eve = await client.person('Eve', 'eve_tabs')
  const out = await client.link(eve)
  await t.test('what left the list is not among what was chosen', async () => {
    await page.goto('/dashboard/accounts?state=active')
    for (const name of ['Ada', 'Eve']) {
      await page.getByRole('checkbox', { name: said('bulk.pick', { name }) }).check()
    }
    await page.getByText(said('bulk.chosen.other', { count: 2 }), { exact: true }).waitFor()
    await client.result('PUT', `/sandbox/people/${eve.id}/faults/revoke`, {})
    await client.state(out, 'logged_out')
    await page.getByRole('link', { name: 'Eve', exact: true }).waitFor({ state: 'detached' })
    await page.getByText(said('bulk.chosen.one', { count: 1 }), { exact: true }).waitFor()
  })

  await t.test('an account that changed while nothing was heard is shown as it is', async () => {
    await client.link(eve, await client.newestCode(eve.id))
    const { api_key_id: ofEve } = await client.key(out)
    const stream = '**/platforms/credentials/events'
    await page.route(stream, (route) => route.abort())
    await page.goto(`/dashboard/keys/${ofEve}`)
    const about = page.getByRole('region', { name: said('keys.about') })
    await about.getByText(said('state.active'), { exact: true }).waitFor()
    await client.result('PUT', `/sandbox/people/${eve.id}/faults/revoke`, {})
    await client.state(out, 'logged_out')
    await page.unroute(stream)
    await about.getByText(said('state.logged_out'), { exact: true }).waitFor()
  })

  await t.test('a list of accounts that does not come is asked for again', async () => {
    const accounts = /\/platforms\/credentials\?limit=200/
    await page.route(accounts, (route) => route.fulfill({ status: 400, json: { ok: false } }))
    await page.goto('/dashboard/keys?create=')
    const dialog = dialogOf(page)
    const again = dialog.getByRole('button', { name: said('retry'), exact: true })
    await again.waitFor()
    await page.unroute(accounts)
    await again.click()
    await dialog.getByLabel(said('keys.account'), { exact: true }).waitFor()
    await page.keyboard.press('Escape')
  })

  await t.test('signing out everywhere ends what began since, and minds no gap', async (t) => {
    await page.goto('/dashboard/account')
    await page.getByText(said('signIns.here'), { exact: true }).waitFor()
    const later = await service.client(phone)
    const { items } = await client.result('GET', '/user/sessions')
    const own = items.find((one: { current: boolean }) => one.current)
    await client.result('DELETE', `/user/sessions/${own.session_id}`)
    await button('signIns.all').click()
    await dialogOf(page)
      .getByRole('button', { name: said('signIns.all') })
      .click()
    await page.waitForURL('**/login**')
    t.equal((await later.ask('GET', '/user')).status, 401)
  })
  t.same(complaints, [])
})
