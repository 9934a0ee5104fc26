/** From the empty dashboard one button makes a demo whose bot answers; also after a failure half way; in English and Persian. */
import t from 'tap'
import { startService } from '../support/service.ts'
import { seriousIn } from './axe.ts'
import { type Looks, noBrowser, openBrowser, signIn, visit } from './browser.ts'

const words = {
  en: {
    make: 'Make a demo',
    rest: 'Make the rest',
    secret: 'Make a new secret',
    run: 'Run it here',
    echoed: 'The bot has answered.',
    say: 'Write to Echo as Visitor',
    open: 'Open in the sandbox',
    done: 'Done',
  },
  fa: {
    make: 'ساخت نمونه',
    rest: 'ساخت بقیه',
    secret: 'ساخت راز تازه',
    run: 'همین‌جا اجرا شود',
    echoed: 'بات پاسخ داد.',
    say: 'به‌جای Visitor به Echo بنویسید',
    open: 'باز کردن در محیط آزمایشی',
    done: 'انجام شد',
  },
}

t.test('a demo is made with one button', { skip: noBrowser, timeout: 240_000 }, async (t) => {
  const service = await startService(t)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  for (const [language, phone] of [
    ['en', '+14155559421'],
    ['fa', '+14155559422'],
  ] as const) {
    await t.test(language, async (t) => {
      const said = words[language]
      const looks: Looks = { language, ...(language === 'fa' && { width: 320, height: 720 }) }
      const visitor = await visit(browser, service, looks)
      const { page, complaints } = visitor
      const button = (name: string) => page.getByRole('button', { name, exact: true })
      const done = page.getByText(said.done, { exact: true })
      await signIn(visitor, service, phone)

      // The key cannot be made at first: two steps are done, and the third is taken up later.
      await page.route('**/api_keys', (route) =>
        route.request().method() === 'POST' ? route.abort() : route.continue(),
      )
      await page.getByRole('link', { name: said.make }).press('Enter')
      await page.getByRole('alert').first().waitFor()
      await done.nth(1).waitFor()
      t.equal(await done.count(), 2)
      t.notMatch(page.url(), 'make=', 'a reload makes nothing')
      await page.unroute('**/api_keys')
      await button(said.rest).press('Enter')
      await button(said.run).waitFor()
      t.equal(await done.count(), 4)
      t.strictSame(await seriousIn(page), [], 'the demo')
      t.match(await page.locator('.copied pre').innerText(), /\/bot\d+:\S{30,}'/)

      await button(said.run).press('Enter')
      await page.getByText(said.echoed).waitFor()
      await page.getByLabel(said.say).fill('once more')
      await page.getByLabel(said.say).press('Enter')
      const chat = page.locator('.record').filter({ hasText: 'once more' })
      await chat.nth(1).waitFor()
      t.equal(await chat.count(), 2, 'what is written is echoed')
      const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
      t.equal(await page.evaluate(overflow), 0, 'nothing is wider than the page')

      const client = await service.client(phone)
      const count = async () => {
        const { items: people } = await client.result('GET', '/sandbox/people')
        const { items: accounts } = await client.result('GET', '/platforms/credentials')
        const { items: keys } = await client.result('GET', '/api_keys')
        const names = (people as { last_name?: string }[]).filter(
          ({ last_name }) => last_name === 'Demo',
        )
        return [names.length, accounts.length, keys.length]
      }
      t.same(await count(), [2, 1, 1], 'nothing was made twice')
      await page.reload()
      await button(said.secret).click()
      await button(said.run).waitFor()
      t.same(await count(), [2, 1, 1], 'a lost secret is replaced, not the key')

      await page.getByRole('link', { name: said.open }).click()
      await page.getByRole('log').getByText('once more').first().waitFor()
      t.strictSame(complaints, [])
      await visitor.context.close()
    })
  }
})
