/** The logs of a key in the browser, in both languages: what was sent, searches, what is sent again, and the way to a call. */
import type { Request } from 'playwright-core'
import t, { type Test } from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { dialogOf } from './dialog.ts'
import { saidIn } from './said.ts'

type Testing = Parameters<typeof startService>[0]
type Browser = Awaited<ReturnType<typeof openBrowser>>
type Service = Awaited<ReturnType<typeof startService>>

const MINUTE_MS = 60_000

/** A time as an input of a browser on this machine takes it. */
function local(ms: number): string {
  const at = new Date(ms)
  return new Date(ms - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16)
}

interface Asked {
  readonly service: Service
  readonly browser: Browser
  readonly language: 'en' | 'fa'
}

/** A key with a webhook that has got nothing yet, another key of the same account, and its owner before the panel. */
async function explorerScene(t: Testing, { service, browser, language }: Asked) {
  const phone = language === 'en' ? '+14155559651' : '+14155559652'
  const client = await service.client(phone)
  const ada = await client.person('Ada', undefined, { last_name: 'Lovelace' })
  const bob = await client.person('Bob')
  const name = `explored_${language}`
  const credentialId = await client.link(await client.person('Bot', name))
  const [hooked, calling] = [await client.key(credentialId), await client.key(credentialId)]
  let status = 200
  const receiver = await Receiver.open(t, (_received, response) => {
    response.writeHead(status, { 'x-pool': 'empty' })
    response.end(status === 200 ? '' : '{"error":"boom: database is down"}')
  })
  await client.bot(hooked.key, 'setWebhook', { url: receiver.url })
  const visitor = await visit(browser, service, {
    language,
    ...(language === 'fa' && { width: 320, height: 640 }),
  })
  const { page } = visitor
  await signIn(visitor, service, phone)
  const said = saidIn(language)
  const rows = page.locator('.records:not(.inset) > li')
  const row = (text: string | RegExp) => rows.filter({ hasText: text }).first()
  return {
    ...{ service, client, ada, bob, name, credentialId, hooked, calling, receiver },
    ...{ visitor, page, said, rows, row },
    deliveries: `/dashboard/keys/${hooked.api_key_id}?tab=deliveries`,
    requests: `/dashboard/keys/${calling.api_key_id}?tab=requests`,
    dialog: dialogOf(page),
    button: (key: string) => page.getByRole('button', { name: said(key), exact: true }),
    answer: (next: number) => {
      status = next
    },
    write: (person: { id: number }, text: string) => client.write(person.id, `@${name}`, text),
    fits: async (t: { equal(found: unknown, wanted: unknown): unknown }) =>
      t.equal(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 0),
  }
}

type Scene = Awaited<ReturnType<typeof explorerScene>>

/** What is kept is chosen before there is any traffic; of what was not kept the stored update is shown. */
async function bodies(t: Test, { page, said, row, deliveries, write, ada, fits }: Scene) {
  await page.goto(deliveries)
  const named = { choice: said('exchange.keep'), count: 3 }
  const choice = page.getByLabel(said('keep.days.other', named), { exact: true })
  await choice.waitFor()
  t.equal(await choice.inputValue(), 'failed')
  await write(ada, 'Is there green tea?')
  const first = row('Is there green tea?')
  await first.getByText('Ada Lovelace').waitFor()
  await first.locator('summary').first().click()
  await first.getByText(said('exchange.stored')).waitFor()
  await first.getByText('"text": "Is there green tea?"').waitFor()
  t.equal(await page.getByLabel(said('exchange.keep')).count(), 1, 'the choice is there once')
  t.strictSame(await seriousIn(page), [])
  await fits(t)
  const saved = page.waitForResponse((answer) => answer.request().method() === 'PUT')
  await choice.selectOption('all')
  t.equal((await saved).status(), 200)
  await page.reload()
  await page
    .locator('select')
    .filter({ hasText: said('exchange.keep.all') })
    .waitFor()
  t.equal(await choice.inputValue(), 'all')
}

/** How an attempt failed, how often, and that a later one delivered it. */
async function failures(t: Test, scene: Scene) {
  const { page, said, row, deliveries, write, bob, answer, receiver, fits } = scene
  answer(500)
  await page.goto(deliveries)
  const before = receiver.received.length
  await write(bob, 'And black tea?')
  await receiver.count(before + 2, 30_000)
  const failed = row('And black tea?')
  // There may have been more meanwhile.
  const times = failed.getByText(/× [2-9۲-۹]/)
  const next = said('deliveries.nextAt', { moment: '' })
  await times.filter({ hasText: next }).first().waitFor()
  const error = failed.getByText('Wrong response from the webhook').first()
  const [wide = 0, seen = 0] = await error.evaluate((element) => {
    const { scrollWidth, clientWidth } = element as unknown as Record<string, number>
    return [scrollWidth, clientWidth]
  })
  t.ok(seen > 150 && wide <= seen + 1, `the error is seen whole: ${wide} of ${seen}`)
  await fits(t)
  await failed.locator('summary').first().click()
  await failed
    .getByRole('heading', { name: said('exchange.response') })
    .first()
    .waitFor()
  await failed.getByText('"error": "boom: database is down"').first().waitFor()
  await failed.getByText('x-pool: empty').first().waitFor()
  const size = page.viewportSize() ?? { width: 0, height: 0 }
  await page.setViewportSize({ width: 320, height: size.height })
  await fits(t)
  await page.setViewportSize(size)
  await failed.locator('.badge.tone-bad', { hasText: '500' }).first().waitFor()
  answer(200)
  await page.goto(`${deliveries}&outcome=failed`)
  const later = said('deliveries.later', { moment: '' }).trim()
  await failed.getByText(later).waitFor({ timeout: 90_000 })
  t.equal(await failed.locator('.badge.tone-bad').count(), 0, 'it does not stand as failed')
}

/** Deliveries are searched by words, chat and time. */
async function search(t: Test, scene: Scene) {
  const { page, said, rows, row, deliveries, ada, bob, button, fits } = scene
  const only = async (text: string, other: string) => {
    await row(other).waitFor({ state: 'detached' })
    await row(text).waitFor()
  }
  const [tea, black] = ['Is there green tea?', 'And black tea?']
  const field = (key: string) => page.getByLabel(said(key), { exact: true })
  await page.goto(deliveries)
  await page.getByText(said('search.title')).click()
  await field('search.text').fill('GREEN')
  await only(tea, black)
  const follow = button('follow.off')
  t.ok(await follow.isDisabled())
  const reason = await follow.getAttribute('aria-describedby')
  t.equal(await page.locator(`[id="${reason}"]`).innerText(), said('follow.costly'))
  t.strictSame(await seriousIn(page), [])
  await button('search.clear').click()
  await row(black).waitFor()
  await field('search.chat').fill(`${bob.id}`)
  await only(black, tea)
  await field('search.chat').fill(`${ada.id}`)
  await only(tea, black)
  await button('search.clear').click()
  const now = Date.now()
  await field('resend.first').fill(local(now - 60 * MINUTE_MS))
  await field('resend.last').fill(local(now + 2 * MINUTE_MS))
  await row(tea).waitFor()
  await row(black).waitFor()
  await field('resend.last').fill(local(now - 30 * MINUTE_MS))
  await page.getByText(said('deliveries.noneSuch')).waitFor()
  t.equal(await rows.count(), 0)
  await button('search.clear').click()
  await field('resend.first').fill(local(now + 30 * MINUTE_MS))
  await page.getByText(said('deliveries.noneSuch')).waitFor()
  await fits(t)
}

/** One is sent again, and ranges with an end: by numbers and by times. */
async function again(t: Test, scene: Scene) {
  const { page, said, row, deliveries, receiver, button, dialog, client, hooked } = scene
  const path = `/api_keys/${hooked.api_key_id}/webhook/resend`
  const done = () => until(async () => (await client.result('GET', path)).state === 'done')
  await page.goto(deliveries)
  const one = row('Is there green tea?')
  await one.locator('summary').first().click()
  receiver.received.length = 0
  await one.getByRole('button', { name: said('resend.one'), exact: true }).click()
  const [sent] = await receiver.count(1)
  t.equal(sent?.update.message.text, 'Is there green tea?')
  await done()

  await button('resend.title').click()
  const field = (key: string) => dialog.getByLabel(said(key), { exact: true })
  const count = (updates: number, form: 'one' | 'other') =>
    dialog.getByText(said(`resend.count.${form}`, { count: updates })).waitFor()
  await dialog.getByLabel(said('resend.which')).selectOption('times')
  const now = Date.now()
  await field('resend.first').fill(local(now - 60 * MINUTE_MS))
  await field('resend.last').fill(local(now - 30 * MINUTE_MS))
  await count(0, 'other')
  await field('resend.last').fill(local(now + 2 * MINUTE_MS))
  await count(2, 'other')
  await dialog.getByLabel(said('resend.which')).selectOption('numbers')
  await field('resend.first').fill(`${sent?.update.update_id}`)
  await field('resend.last').fill(`${sent?.update.update_id}`)
  await count(1, 'one')
  t.strictSame(await seriousIn(page), [])
  receiver.received.length = 0
  await dialog.getByRole('button', { name: said('resend.go'), exact: true }).click()
  await receiver.count(1)
  await done()
  t.same(receiver.texts, ['Is there green tea?'], 'the range has an end')
}

/** From an update that another key caused to its call, and from there back. */
async function cause(t: Test, scene: Scene) {
  const { page, said, row, deliveries, client, calling, hooked, ada, credentialId } = scene
  const settings = `/platforms/credentials/${credentialId}/settings`
  await client.result('PATCH', settings, { include_self_updates: true })
  await client.bot(calling.key, 'sendMessage', { chat_id: ada.id, text: 'We do' })
  await page.goto(deliveries)
  await row('We do').locator('summary').first().click()
  await row('We do').locator('dd a').click()
  await page.waitForURL(`**/dashboard/keys/${calling.api_key_id}?**`)
  await row('sendMessage').locator('summary').click()
  await row('sendMessage')
    .locator('dt', { hasText: said('requests.operation') })
    .waitFor()
  await row('sendMessage')
    .locator('dd', { hasText: /^send$/ })
    .waitFor()
  t.equal(await scene.rows.locator('summary').count(), 1, 'this call alone')
  t.strictSame(await seriousIn(page), [])
  await row('sendMessage').getByRole('link').click()
  await page.waitForURL(`**/dashboard/keys/${hooked.api_key_id}?**`)
  await row('We do').waitFor()
}

/** What the answer of a webhook caused leads to the update that was answered. */
async function replied(t: Test, scene: Scene) {
  const { page, said, row, deliveries, client, credentialId, ada, write } = scene
  const answering = await client.key(credentialId)
  const reply = { method: 'sendMessage', chat_id: ada.id, text: 'By return' }
  const receiver = await Receiver.open(t, ({ update }, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(update.message.text === 'By return?' ? JSON.stringify(reply) : '')
  })
  await client.bot(answering.key, 'setWebhook', { url: receiver.url })
  await write(ada, 'By return?')
  await page.goto(deliveries)
  const caused = row(/By return(?!\?)/)
  await caused.locator('summary').first().click()
  const asked = receiver.received.find(({ update }) => update.message.text === 'By return?')
  const id = `${asked?.update.update_id}`
  await caused.getByRole('link', { name: said('deliveries.cause.answer', { id }) }).click()
  await page.waitForURL(`**/dashboard/keys/${answering.api_key_id}?**`)
  await row('By return?').waitFor()
}

/** The log of requests: by class of status, words, chat and time; followed; what is not there is not asked for for ever. */
async function calls(t: Test, scene: Scene) {
  const { page, said, rows, row, requests, client, calling, ada, button } = scene
  const field = (key: string) => page.getByLabel(said(key), { exact: true })
  await client.bot(calling.key, 'sendMessage', { chat_id: 1, text: 'to nobody' })
  await page.goto(requests)
  await row('400').waitFor()
  await client.bot(calling.key, 'getMe')
  await row('getMe').waitFor()
  await page.getByText(said('search.title')).click()
  await field('search.status').selectOption('4xx')
  await row('getMe').waitFor({ state: 'detached' })
  await row('400').waitFor()
  await field('search.status').selectOption('2xx')
  await row('400').waitFor({ state: 'detached' })
  await row('getMe').waitFor()
  await button('search.clear').click()
  await row('400').waitFor()
  await field('search.calls.text').fill('TO NOBODY')
  await row('getMe').waitFor({ state: 'detached' })
  await row('400').waitFor()
  await field('search.chat').fill(`${ada.id}`)
  await page.getByText(said('requests.noneKept')).waitFor()
  await field('search.chat').fill('1')
  await row('400').waitFor()
  t.equal(await rows.count(), 1)
  await button('search.clear').click()
  await row('getMe').waitFor()
  await field('resend.last').fill(local(Date.now() - 30 * MINUTE_MS))
  await page.getByText(said('requests.none')).waitFor()
  await field('resend.first').fill(local(Date.now() - 60 * MINUTE_MS))
  await field('resend.last').fill(local(Date.now() + 2 * MINUTE_MS))
  await row('getMe').waitFor()
  await scene.fits(t)
}

/** A call that is not in the log is asked for for two minutes, and no longer, until the log is followed anew. */
async function unknown(t: Test, { page, said, requests, calling, button }: Scene) {
  const isLook = (request: Request) => request.url().includes('/user/logs/api-requests')
  await page.clock.install()
  await page.goto(`${requests}&request_id=unknown`)
  await page.getByText(said('requests.noneSuch')).waitFor()
  const next = page.waitForResponse((answer) => isLook(answer.request()))
  await page.clock.fastForward(10_000)
  await next
  const last = page.waitForResponse((answer) => isLook(answer.request()))
  await page.clock.fastForward(2 * MINUTE_MS)
  await last
  let looks = 0
  page.on('request', (request) => {
    if (isLook(request)) looks++
  })
  for (let times = 0; times < 2; times++) {
    // The page goes on reading the key itself every few seconds.
    const own = page.waitForResponse((answer) =>
      answer.url().endsWith(`/api_keys/${calling.api_key_id}`),
    )
    await page.clock.fastForward(10_000)
    await own
  }
  t.equal(looks, 0)
  // Whoever presses the button again wants to look again.
  await button('follow.on').click()
  await button('follow.off').click()
  const anew = page.waitForResponse((answer) => isLook(answer.request()))
  await page.clock.fastForward(10_000)
  await anew
}

t.test(
  'a service that keeps no contents says so, also at the second try, and offers no choice',
  {
    skip: noBrowser,
    timeout: 120_000,
  },
  async (t) => {
    const service = await startService(t, { env: { LOG_BODIES: '0' } })
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const { page, said, deliveries, requests } = await explorerScene(t, {
      ...{ service, browser, language: 'en' },
    })
    for (const address of [deliveries, requests]) {
      const choices = /\/api_keys\/\d+\/exchanges$/
      await page.route(choices, (route) => route.fulfill({ status: 400, json: { ok: false } }))
      await page.goto(address)
      const retry = page.getByRole('button', { name: said('retry') })
      await retry.waitFor()
      await page.unroute(choices)
      await retry.click()
      await page.getByText(said('keep.off')).waitFor()
      t.equal(await page.getByLabel(said('exchange.keep')).count(), 0)
      t.equal(await page.getByLabel(said('call.keep')).count(), 0)
    }
  },
)

t.test('the logs of a key', { skip: noBrowser, timeout: 280_000 }, async (t) => {
  const service = await startService(t)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  for (const language of ['en', 'fa'] as const) {
    await t.test(language, { timeout: 200_000 }, async (t) => {
      const scene = await explorerScene(t, { service, browser, language })
      const steps = { bodies, failures, search, again, cause, replied, calls, unknown }
      for (const [name, step] of Object.entries(steps)) await t.test(name, (t) => step(t, scene))
      t.same(scene.visitor.complaints, [])
      await scene.visitor.context.close()
    })
  }
})
