/** Axe on every page of the panel and in the middle of what is done there, in both languages, themes and sizes. */
import type { Browser, Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { violationsIn } from './axe.ts'
import { type Looks, noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { messagesIn, momentsOf } from './moments.ts'
import { addressesOf, type PanelScene, panelScene, troubled } from './scene.ts'

const narrow = { width: 320, height: 700 }
const isWiderThanScreen =
  'document.documentElement.scrollWidth > document.documentElement.clientWidth'

/** What axe lets pass, and a checker of HTML does not: a second title, and lists whose pairs are only partly in groups. */
const misplaced = `[...document.querySelectorAll('head title ~ title, dl > div ~ dt, dl > dd ~ div')]
  .map((element) => element.outerHTML)`

interface Look extends Required<Pick<Looks, 'language' | 'theme'>> {
  readonly width?: number
  /** Pages and moments that are looked at; all of them without it. */
  readonly among?: readonly string[]
}

/** What the other theme and a narrow screen change: forms, badges, charts, tables and what lies over a page. */
const telling = [
  ...['login', 'accounts', 'link-networks', 'key-webhook', 'key-usage', 'deliveries', 'alerts'],
  ...['account-banned-chart', 'accounts-chosen', 'resend', 'faults'],
]

const looks: readonly Look[] = [
  { language: 'en', theme: 'light' },
  { language: 'fa', theme: 'dark' },
  { language: 'en', theme: 'dark', ...narrow, among: telling },
  { language: 'fa', theme: 'light', ...narrow, among: telling },
]

async function arrive(page: Page, address: string) {
  await page.goto(address)
  await page.locator('h1').first().waitFor()
  await page.locator('.loading').first().waitFor({ state: 'detached' })
}

type Trouble = Awaited<ReturnType<typeof troubled>>

async function walk(t: Test, browser: Browser, scene: PanelScene, trouble: Trouble, look: Look) {
  const { language, theme, width = 1280, among } = look
  const visitor = await visit(browser, scene.service, { ...look, width })
  const { page } = visitor
  const isWanted = ([name]: readonly [string, unknown]) => !among || among.includes(name)
  const examine = async (name: string) => {
    t.same(await violationsIn(page), [], name)
    t.same(await page.evaluate(misplaced), [], `${name} is well formed`)
    t.notOk(await page.evaluate(isWiderThanScreen), `${name} fits`)
  }
  await page.goto('/login')
  await page.locator('input[name=phone]').waitFor()
  t.equal(await page.locator('html').getAttribute('dir'), language === 'fa' ? 'rtl' : 'ltr')
  await examine('login')
  await signIn(visitor, scene.service, scene.phone)
  const pages = { ...addressesOf(scene), deliveries: trouble.deliveries }
  for (const [name, address] of Object.entries(pages).filter(isWanted)) {
    await arrive(page, address)
    await examine(name)
  }
  const said = messagesIn(language)
  for (const [name, { address, play }] of Object.entries(momentsOf(scene, trouble)).filter(
    isWanted,
  )) {
    await arrive(page, address)
    await play(page, said)
    await examine(`${name} in ${theme}`)
  }
  t.same(visitor.complaints, [])
  await visitor.context.close()
}

t.test(
  'nothing has an accessibility problem of whichever impact',
  { skip: noBrowser, timeout: 290_000 },
  async (t) => {
    const scene = await panelScene(t)
    const trouble = await troubled(t, scene)
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    for (const look of looks) {
      const { language, theme, width = 1280 } = look
      await t.test(`${language}, ${theme}, ${width} px`, { timeout: 140_000 }, (t) =>
        walk(t, browser, scene, trouble, look),
      )
    }
  },
)
