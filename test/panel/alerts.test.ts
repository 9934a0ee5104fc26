/** The page of alerts: what is wrong, acknowledged and silenced; where to tell, set and tried out; in both languages. */
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { type Database, openDatabase } from '../../src/database/database.ts'
import { type Client, until } from '../support/client.ts'
import { httpReceiver } from '../support/http-receiver.ts'
import { quietLogger } from '../support/logger.ts'
import { startService } from '../support/service.ts'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { type Said, saidIn } from './said.ts'

/** The service sees every half minute that no incident of a test is so: it may not say it there. */
async function keepIncidents(database: Database) {
  await database.query(
    `create function keep_incident() returns trigger language plpgsql as $$
     begin new.affected := old.affected; new.absent_since := null; return new; end $$`,
  )
  await database.query(
    'create trigger kept before update on incident for each row execute function keep_incident()',
  )
}

interface Telling {
  readonly page: Page
  readonly said: Said
  readonly client: Client
  readonly receiver: Awaited<ReturnType<typeof httpReceiver>>
  readonly keyId: number
  /** Who is written to. */
  readonly chat: number
}

/** Where to tell is set, tried out, and there again after a reload. */
async function whereToTell(t: Test, { page, said, client, receiver, keyId, chat }: Telling) {
  const button = (key: string) => page.getByRole('button', { name: said(key), exact: true })
  const field = (key: string) => page.getByLabel(said(key), { exact: true })
  const told = page.getByRole('region', { name: said('alerts.told'), exact: true })
  const newest = (channel: string) =>
    told
      .locator('.record', {
        hasText: `${said(`alertChannel.${channel}`)} · ${said('alertEvent.test')}`,
      })
      .first()
  Object.assign(receiver, { status: 200 }).received.length = 0
  await client.result('PUT', '/alerts/settings', { minutes: 5, backlog_minutes: 30 })
  await page.goto('/dashboard/alerts')
  await page.getByText(said('alerts.tests.none')).waitFor()
  await field('alerts.backlog').fill('45')
  await field('alerts.webhook').fill(receiver.url)
  await field('alerts.key').selectOption(`${keyId}`)
  await field('alerts.chat').fill(`${chat}`)
  t.ok(await field('alerts.email').isDisabled(), 'this service sends no mail')
  await button('alerts.save').click()
  await page.getByText(said('alerts.saved')).first().waitFor()
  await button('alerts.test.webhook').click()
  await page.getByText(said('alerts.test.sent'), { exact: true }).waitFor()
  t.equal(receiver.received.length, 1)
  receiver.status = 500
  await button('alerts.test.webhook').click()
  await page.getByText(said('alerts.test.lost'), { exact: true }).waitFor()
  const lost = newest('webhook')
  await lost.getByText(said('alertSent.lost'), { exact: true }).waitFor()
  await lost.getByText('Wrong response from the webhook: 500').waitFor()
  const inbox = async () =>
    (await client.result('GET', `/sandbox/people/${chat}/inbox`)).messages.length
  const before = await inbox()
  await button('alerts.test.chat').click()
  await until(async () => (await inbox()) > before)
  await newest('chat').getByText(said('alertSent.sent'), { exact: true }).waitFor()
  await button('alerts.secret.show').click()
  t.match(await page.locator('.copied code').innerText(), /^whsec_/)
  t.match(await client.result('GET', '/alerts/settings'), {
    backlog_minutes: 45,
    webhook: { url: receiver.url },
    chat: { api_key_id: keyId },
  })
  await page.reload()
  await button('alerts.test.chat').waitFor()
  t.equal(await field('alerts.backlog').inputValue(), '45')
  t.equal(await field('alerts.webhook').inputValue(), receiver.url)
  t.strictSame(await seriousIn(page), [])
}

t.test('alerts are seen, answered and sent', { skip: noBrowser }, async (t) => {
  const env = { WEBHOOK_ALLOW_PRIVATE: 'true' }
  const service = await startService(t, { env })
  const phone = '+14155559361'
  const client = await service.client(phone)
  const { user_id: userId } = await client.result('GET', '/user')
  const ada = await client.person('Ada', 'alert_ada')
  const credentialId = await client.link(await client.person('Bot'))
  await client.link(await client.person('Bystander'))
  const { api_key_id: keyId } = await client.key(credentialId)
  const receiver = await httpReceiver(t)
  const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => database.close())
  await database.query(
    `insert into incident (user_id, rule, subject, state, affected, opened_at, resolved_at)
     values ($1, 'account_out', 'account_banned', 'open', 1, now() - interval '1 hour', null),
            ($1, 'webhook_failing', 'webhook_failing', 'open', 2, now() - interval '2 hours', null),
            ($1, 'backlog_old', 'backlog_old', 'resolved', 0, now() - interval '1 hour', now())`,
    [userId],
  )
  await keepIncidents(database)
  await database.query(
    `insert into incident_account (credential_id, incident_id)
     select $1, id from incident where rule = 'account_out'`,
    [credentialId],
  )
  await database.query(
    `create function keep_account() returns trigger language plpgsql as $$
     begin new.left_at := null; return new; end $$`,
  )
  await database.query(
    'create trigger kept before update on incident_account for each row execute function keep_account()',
  )
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, service)
  const { page, complaints } = visitor
  await signIn(visitor, service, phone)
  const row = (text: string) => page.locator('.record', { hasText: text })
  const button = (name: string | RegExp) => page.getByRole('button', { name })

  await t.test('the dashboard counts what is open, and leads to it', async () => {
    const tile = (text: string) => page.locator('.tile', { hasText: text })
    await tile('Open alerts').getByText('2', { exact: true }).waitFor()
    await tile('Webhooks failing').getByText('2', { exact: true }).waitFor()
    await tile('Bots behind').getByText('0', { exact: true }).waitFor()
    t.equal(await tile('Webhooks failing').getAttribute('href'), '/dashboard/keys?trouble=webhook')
  })

  await t.test('incidents are listed, the current ones first', async () => {
    await page.getByRole('link', { name: 'Alerts', exact: true }).click()
    await row('1 account is out').waitFor()
    await row('Bots were behind').waitFor()
    const shown = await page.locator('.card').first().locator('.record .label').allInnerTexts()
    t.same(shown, ['2 webhooks are failing', '1 account is out', 'Bots were behind'])
    t.strictSame(await seriousIn(page), [])
  })

  await t.test('one is acknowledged, and one silenced by keyboard alone', async () => {
    await button(/^Acknowledge: 1 account is out/).click()
    await row('1 account is out').getByText('Acknowledged', { exact: true }).waitFor()
    await button(/^Silence: 2 webhooks/).focus()
    await page.keyboard.press('Enter')
    const dialog = page.locator('.dialog')
    await dialog.getByLabel('For how long').selectOption({ label: '8 hours' })
    t.strictSame(await seriousIn(page), [])
    await dialog.getByRole('button', { name: 'Silence', exact: true }).focus()
    await page.keyboard.press('Enter')
    await row('2 webhooks are failing').getByText('Silenced', { exact: true }).waitFor()
    await dialog.waitFor({ state: 'detached' })
    const { items } = await client.result('GET', '/alerts')
    const states = Object.fromEntries(
      items.map(({ rule, state }: { rule: string; state: string }) => [rule, state]),
    )
    t.match(states, { account_out: 'acknowledged', webhook_failing: 'silenced' })
  })

  await t.test('a silence is taken back', async () => {
    await button(/^End the silence: 2 webhooks/).click()
    await row('2 webhooks are failing').getByText('Open', { exact: true }).waitFor()
    await button(/^Silence: 2 webhooks/).waitFor()
    t.equal(await row('2 webhooks are failing').getByText(/until/).count(), 0)
  })

  await t.test(
    'the accounts of an incident lead to their pages, and are chosen in the list',
    async () => {
      await button(/^Show them: 1 account is out/).click()
      const items = page.getByRole('region', { name: 'What it concerns' })
      const account = items.locator('a.record', { hasText: 'Bot' })
      await account.waitFor()
      t.equal(await account.getAttribute('href'), `/dashboard/accounts/${credentialId}#timeline`)
      t.strictSame(await seriousIn(page), [])
      await items.getByRole('link', { name: 'Select these in the list of accounts' }).click()
      await page.waitForURL('**/dashboard/accounts?incident=*')
      await page.getByText('1 account', { exact: true }).waitFor()
      t.equal(await page.getByText('Bystander').count(), 0)
      await page.getByRole('checkbox', { name: 'All shown here' }).check()
      await page.getByText('1 chosen').waitFor()
      await button(/^Incident \d+$/).click()
      await page.getByText('Bystander').waitFor()
      await page.getByRole('link', { name: 'Alerts', exact: true }).click()
    },
  )

  await t.test('one that is not over is seen, however many newer ones are', async () => {
    await database.query(
      `insert into incident (user_id, rule, subject, state, affected, opened_at, resolved_at)
       select $1, 'backlog_old', 'backlog_old', 'resolved', 0, now(), now() from generate_series(1, 60)`,
      [userId],
    )
    await page.reload()
    await row('Bots were behind').first().waitFor()
    await row('1 account is out').waitFor()
    await database.query(
      `delete from incident where state = 'resolved' and id > (select min(id) + 2 from incident)`,
    )
    await page.reload()
    await row('Bots were behind').waitFor()
  })

  const telling = { client, receiver, keyId, chat: ada.id }
  await t.test('where to tell is set, and tried out', (t) =>
    whereToTell(t, { page, said: saidIn('en'), ...telling }),
  )

  await t.test('what the service refuses is said', async () => {
    await page.getByLabel('Webhook', { exact: true }).fill('ftp://example.org')
    await button('Save').click()
    await page.locator('.wrong').first().waitFor()
    t.notMatch(await page.locator('.wrong').first().innerText(), /refusal|undefined/)
  })
  t.strictSame(complaints, [])

  await t.test('in Persian, from right to left, on a narrow phone', async () => {
    const looks = { language: 'fa', theme: 'dark', width: 320, height: 640 } as const
    const small = await visit(browser, service, looks)
    await signIn(small, service, phone)
    await small.page.goto('/dashboard/alerts')
    await small.page.getByText('۱ حساب از کار افتاده').waitFor()
    await small.page.getByText('بات‌هایی عقب بودند').waitFor()
    await small.page.getByText('آزمایش وب‌هوک').waitFor()
    await small.page
      .getByRole('button', { name: /^نمایش آن‌ها:/ })
      .first()
      .click()
    await small.page.getByText('گزینش این‌ها در فهرست حساب‌ها').waitFor()
    const text = await small.page.locator('main').innerText()
    t.notMatch(text, /alerts?\.|alert[A-Z]\w+\./, 'every message has its words')
    t.notMatch(text, /[A-Z]+_[A-Z]/, 'no name of a setting')
    const width = await small.page.evaluate('document.documentElement.scrollWidth')
    t.equal(width, 320)
    t.strictSame(await seriousIn(small.page), [])

    const failing = small.page.locator('.record', { hasText: '۲ وب‌هوک' })
    const label = await failing.locator('.label').boundingBox()
    t.ok(label && label.height < 30, 'buttons leave its words their room')
    const answer = (name: string) => failing.getByRole('button', { name })
    await answer('بی‌صدا: ').click()
    const dialog = small.page.locator('.dialog')
    await dialog.getByLabel('برای چه مدت').selectOption({ label: '۸ ساعت' })
    await dialog.getByRole('button', { name: 'بی‌صدا', exact: true }).click()
    const is = (state: string) => failing.locator('.badge').getByText(state, { exact: true })
    await is('بی‌صدا').waitFor()
    await answer('پایان بی‌صدایی: ').click()
    await is('باز').waitFor()
    await answer('دیدم: ').click()
    await is('دیده‌شده').waitFor()
    // Only so many tests are sent in five minutes.
    await database.query(`delete from alert_notification where event = 'test'`)
    await whereToTell(t, { page: small.page, said: saidIn('fa'), ...telling })
    t.strictSame(small.complaints, [])
  })
})

t.test('an operator sees what is their own once', { skip: noBrowser }, async (t) => {
  const phone = '+14155559362'
  const service = await startService(t, { env: { OPERATOR_PHONES: phone } })
  const client = await service.client(phone)
  await client.link(await client.person('Bot'))
  const { user_id: userId } = await client.result('GET', '/user')
  const database = openDatabase({ url: service.databaseUrl, logger: quietLogger })
  t.teardown(() => database.close())
  await keepIncidents(database)
  await database.query(
    `insert into incident (user_id, rule, subject, state, affected, opened_at)
     values ($1, 'webhook_failing', 'webhook_failing', 'open', 1, now()),
            (0, 'webhook_failing', 'webhook_failing', 'open', 1, now()),
            ($1, 'backlog_old', 'backlog_old', 'open', 1, now()),
            (0, 'backlog_old', 'backlog_old', 'open', 4, now()),
            (0, 'node_lost', 'north', 'open', 1, now())`,
    [userId],
  )
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  for (const [language, words] of Object.entries({
    en: {
      tiles: ['Webhooks failing', 'Bots behind', 'Open alerts'],
      counts: ['1', '1', '4'],
      rows: [
        ['A node is lost', 'Whole service'],
        ['3 bots are behind', 'Other users'],
        ['1 bot is behind', ''],
        ['1 webhook is failing', ''],
      ],
      show: /^Show them/,
    },
    fa: {
      tiles: ['وب‌هوک‌های ناکام', 'بات‌های عقب', 'هشدارهای باز'],
      counts: ['۱', '۱', '۴'],
      rows: [
        ['یک گره از دست رفته', 'کل سرویس'],
        ['۳ بات عقب‌اند', 'کاربران دیگر'],
        ['۱ بات عقب است', ''],
        ['۱ وب‌هوک پاسخ نمی‌دهد', ''],
      ],
      show: /^نمایش آن‌ها/,
    },
  })) {
    const visitor = await visit(browser, service, { language: language === 'fa' ? 'fa' : 'en' })
    const { page, complaints } = visitor
    await signIn(visitor, service, phone)
    for (const [place, name] of words.tiles.entries()) {
      const tile = page.locator('.tile', { hasText: name })
      await tile.getByText(words.counts[place]!, { exact: true }).waitFor()
    }
    await page.goto('/dashboard/alerts')
    const records = page.locator('.card').first().locator('.record')
    await records.first().waitFor()
    const shown = (await records.all()).map(async (row) => [
      await row.locator('.label').innerText(),
      (await row.locator('.badge.tone-busy').allInnerTexts()).join(),
    ])
    t.same(await Promise.all(shown), words.rows)
    t.equal(await page.getByRole('button', { name: words.show }).count(), 2, 'of their own')
    await page.getByText(/SMTP_URL.*SMTP_FROM/).waitFor()
    t.strictSame(await seriousIn(page), [])
    t.strictSame(complaints, [])
    await visitor.context.close()
  }
})
