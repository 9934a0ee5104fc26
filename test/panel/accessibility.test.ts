/** Axe on every page of the panel, in both languages; each page loads without a complaint of the browser. */
import t from 'tap'
import { violationsIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { addressesOf, panelScene, troubled } from './scene.ts'

t.test(
  'no page has an accessibility problem of whichever impact',
  { skip: noBrowser, timeout: 290_000 },
  async (t) => {
    const scene = await panelScene(t)
    const { deliveries } = await troubled(t, scene)
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    for (const language of ['en', 'fa'] as const) {
      const theme = language === 'en' ? 'light' : 'dark'
      await t.test(`${language}, ${theme}`, { timeout: 140_000 }, async (t) => {
        const visitor = await visit(browser, scene.service, { language, theme })
        const { page } = visitor
        const examine = async (name: string) => t.same(await violationsIn(page), [], name)
        await page.goto('/login')
        await page.locator('input[name=phone]').waitFor()
        t.equal(await page.locator('html').getAttribute('dir'), language === 'fa' ? 'rtl' : 'ltr')
        await examine('login')
        await signIn(visitor, scene.service, scene.phone)
        for (const [name, address] of Object.entries({ ...addressesOf(scene), deliveries })) {
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
