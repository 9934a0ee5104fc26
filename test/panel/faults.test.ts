/** Everything that the sandbox can make go wrong, switched in one tab, and what the account's page shows in another. */
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { dialogOf } from './dialog.ts'

/** An account is taken for deaf after three seconds, which even a busy machine does not need for a round trip. */
const env = { PROBE_INTERVAL_MS: '500', PROBE_RETRY_MS: '1000', PROBE_TIMEOUT_MS: '3000' }

t.test(
  'an account is watched while things go wrong',
  { skip: noBrowser, timeout: 280_000 },
  async (t) => {
    const service = await startService(t, { env })
    const client = await service.client('+14155559103')
    const bot = await client.person('Vera', 'vera_bot')
    const friend = await client.person('Neighbour', 'neighbour')
    const credentialId = await client.link(bot)
    const { key } = await client.key(credentialId)
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const visitor = await visit(browser, service)
    const { page, complaints } = visitor
    await signIn(visitor, service, '+14155559103')

    const lit = (state: string) =>
      page.locator(`.statechart .lit[data-state="${state}"]`).waitFor({ timeout: 60_000 })
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    await page.goto(`/dashboard/accounts/${credentialId}`)
    await page.getByRole('region', { name: 'Timeline' }).waitFor()
    t.equal(await page.locator('.statechart').count(), 0, 'at first the chart is not shown')
    await button('Show the chart').click()
    await lit('live.online')

    const messenger = await visitor.context.newPage()
    await messenger.goto(`/dashboard/sandbox?as=${bot.id}&chat=${friend.id}`)
    const doors = messenger.getByRole('button', { name: /^Faults for/ })
    await doors.nth(1).waitFor()
    t.same((await doors.allInnerTexts()).sort(), ['Faults for Neighbour', 'Faults for Vera'])
    await messenger.goto(`/dashboard/sandbox?as=${friend.id}&chat=${bot.id}`)
    await messenger.getByRole('button', { name: /^Faults for Vera/ }).click()
    const dialog = dialogOf(messenger)
    const setSwitch = async (name: string, to: boolean) => {
      await dialog.getByRole('switch', { name }).click()
      await dialog.getByRole('switch', { name, checked: to }).waitFor()
    }
    const measured = (name: string) => dialog.locator('form', { hasText: name })
    const put = async (name: string, amount: string) => {
      await dialog.getByLabel(name).fill(amount)
      await measured(name).getByRole('button', { name: 'Put on' }).click()
      await measured(name).getByRole('button', { name: 'Take off' }).waitFor()
    }
    const takeOff = (name: string) =>
      measured(name).getByRole('button', { name: 'Take off' }).click()
    const strike = async (name: string) => {
      await dialog.getByRole('button', { name: `Now: ${name}` }).click()
      await messenger.getByRole('button', { name, exact: true }).click()
    }

    await t.test('silence makes it deaf', async () => {
      await setSwitch('Silence', true)
      await lit('live.deaf')
      await page.getByText('Degraded').first().waitFor()
      await setSwitch('Silence', false)
      await lit('live.online')
    })

    await t.test('answers that are too slow do, too', async () => {
      await put('Answer slowly', '60000')
      await lit('live.deaf')
      await takeOff('Answer slowly')
      await lit('live.online')
    })

    await t.test('events told twice and out of order arrive once', async (t) => {
      await setSwitch('Repeat events', true)
      await setSwitch('Mix events up', true)
      await client.write(friend.id, '@vera_bot', 'one')
      await client.write(friend.id, '@vera_bot', 'two')
      const texts: unknown[] = []
      let offset = 0
      await until(async () => {
        const { body } = await client.bot(key, 'getUpdates', { offset, timeout: 5 })
        for (const { update_id, message } of body.result) {
          texts.push(message?.text)
          offset = update_id + 1
        }
        return texts.length >= 2
      }, 40_000)
      t.same(texts, ['one', 'two'])
      await lit('live.online')
      await page.goto(`/dashboard/accounts/${credentialId}/diagnosis`)
      await button('Take all steps').click()
      await page.getByRole('heading', { name: 'It works, but: The account' }).waitFor()
      await page.getByText('reported twice').first().waitFor()
      await page.goto(`/dashboard/accounts/${credentialId}`)
      await setSwitch('Repeat events', false)
      await setSwitch('Mix events up', false)
    })

    await t.test('a lost answer leaves the outcome unknown', async () => {
      await put('Lose answers', '1')
      await page.getByLabel('Send a real message to (optional)').fill('@neighbour')
      await button('Test now').click()
      await page.getByText('Look there before you send again').waitFor()
      await lit('live.online')
    })

    await t.test('a restriction passes by itself', async () => {
      await put('Restrict sending', '10')
      await lit('live.limited')
      await page.getByText('the network asks it to slow down').first().waitFor()
      await lit('live.online')
    })

    await t.test('a dropped connection is tried again', async () => {
      await put('Drop the connection', '600')
      await lit('waiting')
      await page.getByText('the network cannot be reached').first().waitFor()
      await page.locator('.timeline .repeated').first().waitFor()
      await takeOff('Drop the connection')
      await lit('live.online')
    })

    await t.test('a ban ends it until somebody restarts it', async () => {
      await setSwitch('Ban', true)
      await lit('invalid')
      await page.getByText('Contact the platform').first().waitFor()
      await setSwitch('Ban', false)
      await button('Restart').click()
      await lit('live.online')
    })

    await t.test('Cancel leaves the session alone', async (t) => {
      const struck: string[] = []
      messenger.on('request', (request) => {
        if (request.method() === 'PUT') struck.push(request.url())
      })
      await dialog.getByRole('button', { name: 'Now: Take the session over' }).click()
      const sure = dialogOf(messenger).filter({ hasText: 'loses its session at once' })
      await sure.getByRole('button', { name: 'Cancel', exact: true }).click()
      await sure.waitFor({ state: 'detached' })
      await page.reload()
      await lit('live.online')
      t.same(struck, [])
    })

    await t.test('a session that was taken over wants a new link', async () => {
      await strike('Take the session over')
      await lit('replaced')
      const { session_id } = await client.result('POST', '/platforms/sandbox/link/start', {
        phone: bot.phone,
        credential_id: credentialId,
      })
      const otp = await client.code(bot.id)
      await client.result('POST', '/platforms/sandbox/link/verify', { session_id, otp })
      await lit('live.online')
    })

    await t.test(
      'an ended session does, too, and the timeline shows the way on the chart',
      async (t) => {
        await strike('End the session')
        await lit('signedOut')
        await page.getByText('Link it again').first().waitFor()
        const entry = page.locator('.timeline button').first()
        await entry.click()
        await page.locator('.statechart .edge.picked').waitFor()
        t.equal(await entry.getAttribute('aria-pressed'), 'true')
        t.match(await entry.innerText(), /The network ended the session session\.revoked/)
        t.match(await entry.locator('.label').innerText(), /Signed out/, 'a name for people')
        t.match(await entry.locator('.code').innerText(), /signedOut/, 'and the code')
      },
    )

    await t.test('the chart is hidden until an entry is shown on it', async (t) => {
      await button('Hide the chart').press('Enter')
      await page.locator('.statechart').waitFor({ state: 'detached' })
      await page.reload()
      await button('Show the chart').waitFor()
      t.equal(await page.locator('.statechart').count(), 0, 'also after a reload')
      await page.locator('.timeline button').first().press('Enter')
      await page.locator('.statechart .edge.picked').waitFor()
      t.equal(await button('Hide the chart').getAttribute('aria-expanded'), 'true')
    })

    await t.test('the chart and the timeline speak to people', async (t) => {
      const online = page.locator('.statechart .state[data-state="live.online"] text')
      t.same(await online.allTextContents(), ['Online', 'online'])
      const labels = await page.locator('.statechart .edge-words text').allTextContents()
      t.ok(labels.some((label) => /^leaving × \d$/.test(label)))
      t.notOk(
        labels.some((label) => label.startsWith('leaving: ')),
        'they are one label',
      )
      for (const [words, code] of [
        ['connection lost', 'session.lost'],
        ['Hears nothing: round trip not answered', 'deaf: probe.failed'],
      ] as const) {
        const at = labels.indexOf(words)
        t.ok(at >= 0, words)
        t.equal(labels[at + 1], code, 'with its code below')
      }
      t.ok(labels.some((label) => /^Signing out × \d$/.test(label)))
      t.equal(await page.locator('.statechart .edge.way').count(), 3, 'from resuming to online')
      const strip = page.getByRole('img', { name: /^States of the last 24 hours: .*Online \d/ })
      await strip.waitFor()
      t.ok((await strip.locator('.tone-good').count()) > 0)
      await page.getByText('As a list', { exact: true }).click()
      const spans = page.getByRole('region', { name: 'As a list' }).getByRole('listitem')
      t.match(await spans.first().innerText(), /^\d.* – \d.*: Signed out$/, 'the newest first')
      t.ok((await spans.allInnerTexts()).some((text) => text.endsWith(': Hears nothing')))
      await page
        .getByRole('region', { name: 'Timeline' })
        .getByLabel('Time range')
        .selectOption('7d')
      await page.getByRole('img', { name: /^States of the last 7 days/ }).waitFor()
      const entries = page.locator('.timeline button')
      const back = entries.filter({ has: page.locator('.code', { hasText: 'live.online' }) })
      for (const entry of await back.allTextContents()) {
        t.notMatch(entry, /cannot be reached/, 'what works again has no reason')
      }
      await page.getByLabel('Which entries').selectOption('people')
      await page.getByText('it was linked again').first().waitFor()
      const words = await entries.allTextContents()
      t.ok(words.length > 0 && words.every((text) => text.includes('credential.')))
      await page.getByLabel('Which entries').selectOption('all')
    })

    await t.test('in Persian, too', async (t) => {
      const reader = await visitor.context.newPage()
      await reader.addInitScript("localStorage.setItem('chapar.language', 'fa')")
      await reader.goto(`/dashboard/accounts/${credentialId}`)
      await reader.getByText('پیام‌رسان به نشست پایان داد').first().waitFor()
      await reader.getByRole('img', { name: /^وضعیت‌های ۲۴ ساعت گذشته/ }).waitFor()
      const onEdges = reader.locator('.statechart .edge-words text')
      await onEdges
        .filter({ hasText: /^session\.lost$/ })
        .first()
        .waitFor({ state: 'attached' })
      const labels = await onEdges.allTextContents()
      t.ok(labels.includes('اتصال قطع شد') && labels.includes('session.lost'))
      await reader.close()
    })

    await t.test('the timeline tells of reconnecting as one episode', async (t) => {
      const episode = page.locator('.timeline .episode', { hasText: /Reconnecting × \d/ }).first()
      await episode.waitFor()
      await episode.locator('summary').press('Enter')
      await episode.locator('button').first().waitFor()
      const whole = await page.locator('.timeline button').count()
      await page.getByLabel('Which entries').selectOption('trouble')
      await episode.waitFor()
      t.ok((await page.locator('.timeline button').count()) < whole, 'the others are left out')
      const health = await page.getByRole('region', { name: 'Health' }).boundingBox()
      const chart = await page.getByRole('region', { name: 'State machine' }).boundingBox()
      t.ok(health && chart && health.y < chart.y, 'health comes first')
      t.strictSame(await seriousIn(page), [])
    })

    t.same(complaints, [], 'no script fails, and the content policy stops nothing')
  },
)
