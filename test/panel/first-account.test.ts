/** From an empty start to a linked account of the sandbox, with the panel alone; in English and Persian. */
import t from 'tap'
import { startService } from '../support/service.ts'
import { seriousIn } from './axe.ts'
import { type Looks, noBrowser, openBrowser, signIn, visit } from './browser.ts'

const words = {
  en: {
    make: 'New person',
    name: 'Name',
    person: 'Person of your sandbox',
    start: 'Start',
    code: 'The code',
    next: 'Continue',
    linked: 'The account is linked and active.',
    sandbox: 'Sandbox',
    open: 'Links that are not finished',
    whose: 'Whose code',
  },
  fa: {
    make: 'شخص تازه',
    name: 'نام',
    person: 'شخصی از محیط آزمایشی شما',
    start: 'آغاز',
    code: 'کد',
    next: 'ادامه',
    linked: 'حساب پیوند خورد و فعال است.',
    sandbox: 'محیط آزمایشی',
    open: 'پیوندهای ناتمام',
    whose: 'کد چه کسی',
  },
}

t.test('a first account is linked from the panel alone', { skip: noBrowser }, async (t) => {
  const service = await startService(t)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  for (const [language, phone] of [
    ['en', '+14155559321'],
    ['fa', '+14155559322'],
  ] as const) {
    await t.test(language, async (t) => {
      const said = words[language]
      const looks: Looks = { language, ...(language === 'fa' && { width: 390, height: 844 }) }
      const visitor = await visit(browser, service, looks)
      const { page, complaints } = visitor
      const button = (name: string) => page.getByRole('button', { name, exact: true })
      const isAccessible = async (where: string) => t.strictSame(await seriousIn(page), [], where)
      await signIn(visitor, service, phone)
      await page.goto('/dashboard/link?platform=sandbox')
      await button(said.make).click()
      await page.getByLabel(said.name, { exact: true }).fill('Echo')
      await page.locator('.dialog button[type=submit]').click()
      const picker = page.getByLabel(said.person)
      await picker.waitFor()
      const option = await picker.locator('option:checked').innerText()
      t.match(option, /Echo.*\+8889\d+/s, 'the phone that was made up is shown')
      const given = await page.locator('input[name=phone]').inputValue()
      t.match(given, /^\+8889\d+$/, 'and is what is linked')
      await isAccessible('the first step')
      await button(said.start).click()
      await page.getByRole('heading', { name: said.code, exact: true }).waitFor()
      const code = await page.locator('.copied code').innerText()
      t.match(code, /^\d{5,}$/)
      await isAccessible('the code')
      await page.reload()
      await page.getByRole('heading', { name: said.code, exact: true }).waitFor()
      // The page is left, and the link is found again on the page where links begin.
      await page.goto('/dashboard/link')
      const open = page.getByRole('region', { name: said.open }).getByRole('link')
      await open.waitFor()
      await isAccessible('the tiles and the open link')
      const about = page.getByRole('radio', { name: said.sandbox, exact: true })
      t.ok(await about.getAttribute('aria-describedby'))
      const hidden = (whole: string) => `+${'*'.repeat(whole.length - 5)}${whole.slice(-4)}`
      t.match(await open.innerText(), hidden(given))
      // With a second link each says by its phone whose it is.
      const client = await service.client(phone)
      const other = await client.person('Other')
      await client.result('POST', '/platforms/sandbox/link/start', { phone: other.phone })
      await page.reload()
      await open.filter({ hasText: hidden(other.phone) }).waitFor()
      t.equal(await open.count(), 2)
      await isAccessible('two open links')
      await open.filter({ hasText: hidden(given) }).press('Enter')
      await page.locator('.copied code').waitFor()
      t.equal(await page.locator('.copied code').innerText(), code)
      t.equal(await page.getByLabel(said.whose).count(), 0, 'nobody has to say whose code it is')
      await isAccessible('the resumed link')
      await page.locator('input[name=code]').fill(code)
      await button(said.next).click()
      await page.getByText(said.linked).waitFor()
      t.equal(await page.locator('.copied code').count(), 0, 'a used code is not shown')
      t.strictSame(complaints, [])
      await visitor.context.close()
    })
  }

  await t.test('every person’s phone is shown, with a username as well', async (t) => {
    const phone = '+14155559323'
    const client = await service.client(phone)
    const ada = await client.person('Ada', 'ada_shown')
    const eve = await client.person('Eve', 'eve_shown')
    await client.write(ada.id, eve.id, 'hello')
    const visitor = await visit(browser, service)
    const { page } = visitor
    await signIn(visitor, service, phone)
    await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${eve.id}`)
    await page.getByText(`@ada_shown · ${ada.phone}`).first().waitFor()
    await page.getByText(`@eve_shown · ${eve.phone}`).first().waitFor()
    await page.getByRole('button', { name: 'New chat', exact: true }).first().click()
    const others = page.locator('.dialog').getByText(`@eve_shown · ${eve.phone}`)
    await others.waitFor()
    t.equal(await others.count(), 1)
  })
})
