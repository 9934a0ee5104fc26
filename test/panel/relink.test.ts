/** Accounts that are out are linked again by their owners: pages made for them in the list, opened by somebody else. */
import { readFile } from 'node:fs/promises'
import t from 'tap'
import { linkBot } from '../platforms/upstream-bot/chain.ts'
import { token as botToken, refusal, startStub } from '../platforms/upstream-bot/stub.ts'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { dialogOf } from './dialog.ts'

const words = {
  en: {
    all: 'All shown here',
    relink: 'Link again',
    finished: 'Finished',
    save: 'Save the addresses',
    show: 'Show the addresses',
    ready: 'Not begun',
    start: 'Send me the code',
    go: 'Continue',
    bot: 'Your Telegram bot account:',
    token: 'Token',
    link: 'Link it again',
    wrong: 'refused the token',
    linked: 'The account is linked',
    isLinked: 'Linked',
  },
  fa: {
    all: 'همهٔ آنچه اینجاست',
    relink: 'پیوند دوباره',
    finished: 'پایان‌یافته',
    save: 'ذخیرهٔ نشانی‌ها',
    show: 'نمایش نشانی‌ها',
    ready: 'آغاز نشده',
    start: 'کد را برایم بفرست',
    go: 'ادامه',
    bot: 'حساب شما در',
    token: 'توکن',
    link: 'دوباره پیوند بده',
    wrong: 'توکن را نپذیرفت',
    linked: 'حساب پیوند خورد',
    isLinked: 'پیوند یافت',
  },
}

const isWiderThanScreen =
  'document.documentElement.scrollWidth > document.documentElement.clientWidth'

t.test('pages link accounts again', { skip: noBrowser, timeout: 290_000 }, async (t) => {
  const stub = await startStub(t)
  // A probe of the linked bot would take the answer that is meant for its page.
  const env = { TELEGRAM_BOT_API_URL: stub.url, PROBE_INTERVAL_MS: '600000' }
  const service = await startService(t, { env })
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  for (const [language, phone, width] of [
    ['en', '+14155559621', 1280],
    ['fa', '+14155559622', 320],
  ] as const) {
    await t.test(`${language}, ${width} px`, { timeout: 140_000 }, async (t) => {
      const said = words[language]
      const client = await service.client(phone)
      const eve = await client.person('Eve', `eve_relinks_${language}`)
      const out = await client.link(eve)
      await client.result('PUT', `/sandbox/people/${eve.id}/faults/revoke`, {})
      await client.state(out, 'logged_out')
      const visitor = await visit(browser, service, { language, width })
      const { page, complaints } = visitor
      const progress = page.locator('.bulk-progress')
      await signIn(visitor, service, phone)
      await page.goto('/dashboard/accounts')
      await page.getByRole('checkbox', { name: said.all }).check()
      const asking = page.locator('.bulk-bar').getByRole('button', { name: said.relink })
      await asking.click()
      await dialogOf(page).getByRole('button', { name: said.relink }).click()
      await progress.getByText(said.finished).waitFor()
      await progress.getByRole('button', { name: said.show }).click()
      await progress.getByText(said.ready).waitFor()
      t.strictSame(await seriousIn(page), [], 'the addresses')
      t.notOk(await page.evaluate(isWiderThanScreen), 'they fit')
      const saving = page.waitForEvent('download')
      await progress.getByRole('button', { name: said.save }).click()
      const [, line] = (await readFile(await (await saving).path(), 'utf8')).split('\r\n')
      const [, token] = /\/link\/(chp_lnk_\w+),/.exec(line ?? '') ?? []
      t.ok(token, 'the table has its address')

      // Somebody else, who does not sign in, on a phone.
      const owner = await visit(browser, service, { language, width: 320 })
      await owner.page.goto(`/link/${token}`)
      await owner.page.getByText(eve.phone.slice(-4)).waitFor()
      t.strictSame(await seriousIn(owner.page), [], 'the page of the owner')
      t.notOk(await owner.page.evaluate(isWiderThanScreen), 'it fits')
      await owner.page.getByRole('button', { name: said.start }).focus()
      await owner.page.keyboard.press('Enter')
      const code = owner.page.locator('input[name=code]')
      await code.waitFor()
      await code.fill(await client.code(eve.id))
      await owner.page.keyboard.press('Enter')
      await owner.page.getByText(said.linked).waitFor()
      await client.state(out, 'active')
      t.strictSame(owner.complaints, [])
      await owner.context.close()

      await page.reload()
      await progress.getByRole('button', { name: said.show }).click()
      await progress.getByText(said.isLinked, { exact: true }).waitFor()
      t.strictSame(complaints, [])
      await visitor.context.close()

      // A bot has no phone: its owner enters the token, by keyboard alone.
      const bot = await linkBot(client, { token: botToken })
      const path = '/platforms/credentials/actions'
      const wanted = { kind: 'relink', credential_ids: [bot] }
      const { action_id } = await client.result('POST', path, wanted)
      const made = await until(async () => {
        const { items } = await client.result('GET', `${path}/${action_id}/pages`)
        return items[0]
      })
      const keeper = await visit(browser, service, { language, width: 320 })
      await keeper.page.goto(new URL(made.url).pathname)
      await keeper.page.getByText(said.bot).waitFor()
      await keeper.page.getByText('@a_bot').waitFor()
      t.strictSame(await seriousIn(keeper.page), [], 'the page of the bot')
      t.notOk(await keeper.page.evaluate(isWiderThanScreen), 'it fits as well')
      await keeper.page.getByLabel(said.token).focus()
      await keeper.page.keyboard.type(botToken)
      stub.next('getMe', refusal(401, 'Unauthorized'))
      await keeper.page.keyboard.press('Enter')
      await keeper.page.getByText(said.wrong).waitFor()
      t.equal(await keeper.page.getByLabel(said.token).inputValue(), botToken, 'it stays')
      await keeper.page.keyboard.press('Enter')
      await keeper.page.getByText(said.linked).waitFor()
      await keeper.context.close()
    })
  }
})
