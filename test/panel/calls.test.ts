/** Calls of a bot in the browser: their parameters and answers in the log, and a method that is tried out. */
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { startService } from '../support/service.ts'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { dialogOf } from './dialog.ts'
import { type Said, saidIn } from './said.ts'

/** The line for a terminal, as the clipboard has it. */
async function copiedFrom(page: Page, said: Said): Promise<string> {
  const button = (key: string) => page.getByRole('button', { name: said(key), exact: true })
  await button('requests.curl').click()
  await button('copied').waitFor()
  return (await page.evaluate('navigator.clipboard.readText()')) as string
}

interface Trying {
  readonly page: Page
  readonly said: Said
  readonly key: string
  readonly to: { readonly id: number; readonly first_name: string }
}

/** A call is put together on the page to try a method, and copied without the key. */
async function copyTrial(t: Test, { page, said, key, to }: Trying) {
  const needed = (name: string) => said('try.required', { name })
  await page.getByLabel(said('search.method'), { exact: true }).selectOption('sendMessage')
  await page.getByLabel(said('try.key'), { exact: true }).fill(key)
  const chat = page.getByRole('combobox', { name: needed('chat_id') })
  await chat.selectOption({ label: `\u2068${to.first_name}\u2069 (${to.id})` })
  await page.getByLabel(needed('text')).fill(`چای "سبز" it's`)
  const curl = await copiedFrom(page, said)
  t.match(curl, `/bot<KEY>/sendMessage'`)
  t.ok(curl.endsWith(`'{"chat_id":${to.id},"text":"چای \\"سبز\\" it'\\''s"}'`), curl)
  t.notMatch(curl, key.split(':')[1])
  await page.getByRole('button', { name: said('try.send'), exact: true }).click()
  await page.getByText(`"text": "چای \\"سبز\\" it's"`).waitFor()
  t.strictSame(await seriousIn(page), [])
}

t.test(
  'a developer sees what was called, and calls a method himself',
  { skip: noBrowser, timeout: 240_000 },
  async (t) => {
    const service = await startService(t)
    const phone = '+14155559641'
    const client = await service.client(phone)
    const ada = await client.person('Ada', 'ada_calls')
    const credentialId = await client.link(await client.person('Bot', 'calls_bot'))
    const { key, api_key_id: id } = await client.key(credentialId)
    await client.write(ada.id, '@calls_bot', 'first')
    const text = `it's a "test"`
    await client.bot(key, 'sendMessage', { chat_id: 1, text })
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const visitor = await visit(browser, service)
    const { page, complaints } = visitor
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    await signIn(visitor, service, phone)
    await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const copied = () => copiedFrom(page, saidIn('en'))

    await t.test('a failed call shows its parameters and its answer', async (t) => {
      await page.goto(`/dashboard/keys/${id}?tab=requests`)
      await page.locator('summary', { hasText: 'sendMessage' }).click()
      await page.getByText('"chat_id": "1"').waitFor()
      await page.getByText('"ok": false').waitFor()
      t.strictSame(await seriousIn(page), [])
      const curl = await copied()
      t.match(curl, `/bot<KEY>/sendMessage'`)
      t.ok(curl.endsWith(`'{"chat_id":"1","text":"it'\\''s a \\"test\\""}'`), curl)
      t.notMatch(curl, key.split(':')[1])
    })

    await t.test(
      'a call shows the update that it caused, though no webhook attempted it',
      async () => {
        await client.result('PATCH', `/platforms/credentials/${credentialId}/settings`, {
          include_self_updates: true,
        })
        await client.bot(key, 'sendMessage', { chat_id: ada.id, text: 'own' })
        await page.locator('summary', { hasText: 'sendMessage' }).nth(1).waitFor()
        await page.locator('summary', { hasText: 'sendMessage' }).first().click()
        await page.getByText('No webhook attempted it.').waitFor()
        const isAboutIt = /\/requests\/[^/]+\/updates/
        await page.waitForResponse((answer) => isAboutIt.test(answer.url()))
        await page.goto(`/dashboard/keys/${id}?tab=requests`)
        await page.locator('summary', { hasText: 'sendMessage' }).last().click()
      },
    )

    await t.test('which calls are kept is chosen', async (t) => {
      const choice = page.getByLabel('Parameters and answers of this key’s calls')
      t.equal(await choice.inputValue(), 'failed')
      const saved = page.waitForResponse((answer) => answer.request().method() === 'PUT')
      await choice.selectOption('Keep all but getUpdates')
      t.equal((await saved).status(), 200)
      await client.bot(key, 'getMe')
      await button('Refresh').click()
      await page.locator('summary', { hasText: 'getMe' }).click()
      await page.getByText('"username": "calls_bot"').waitFor()
    })

    await t.test('a method is tried with the key that was just made', async (t) => {
      await page.goto(`/dashboard/keys?create=${credentialId}`)
      await page.getByLabel('Name', { exact: true }).fill('trial')
      await button('Make the key').click()
      const shown = await dialogOf(page).locator('.copied code').first().innerText()
      const secret = shown.trim().split(':')[1] ?? ''
      t.match(secret, /^[\w-]{43}$/)
      await page.getByRole('link', { name: 'Try a method' }).click()
      await page.getByRole('heading', { name: 'Try a method' }).waitFor()
      const chat = page.getByRole('combobox', { name: 'chat_id (required)' })
      await chat.selectOption({ label: `\u2068Ada\u2069 (${ada.id})` })
      await page.getByText(/\d+ optional parameters/).click()
      await page.getByLabel('reply_markup').fill('{')
      await page.getByText('This is not JSON.').waitFor()
      t.ok(await button('Send').isDisabled())
      await page.getByText(/\d+ optional parameters/).click()
      await page.getByText('This is not JSON.').waitFor()
      const method = page.getByLabel('Method', { exact: true })
      await method.selectOption('sendPhoto')
      await page.getByLabel('photo (required)').waitFor()
      t.ok(await button('Send').isEnabled(), 'an optional value is not taken along unseen')
      await method.selectOption('sendMessage')
      await page.getByLabel('text (required)').fill('tried out')
      t.equal(await chat.inputValue(), `${ada.id}`)
      await page.getByText(/\d+ optional parameters/).click()
      t.equal(await page.getByLabel('reply_markup').inputValue(), '')
      t.strictSame(await seriousIn(page), [])
      await button('Send').click()
      await page.getByText('"text": "tried out"').waitFor()
      t.match(await copied(), `"text":"tried out"`)
      const { messages } = await client.result('GET', `/sandbox/people/${ada.id}/inbox?limit=1`)
      t.match(JSON.stringify(messages), 'tried out')
      await page.getByRole('link', { name: 'This call in the log' }).click()
      await page.locator('summary', { hasText: 'sendMessage' }).waitFor()
      const kept = [
        JSON.stringify(await visitor.context.storageState()),
        await page.evaluate('JSON.stringify(sessionStorage)'),
      ].join()
      t.notOk(kept.includes(secret), 'the key is in memory alone')
    })

    await t.test('an address with what is no time shows the log all the same', async () => {
      await page.goto(`/dashboard/keys/${id}?tab=requests&since=yesterday`)
      await page.getByText('Search and filter').click()
      await page.getByLabel('Method', { exact: true }).waitFor()
    })

    await t.test('a call is copied, with a key that was pasted', async (t) => {
      await page.goto(`/dashboard/keys/${id}/try`)
      await copyTrial(t, { page, said: saidIn('en'), key, to: ada })
    })

    await t.test('in Persian, a key is pasted; that of another key is told', async (t) => {
      const persian = await visit(browser, service, { language: 'fa', width: 390, height: 844 })
      await signIn(persian, service, phone)
      const other = persian.page
      await other.goto(`/dashboard/keys/${id}/try`)
      await other.getByLabel('متد', { exact: true }).selectOption('getMe')
      await other.getByLabel('کلید', { exact: true }).fill(`1${key}`)
      await other.getByText('این کلیدی نیست که این صفحه دربارهٔ آن است.').waitFor()
      await other.getByLabel('کلید', { exact: true }).fill(key)
      await other.getByRole('button', { name: 'فرستادن', exact: true }).click()
      await other.getByText('"username": "calls_bot"').waitFor()
      await other.goto(`/dashboard/keys/${id}?tab=requests`)
      await other.locator('summary', { hasText: 'getMe' }).first().click()
      await other.getByText('پارامترها', { exact: true }).waitFor()
      const reach = await other.evaluate('document.documentElement.scrollWidth - innerWidth')
      t.equal(reach, 0)
      await persian.context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await other.goto(`/dashboard/keys/${id}/try`)
      await copyTrial(t, { page: other, said: saidIn('fa'), key, to: ada })
      t.same(persian.complaints, [])
    })

    t.same(complaints, [])
  },
)
