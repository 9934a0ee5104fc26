/** The panel by the keyboard alone: the command palette, and the shortcuts of pages. */
import t from 'tap'
import { startService } from '../support/service.ts'
import { seriousIn } from './axe.ts'
import { type Looks, noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { dialogOf } from './dialog.ts'

const words = {
  en: { palette: 'Search or go to', shortcuts: 'Keyboard shortcuts', settings: 'Settings' },
  fa: { palette: 'جستجو یا رفتن به', shortcuts: 'میان‌برهای صفحه‌کلید', settings: 'تنظیمات' },
}

t.test('all places are reached by the keyboard', { skip: noBrowser }, async (t) => {
  const service = await startService(t)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  for (const [language, phone] of [
    ['en', '+14155559351'],
    ['fa', '+14155559352'],
  ] as const) {
    await t.test(language, async (t) => {
      const said = words[language]
      const client = await service.client(phone)
      const person = await client.person('José', `jose_${language}`)
      const credentialId = await client.link(person)
      const key = await client.key(credentialId)
      const looks: Looks = { language, ...(language === 'fa' && { width: 390, height: 844 }) }
      const visitor = await visit(browser, service, looks)
      const { page, complaints } = visitor
      const palette = page.getByRole('dialog', { name: said.palette })
      const open = async () => {
        await page.keyboard.press('Control+k')
        await palette.getByRole('combobox').waitFor()
      }
      await signIn(visitor, service, phone)
      await page.locator('#content h1').waitFor()

      await open()
      t.strictSame(await seriousIn(page), [], 'the palette')
      await page.keyboard.type(said.settings)
      await palette.getByRole('option', { name: said.settings }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL('**/dashboard/account')
      await palette.waitFor({ state: 'detached' })

      await open()
      await page.keyboard.type(`jose_${language}`)
      await palette.getByRole('option', { name: 'José' }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/dashboard/accounts/${credentialId}`)

      await open()
      await page.keyboard.type(key.key_hint)
      await palette.getByRole('option').filter({ hasText: key.key_hint }).waitFor()
      await page.keyboard.press('Enter')
      await page.waitForURL(`**/dashboard/keys/${key.api_key_id}`)

      await page.keyboard.type('gk')
      await page.waitForURL('**/dashboard/keys')
      await page.keyboard.type('ga')
      await page.waitForURL('**/dashboard/accounts')
      // Until the next page is there, the one before stays, with its search.
      const listed = page.locator(`main a[href="/dashboard/keys/${key.api_key_id}"]`)
      await listed.waitFor({ state: 'detached' })
      const search = page.getByRole('searchbox')
      await search.waitFor()
      await page.keyboard.press('/')
      await page.keyboard.type('gk?')
      t.equal(await search.inputValue(), 'gk?', 'letters that are typed stay letters')
      await search.fill('')
      await search.blur()
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: said.shortcuts }).waitFor()
      t.strictSame(await seriousIn(page), [], 'the shortcuts')
      await page.keyboard.type('gd')
      t.match(page.url(), /accounts$/, 'a page that is covered stays')
      await page.keyboard.press('Escape')
      await dialogOf(page).waitFor({ state: 'detached' })
      t.strictSame(complaints, [])
      await visitor.context.close()
    })
  }
})
