/** Several accounts at once in the browser: chosen, restarted, exported and deleted, by the keyboard and on a phone too. */
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import t from 'tap'
import { failed } from '../../machines/model/failure.ts'
import { startService } from '../support/service.ts'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { dialogOf } from './dialog.ts'

const words = {
  en: {
    choose: 'Choose',
    all: 'All shown here',
    chosen: /^\d+ chosen$/,
    restart: 'Restart',
    remove: 'Delete',
    csv: 'Export CSV',
    typed: /^Type/,
    failed: '1 failed',
    show: 'Show what failed',
    why: 'It was refused',
    again: 'Try the failed ones again',
    finished: 'Finished',
    stopped: 'Stopped',
    stop: 'Stop',
    resume: 'Go on',
    close: 'Close',
    tags: 'Tags',
    putOn: 'Put on',
    takeOff: 'Take off',
    saveView: 'Save this view',
    nameOfView: 'Name of the view',
    deleteView: 'Delete this view',
    out: /1\s*its session was ended/,
    chooseAll: 'Choose all 4 that match',
    chosenAll: 'All 4 that match are chosen',
  },
  fa: {
    choose: 'انتخاب',
    all: 'همهٔ آنچه اینجاست',
    chosen: /^[۰-۹]+ حساب انتخاب شده$/,
    restart: 'راه‌اندازی دوباره',
    remove: 'حذف',
    csv: 'خروجی CSV',
    typed: /^برای تأیید/,
    failed: '۱ ناموفق',
    show: 'نمایش ناموفق‌ها',
    why: 'پذیرفته نشد',
    again: 'تلاش دوباره برای ناموفق‌ها',
    finished: 'پایان‌یافته',
    stopped: 'بازایستاده',
    stop: 'بازایستادن',
    resume: 'ادامه',
    close: 'بستن',
    tags: 'برچسب',
    putOn: 'بگذار',
    takeOff: 'بردار',
    saveView: 'ذخیرهٔ این نما',
    nameOfView: 'نام نما',
    deleteView: 'حذف این نما',
    out: /۱\s*نشست آن در دستگاه دیگری/,
    chooseAll: 'انتخاب هر ۴ حسابِ یافته',
    chosenAll: 'هر ۴ حسابِ یافته انتخاب شده',
  },
}

const isWiderThanScreen =
  'document.documentElement.scrollWidth > document.documentElement.clientWidth'
const barOf = (page: Page) => page.locator('.bulk-bar')
const boxOf = (page: Page, name: string) => page.getByRole('checkbox', { name })

t.test('many accounts are dealt with at once', { skip: noBrowser, timeout: 290_000 }, async (t) => {
  const service = await startService(t)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  for (const [language, phone, width] of [
    ['en', '+14155559611', 1280],
    ['fa', '+14155559612', 320],
  ] as const) {
    await t.test(`${language}, ${width} px`, { timeout: 140_000 }, async (t) => {
      const said = words[language]
      const client = await service.client(phone)
      const [ada, bob, cyd] = [
        await client.link(await client.person('Ada', `ada_${language}`)),
        await client.link(await client.person('Bob', `bob_${language}`)),
        await client.link(await client.person('Cyd', `cyd_${language}`)),
      ]
      const eve = await client.person('Eve', `eve_${language}`)
      const out = await client.link(eve)
      await client.result('PUT', `/sandbox/people/${eve.id}/faults/revoke`, {})
      await client.state(out, 'logged_out')
      const visitor = await visit(browser, service, { language, width })
      const { page, complaints } = visitor
      const bar = barOf(page)
      const progress = page.locator('.bulk-progress')
      const fits = async (what: string) => {
        t.notOk(await page.evaluate(isWiderThanScreen), `${what} fits`)
        t.strictSame(await seriousIn(page), [], what)
      }
      await signIn(visitor, service, phone)

      // A group of accounts that are out for one reason is a filter.
      await page.goto('/dashboard/accounts')
      await boxOf(page, `${said.choose} Ada`).waitFor()
      const chip = page.getByRole('button', { name: said.out })
      await chip.click()
      await boxOf(page, `${said.choose} Ada`).waitFor({ state: 'detached' })
      t.equal(await chip.getAttribute('aria-pressed'), 'true')
      t.equal(new URL(page.url()).searchParams.get('reason'), 'session_revoked')
      await fits('the groups')

      // What is filtered is saved under a name, and is there again after it was left.
      await page.getByRole('button', { name: said.saveView }).click()
      await dialogOf(page).getByLabel(said.nameOfView).waitFor()
      await page.keyboard.type('Out')
      await page.keyboard.press('Enter')
      const view = page.getByRole('link', { name: 'Out', exact: true })
      await view.waitFor()
      await dialogOf(page).waitFor({ state: 'detached' })
      t.equal(await view.getAttribute('aria-current'), 'true')
      await fits('the views')
      await page.goto('/dashboard/accounts')
      await boxOf(page, `${said.choose} Ada`).waitFor()
      await view.click()
      await boxOf(page, `${said.choose} Ada`).waitFor({ state: 'detached' })
      await page.getByRole('button', { name: said.deleteView }).click()
      await view.waitFor({ state: 'detached' })
      await chip.click()
      await boxOf(page, `${said.choose} Ada`).waitFor()

      // By the keyboard alone: two are chosen and restarted; one of them is refused.
      const { supervisor } = service.gateway.core
      const find = supervisor.find.bind(supervisor)
      supervisor.find = async (id) => {
        if (id === bob) throw failed('forbidden', 'not this one')
        return find(id)
      }
      for (const name of ['Ada', 'Bob']) {
        await boxOf(page, `${said.choose} ${name}`).focus()
        await page.keyboard.press('Space')
      }
      t.match(await bar.getByRole('status').textContent(), said.chosen)
      await fits('the bar')
      await bar.getByRole('button', { name: said.restart }).focus()
      await page.keyboard.press('Enter')
      const dialog = page.locator('.dialog')
      await dialog.waitFor()
      await fits('the question')
      await dialog.getByRole('button', { name: said.restart }).focus()
      await page.keyboard.press('Enter')
      await progress.getByText(said.finished).waitFor()
      await progress.getByText(said.failed).waitFor()
      t.equal(await bar.getByRole('status').textContent(), '', 'nothing is chosen any more')

      await page.reload()
      await progress.getByText(said.finished).waitFor()
      await progress.getByRole('button', { name: said.show }).click()
      await progress.getByText(said.why).waitFor()
      await progress.getByRole('link', { name: 'Bob' }).waitFor()
      await fits('what failed')
      supervisor.find = find
      await progress.getByRole('button', { name: said.again }).click()
      await progress.getByText(said.failed).waitFor({ state: 'detached' })
      await progress.getByText(said.finished).waitFor()
      await progress.getByRole('button', { name: said.close }).click()
      await progress.waitFor({ state: 'detached' })

      // A tag is put on, is a filter, and is taken off again.
      const tag = page.locator('.chips').getByRole('button', { name: '#vip' })
      await boxOf(page, `${said.choose} Ada`).check()
      await bar.getByRole('button', { name: said.tags }).click()
      await dialog.getByLabel(said.putOn).fill('#vip')
      await fits('the tags')
      await page.keyboard.press('Enter')
      await tag.click()
      await boxOf(page, `${said.choose} Cyd`).waitFor({ state: 'detached' })
      t.equal(await page.locator('.line .tag').textContent(), '#vip')
      await boxOf(page, said.all).check()
      await bar.getByRole('button', { name: said.tags }).click()
      await dialog.getByLabel(said.takeOff).fill('vip')
      await page.keyboard.press('Enter')
      await page.locator('.line .tag').waitFor({ state: 'detached' })
      await tag.click()
      await tag.waitFor({ state: 'detached' })
      await boxOf(page, `${said.choose} Cyd`).waitFor()

      // Those that are chosen are exported, no others.
      const exported = async () => {
        const saving = page.waitForEvent('download')
        await bar.getByRole('button', { name: said.csv }).click()
        const lines = (await readFile(await (await saving).path(), 'utf8')).trim().split('\r\n')
        return lines.slice(1).map((line) => Number(line.split(',')[0]))
      }
      await boxOf(page, `${said.choose} Ada`).check()
      await bar.getByRole('button', { name: said.chooseAll }).click()
      await bar.getByRole('status').getByText(said.chosenAll).waitFor()
      t.same(await exported(), [ada, bob, cyd, out])
      await boxOf(page, `${said.choose} Eve`).uncheck()
      t.same(await exported(), [ada, bob, cyd])

      // Deleting wants the number typed; stopped, it goes on after a reload.
      const ready = Promise.withResolvers<void>()
      supervisor.find = async (id) => {
        await ready.promise
        return find(id)
      }
      await bar.getByRole('button', { name: said.remove }).click()
      const confirm = dialog.getByRole('button', { name: said.remove })
      t.ok(await confirm.isDisabled())
      await dialog.getByLabel(said.typed).fill(language === 'fa' ? '۳' : '3')
      await confirm.click()
      await progress.getByRole('button', { name: said.stop, exact: true }).click()
      await progress.getByText(said.stopped).waitFor()
      await page.reload()
      await progress.getByText(said.stopped).waitFor()
      supervisor.find = find
      await progress.getByRole('button', { name: said.resume }).click()
      ready.resolve()
      await progress.getByText(said.finished).waitFor()
      await boxOf(page, `${said.choose} Eve`).waitFor()
      await boxOf(page, `${said.choose} Ada`).waitFor({ state: 'detached' })
      const left = await client.result('GET', '/platforms/credentials')
      t.same(
        left.items.map((item: { credential_id: number }) => item.credential_id),
        [out],
      )
      t.strictSame(complaints, [])
      await visitor.context.close()
    })
  }
})
