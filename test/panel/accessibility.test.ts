/** Axe on every page of the panel, in both languages; each page loads without a complaint of the browser. */
import t from 'tap'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { addressesOf, panelScene } from './scene.ts'

t.test(
  'no page has a serious accessibility problem',
  { skip: noBrowser, timeout: 290_000 },
  async (t) => {
    const scene = await panelScene(t)
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    for (const language of ['en', 'fa'] as const) {
      const theme = language === 'en' ? 'light' : 'dark'
      await t.test(`${language}, ${theme}`, { timeout: 140_000 }, async (t) => {
        const visitor = await visit(browser, scene.service, { language, theme })
        const { page } = visitor
        const examine = async (name: string) => t.same(await seriousIn(page), [], name)
        await page.goto('/login')
        await page.locator('input[name=phone]').waitFor()
        t.equal(await page.locator('html').getAttribute('dir'), language === 'fa' ? 'rtl' : 'ltr')
        await examine('login')
        await signIn(visitor, scene.service, scene.phone)
        for (const [name, address] of Object.entries(addressesOf(scene))) {
          await page.goto(address)
          await page.locator('h1').first().waitFor()
          await page.locator('.loading').first().waitFor({ state: 'detached' })
          await examine(name)
        }
        t.same(visitor.complaints, [])
        await visitor.context.close()
      })
    }
  },
)
