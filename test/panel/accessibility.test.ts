/** Axe on every page of the panel, in both languages; each page loads without a complaint of the browser. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import t from 'tap'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { addressesOf, panelScene } from './scene.ts'

interface Violation {
  readonly id: string
  readonly impact: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const check = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)`

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
        // Through the debugger, which the content policy does not concern.
        const examine = async (name: string) => {
          await page.evaluate(axe)
          const found = (await page.evaluate(check)) as Violation[]
          const serious = found.filter(
            ({ impact }) => impact === 'serious' || impact === 'critical',
          )
          t.same(serious.map(shown), [], name)
        }
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

const shown = ({ id, nodes }: Violation) =>
  `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join(' | ')}`
