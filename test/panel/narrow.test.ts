/** Every page fits a screen of 320 pixels in both languages: nothing makes it scroll sideways. */
import t from 'tap'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { addressesOf, panelScene, troubled } from './scene.ts'

const WIDTH = 320

/** What reaches over an edge of the page, except within something that scrolls by itself. */
const outside = `(() => {
  const width = document.documentElement.clientWidth
  if (document.documentElement.scrollWidth <= width) return []
  const scrolls = (element) => element && element !== document.documentElement &&
    (/auto|scroll|hidden|clip/.test(getComputedStyle(element).overflowX) ||
      scrolls(element.parentElement))
  return [...document.querySelectorAll('body *')]
    .filter((element) => {
      const { left, right, width: own } = element.getBoundingClientRect()
      return own > 0 && (right > width + 1 || left < -1) && !scrolls(element.parentElement)
    })
    .map((element) => element.tagName + '.' + element.className)
})()`

/** Tabs that an edge of the screen or of their list cuts off. */
const hiddenTabs = `[...document.querySelectorAll('[role=tab]')]
  .filter((tab) => {
    const { left, right, top, bottom } = tab.getBoundingClientRect()
    const list = tab.closest('[role=tablist]').getBoundingClientRect()
    return left < Math.max(0, list.left) - 1 || right > Math.min(innerWidth, list.right) + 1 ||
      top < list.top - 1 || bottom > list.bottom + 1
  })
  .map((tab) => tab.textContent)`

t.test(`${WIDTH} pixels are enough`, { skip: noBrowser, timeout: 290_000 }, async (t) => {
  const scene = await panelScene(t)
  const { deliveries } = await troubled(t, scene)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  for (const language of ['en', 'fa'] as const) {
    await t.test(language, async (t) => {
      const visitor = await visit(browser, scene.service, { language, width: WIDTH, height: 640 })
      const { page } = visitor
      const fits = async (name: string) => {
        t.same(await page.evaluate(outside), [], name)
        const shown = await page.evaluate('document.documentElement.scrollWidth')
        t.ok((shown as number) <= WIDTH, `${name}: ${shown}`)
      }
      await page.goto('/login')
      await page.locator('input[name=phone]').waitFor()
      await fits('login')
      await signIn(visitor, scene.service, scene.phone)
      for (const [name, address] of Object.entries({ ...addressesOf(scene), deliveries })) {
        await page.goto(address)
        await page.locator('h1').first().waitFor()
        await page.locator('.loading').first().waitFor({ state: 'detached' })
        await fits(name)
        t.same(await page.evaluate(hiddenTabs), [], `${name}: every tab is seen whole`)
      }
      t.same(visitor.complaints, [])
      await visitor.context.close()
    })
  }
})
