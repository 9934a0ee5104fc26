/** Linking when something comes in between, and deleting what was linked. */
import type { Page } from 'playwright-core'
import t from 'tap'
import { startService } from '../support/service.ts'
import { seriousIn, violationsIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { dialogOf } from './dialog.ts'

/** When the code and the attempt end, as a page says. */
async function endsIn(page: Page): Promise<(string | null)[]> {
  const times = await page.locator('.facts time').all()
  return Promise.all(times.map((time) => time.getAttribute('datetime')))
}

const within = (at: string | null | undefined, from: number, to: number) => {
  const minutes = (Date.parse(at ?? '') - Date.now()) / 60_000
  return minutes > from - 2 && minutes <= to + 0.1
}

const isClose = (one: string | null | undefined, other: string | null | undefined) =>
  Math.abs(Date.parse(one ?? '') - Date.parse(other ?? '')) < 30_000

t.test(
  'a link flow loses nothing that was typed or meant',
  { skip: noBrowser, timeout: 240_000 },
  async (t) => {
    const service = await startService(t)
    const phone = '+14155559541'
    const client = await service.client(phone)
    const person = await client.person('😀 سلام')
    const credentialId = await client.link(person)
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const visitor = await visit(browser, service)
    const { page, complaints } = visitor
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    const code = page.locator('input[name=code]')
    const again = `/dashboard/link?platform=sandbox&again=${credentialId}`
    const start = async () => {
      await page.locator('p .ltr').getByText(person.phone).waitFor()
      t.equal(await page.getByLabel('Phone of the account').inputValue(), person.phone)
      await button('Start').click()
      await code.waitFor()
    }
    await signIn(visitor, service, phone)

    await t.test('what is linked again stays the same account when it is begun anew', async (t) => {
      await page.goto(again)
      await start()
      await button('Cancel linking').click()
      await page.getByRole('link', { name: 'Start again' }).click()
      await page.getByRole('heading', { name: 'Link the account again' }).waitFor()
      t.match(page.url(), again)
    })

    await t.test('a code that did not get through is still there', async (t) => {
      await start()
      await page.route('**/link/verify', (route) => route.abort())
      await code.fill('12345')
      await button('Continue').click()
      await page.getByText('The service does not answer').waitFor()
      t.equal(await code.inputValue(), '12345')
      await page.unroute('**/link/verify')
      await button('Continue').click()
      await page.getByText('The code is wrong').waitFor()
      t.equal(await code.inputValue(), '')
    })

    await t.test('a code step says of which account it is, and how long it lasts', async (t) => {
      await page.goto(again)
      await start()
      const facts = (where: Page) => where.locator('.facts')
      const hidden = `+${'*'.repeat(person.phone.length - 5)}${person.phone.slice(-4)}`
      const shown = await facts(page).innerText()
      t.match(shown, `Sandbox · ${hidden}`)
      t.match(shown, '2 of 2; one more if the account has a password')
      t.notMatch(shown, person.phone)
      const ends = await endsIn(page)
      t.ok(within(ends[0], 4, 5) && within(ends[1], 14, 15), 'the code ends before the attempt')
      t.match(await facts(page).locator('time').first().innerText(), /^\d\d:\d\d \(in \d min/)

      await button('Make the page').click()
      const address = await page.locator('.copied code').filter({ hasText: '/link/' }).innerText()
      const made = page.getByText('It works as long as this attempt, until').locator('time')
      t.ok(isClose(await made.getAttribute('datetime'), ends[1]), 'the page ends with the attempt')
      const owner = await visit(browser, service, { width: 320 })
      await owner.page.goto(new URL(address).pathname)
      await owner.page.getByText('asks for it: +*******9541').waitFor()
      t.match(await facts(owner.page).innerText(), `Sandbox · ${hidden}`)
      const theirs = await endsIn(owner.page)
      t.ok(
        theirs.every((end, place) => isClose(end, ends[place])),
        'both say the same times',
      )
      t.notMatch(await owner.page.content(), phone, 'the user is not named in full')
      t.strictSame(await seriousIn(owner.page), [])

      // The next answer says that the code works for two seconds more.
      await owner.page.route('**/link-pages/*', async (route) => {
        const response = await route.fetch()
        const body = (await response.json()) as { readonly result: object }
        await route.fulfill({ json: { ...body, result: { ...body.result, code_expires_in: 2 } } })
      })
      await owner.page.getByText('It is too old: send a new one').waitFor()
      t.same(owner.complaints, [])
      await owner.context.close()
    })

    await t.test('a page whose time is over has a heading as any other', async (t) => {
      const owner = await visit(browser, service)
      await owner.page.goto('/link/chp_lnk_nothing')
      await owner.page.getByText('This link no longer works').waitFor()
      t.equal(await owner.page.locator('h1').allInnerTexts().then(String), 'Link an account')
      t.same(await violationsIn(owner.page), [])
      await owner.context.close()
    })

    await t.test('a flow that is gone leads to a new one', async () => {
      await page.goto('/dashboard/link/sandbox/AAAAAAAAAAAAAAAAAAAAAA')
      await page.getByText('It is not there, or it is not yours.').waitFor()
      await page.getByRole('link', { name: 'Start again' }).click()
      await page.getByLabel('Phone of the account').waitFor()
    })

    await t.test(
      'what may be done with the webhook of a bot is agreed to by a switch',
      async (t) => {
        await page.goto('/dashboard/link?platform=telegram-bot')
        await page.getByLabel('Token').fill('123456:ABC-DEF1234ghIkl')
        await page.getByRole('switch', { name: 'Delete the webhook' }).click()
        const given: unknown[] = []
        await page.route('**/link/start', (route) => {
          given.push(route.request().postDataJSON())
          return route.fulfill({
            status: 403,
            json: {
              ok: false,
              error_code: 403,
              description: 'Forbidden: Telegram bots refused the token',
            },
          })
        })
        await button('Start').click()
        await page.getByText('Telegram bots refused the token').waitFor()
        t.same(given, [
          { method: 'token', token: '123456:ABC-DEF1234ghIkl', delete_webhook: 'true' },
        ])
        await page.unroute('**/link/start')
      },
    )

    await t.test('an account is deleted by something that everybody can type', async () => {
      await page.goto(`/dashboard/accounts/${credentialId}`)
      await button('Delete').click()
      await page.getByLabel(/^Type/).fill(`${credentialId}`)
      await button('Cancel').click()
      await button('Delete').click()
      await dialogOf(page).getByRole('button', { name: 'Delete', disabled: true }).waitFor()
      const inPersian = (digit: string) => String.fromCharCode(0x06f0 + Number(digit))
      await page.getByLabel(/^Type/).fill(`${credentialId}`.replace(/\d/g, inPersian))
      await dialogOf(page).getByRole('button', { name: 'Delete' }).click()
      await page.getByText('The account is deleted').first().waitFor()
    })

    t.same(complaints, [])
  },
)

const words = {
  en: {
    radio: 'Telegram',
    about: 'Telegram is not set up on this service: ask whoever runs it',
    setup: 'You run this service: what is missing here',
    get: 'Get both at my.telegram.org',
    code: 'Continue',
    out: /its session was ended on another device\. Link it again/,
    again: 'Link again',
    diagnose: 'Diagnose',
    key: 'Create a key',
  },
  fa: {
    radio: 'تلگرام',
    about: 'تلگرام در این سرویس راه‌اندازی نشده است: از گردانندهٔ آن بخواهید',
    setup: 'شما این سرویس را می‌گردانید: آنچه کم است',
    get: 'گرفتن هر دو از my.telegram.org',
    code: 'ادامه',
    out: /نشست آن در دستگاه دیگری پایان یافت\. دوباره پیوندش دهید/,
    again: 'پیوند دوباره',
    diagnose: 'عیب‌یابی',
    key: 'ساخت کلید',
  },
}

t.test('what to do next is said', { skip: noBrowser, timeout: 240_000 }, async (t) => {
  const operator = '+14155559551'
  const service = await startService(t, { env: { OPERATOR_PHONES: operator } })
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  for (const [language, phone] of [
    ['en', '+14155559552'],
    ['fa', '+14155559553'],
  ] as const) {
    const said = words[language]

    await t.test(`a network that is not set up, in ${language}`, async (t) => {
      const visitor = await visit(browser, service, { language })
      const { page } = visitor
      await signIn(visitor, service, phone)
      await page.goto('/dashboard/link')
      const tile = page.locator('label.platform', { hasText: said.about })
      await tile.locator('svg').waitFor()
      t.ok(await page.getByRole('radio', { name: said.radio, exact: true }).isDisabled())
      t.notMatch(await page.locator('main').innerText(), /[A-Z]+_[A-Z]/, 'no name of a setting')
      const boxes = await Promise.all(
        (await page.locator('label.platform').all()).map((one) => one.boundingBox()),
      )
      t.ok(boxes.length > 3)
      t.equal(new Set(boxes.map((box) => Math.round(box?.height ?? 0))).size, 1, 'equally high')
      t.strictSame(await seriousIn(page), [])
      await visitor.context.close()
    })

    await t.test(`and what whoever runs the service has to set, in ${language}`, async (t) => {
      const visitor = await visit(browser, service, { language, width: 320 })
      const { page } = visitor
      await signIn(visitor, service, operator)
      await page.goto('/dashboard/link')
      const notice = page.locator('.notice', { hasText: said.setup })
      t.match(await notice.innerText(), /TELEGRAM_API_ID.*TELEGRAM_API_HASH.*docs\/platforms\.md/s)
      const link = notice.getByRole('link', { name: said.get })
      t.equal(await link.getAttribute('href'), 'https://my.telegram.org/apps')
      t.equal(await page.evaluate('document.documentElement.scrollWidth'), 320)
      t.strictSame(await seriousIn(page), [])
      await visitor.context.close()
    })

    await t.test(`an account that falls out at once, in ${language}`, async (t) => {
      const client = await service.client(phone)
      const person = await client.person('Bot')
      const visitor = await visit(browser, service, { language })
      const { page, complaints } = visitor
      const link = (name: string) => page.getByRole('link', { name, exact: true })
      await signIn(visitor, service, phone)
      const { session_id } = await client.result('POST', '/platforms/sandbox/link/start', {
        phone: person.phone,
      })
      await page.goto(`/dashboard/link/sandbox/${session_id}`)
      await page.locator('input[name=code]').fill(await client.code(person.id))
      await page.getByRole('button', { name: said.code, exact: true }).click()
      await link(said.key).waitFor()
      const [own] = (await client.result('GET', '/platforms/credentials')).items
      if (language === 'fa') await client.key(own.credential_id)
      await client.result('PUT', `/sandbox/people/${person.id}/faults/revoke`, {})
      await link(said.again).waitFor()
      t.equal(await page.getByRole('status').filter({ hasText: said.out }).count(), 1)
      t.equal(await link(said.key).count(), 0)
      if (language === 'fa') await link(said.diagnose).waitFor()
      else t.equal(await link(said.diagnose).count(), 0, 'no key to diagnose')
      t.strictSame(await seriousIn(page), [])
      if (language === 'en') {
        await page.goto(`/dashboard/accounts/${own.credential_id}/diagnosis`)
        await page.locator('.notice').getByText(said.out).waitFor()
        t.strictSame(await seriousIn(page), [])
      }
      await link(said.again).click()
      await page.waitForURL('**/dashboard/link?platform=sandbox&again=*')
      t.strictSame(complaints, [])
      await visitor.context.close()
    })
  }
})
