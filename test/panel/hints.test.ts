/** The question marks beside words where one hesitates: each says something, leads to its chapter, and goes away alone. */
import type { Page } from 'playwright-core'
import t from 'tap'
import { violationsIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { messagesIn, subjectsOfHints } from './moments.ts'
import { addressesOf, panelScene, troubled } from './scene.ts'

type Open = (page: Page, said: (key: string) => string) => Promise<void>

const pressing =
  (key: string): Open =>
  (page, said) =>
    page.getByRole('button', { name: said(key), exact: true }).click()

t.test('help stands where one hesitates', { skip: noBrowser, timeout: 280_000 }, async (t) => {
  const scene = await panelScene(t)
  const { deliveries } = await troubled(t, scene)
  const at = addressesOf(scene)
  const spots: Readonly<Record<string, readonly [address: string, open?: Open]>> = {
    scopes: [at.key],
    cursor: [at.key],
    overlap: [at.key, pressing('keys.rotate')],
    webhook: [at['key-webhook']],
    resend: [deliveries, pressing('resend.title')],
    settings: [at.account],
    minutes: [at.alerts],
    silence: [
      at.alerts,
      (page, said) =>
        page
          .getByRole('button', { name: said('alerts.silence') })
          .first()
          .click(),
    ],
    linking: [at['link-networks']],
    diagnosis: [at.diagnosis],
  }
  t.same(Object.keys(spots).sort(), subjectsOfHints(), 'each hint is looked at')
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  for (const [language, width] of [
    ['en', 1280],
    ['fa', 320],
  ] as const) {
    await t.test(`${language}, ${width} px`, { timeout: 130_000 }, async (t) => {
      const said = messagesIn(language)
      const visitor = await visit(browser, scene.service, { language, width })
      const { page } = visitor
      await signIn(visitor, scene.service, scene.phone)
      for (const [subject, [address, open]] of Object.entries(spots)) {
        await page.goto(address)
        await open?.(page, said)
        const title = said(`hint.${subject}.title`)
        const name = said('hint.what').replace('{subject}', title)
        await page.getByRole('button', { name, exact: true }).click()
        const hint = page.locator('.hint-text:popover-open')
        await hint.getByText(said(`hint.${subject}`)).waitFor()
        t.match(await hint.getByRole('link').getAttribute('href'), /^\/docs#\/\S+$/, subject)
        t.same(await violationsIn(page), [], subject)
        await page.keyboard.press('Escape')
        await hint.waitFor({ state: 'hidden' })
        const dialogs = await page.locator('.dialog').count()
        t.equal(dialogs, open ? 1 : 0, `${subject}: what is below stays`)
      }
      t.same(visitor.complaints, [])
      await visitor.context.close()
    })
  }

  await t.test('the link leads to the chapter', async (t) => {
    const visitor = await visit(browser, scene.service)
    const { page, context } = visitor
    await signIn(visitor, scene.service, scene.phone)
    await page.goto(at.key)
    await page.getByRole('button', { name: 'What does that mean: Scopes' }).click()
    const opened = context.waitForEvent('page')
    await page.getByRole('link', { name: 'More in the documentation' }).first().click()
    const docs = await opened
    await docs.locator('[data-tag="api keys"][data-is-open="true"]').waitFor()
    t.match(docs.url(), /\/docs\/?#\/api%20keys$/)
    await context.close()
  })
})
