/** What a page shows stays true while it is open: health after a test, and what happened while nothing was heard. */
import t from 'tap'
import { until } from '../support/client.ts'
import { httpReceiver } from '../support/http-receiver.ts'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

t.test(
  'an open page goes on telling the truth',
  { skip: noBrowser, timeout: 240_000 },
  async (t) => {
    const service = await startService(t)
    const phone = '+14155559531'
    const client = await service.client(phone)
    const person = await client.person('Ada', 'ada_fresh')
    const other = await client.person('Bela', 'bela_fresh')
    const credentialId = await client.link(person)
    const otherId = await client.link(other)
    const ban = async ({ id }: { id: number }, credential: number) => {
      await client.result('PUT', `/sandbox/people/${id}/faults/ban`, {})
      await client.state(credential, 'invalid', 60_000)
    }
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const visitor = await visit(browser, service)
    const { page, complaints } = visitor
    await signIn(visitor, service, phone)

    await t.test('a test that was passed says nothing of what came afterwards', async (t) => {
      await page.goto(`/dashboard/accounts/${credentialId}`)
      await page.getByRole('button', { name: 'Test now' }).click()
      await page.getByText('Passed').first().waitFor()
      await page.getByText('Healthy', { exact: true }).waitFor()
      await page.getByText('Online since').waitFor()
      await ban(person, credentialId)
      await page.getByText('Not healthy').waitFor()
      await page.getByText('Online since').waitFor({ state: 'detached' })
      t.equal(await page.getByText('Healthy', { exact: true }).count(), 0)
    })

    await t.test('proofs of health are told as they come', async () => {
      await page.goto(`/dashboard/accounts/${otherId}`)
      const proof = page.locator('.facts time').first()
      const before = await proof.getAttribute('datetime')
      await until(async () => (await proof.getAttribute('datetime')) !== before)
    })

    await t.test('switches stay where they were put while that is saved', async (t) => {
      const { promise: released, resolve: release } = Promise.withResolvers<void>()
      await page.route('**/settings', async (route) => {
        await released
        await route.continue()
      })
      const [first, second] = [
        page.getByRole('switch', { name: 'Own messages' }),
        page.getByRole('switch', { name: 'Channel posts', exact: true }),
      ]
      await first.click()
      await second.click()
      await page.locator('[role=switch][aria-checked=true]').nth(1).waitFor()
      t.equal(await first.getAttribute('aria-checked'), 'true')
      release()
      await until(async () => {
        const { settings } = await client.result('GET', `/platforms/credentials/${otherId}`)
        return settings.include_self_updates && settings.include_channel_updates
      })
      t.equal(await page.locator('[role=switch][aria-checked=true]').count(), 2)
      await page.unroute('**/settings')
    })

    await t.test('a switch says when the network has nothing of its kind', async (t) => {
      await page.route('**/platforms', async (route) => {
        const response = await route.fetch()
        const answer = await response.json()
        for (const { capabilities } of answer.result) {
          capabilities.update_types = capabilities.update_types.filter(
            (kind: string) => kind !== 'channel_post',
          )
        }
        await route.fulfill({ response, json: answer })
      })
      await page.reload()
      const hint = page.getByText('Sandbox sends nothing of this kind: the switch changes nothing.')
      await hint.first().waitFor()
      t.equal(await hint.count(), 2)
      await page.unroute('**/platforms')
    })

    await t.test('the timeline begins with what happened last', async (t) => {
      const { items } = await client.result('GET', `/platforms/credentials/${otherId}/transitions`)
      const [newest] = items
      const repeated = {
        ...newest,
        from: 'waiting',
        to: 'queued',
        count: 9,
        at: '2026-01-01T00:00:00.000Z',
        last_at: new Date(Date.parse(newest.last_at) + 1_000).toISOString(),
      }
      const told = { ok: true, result: { items: [...items, repeated], next_before: null } }
      await page.route('**/transitions?*', (route) => route.fulfill({ json: told }))
      // What happens meanwhile would be told live, and stand before it.
      await page.route(`**/credentials/${otherId}/events`, (route) => route.abort())
      await page.reload()
      const states = page.locator('.timeline .code')
      await states.first().waitFor()
      t.same((await states.allTextContents()).slice(0, 2), ['queued', newest.to])
      await page.unrouteAll()
    })

    await t.test('the timeline tells of reconnecting in one line', async (t) => {
      const shared = { actor: `credential:${otherId}`, node: 'one', duration_ms: 100 }
      const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, second)).toISOString()
      const step = (
        [from, to, event]: readonly [string, string, string],
        [first, last]: readonly [number, number],
        more: object = {},
      ) => ({
        ...shared,
        ...{ from, to, event, reason: null, count: 1 },
        ...{ at: at(first), last_at: at(last) },
        ...more,
      })
      const items = [
        step(['live.starting', 'live.online', 'probe.passed'], [17, 17]),
        step(['queued', 'live.starting', 'turn.granted'], [11, 16], { count: 3 }),
        step(['live.starting', 'waiting', 'session.lost'], [12, 14], {
          ...{ reason: 'network', count: 2 },
        }),
        step(['live.online', 'waiting', 'session.lost'], [10, 10], { reason: 'network' }),
        step(['live.starting', 'live.online', 'probe.passed'], [1, 1]),
      ]
      const told = { ok: true, result: { items, next_before: null } }
      await page.route('**/transitions?*', (route) => route.fulfill({ json: told }))
      await page.route(`**/credentials/${otherId}/events`, (route) => route.abort())
      await page.reload()
      const episode = page.locator('.timeline .episode summary')
      await episode.waitFor()
      t.match(
        await episode.innerText(),
        /^Reconnecting × 3 · 7 sec · the network cannot be reached · online again$/,
      )
      t.equal(await page.locator('.timeline button').count(), 5)
      const newest = await page.locator('.timeline button').first().innerText()
      t.match(newest, /1 Jan 2026, \d\d:\d\d:17 ·/, 'with the date and the time of the clock')
      await page.getByLabel('Which entries').selectOption('trouble')
      t.equal(await page.locator('.timeline button').count(), 4, 'all went well before')
      await page.unrouteAll()
    })

    await t.test('the keys of an account change on its page as they do on their own', async () => {
      const { api_key_id, key } = await client.key(otherId)
      await page.goto(`/dashboard/accounts/${otherId}`)
      const keys = page.getByRole('region', { name: 'Its API keys' })
      await keys.getByText('Not receiving').waitFor()
      const bot = await httpReceiver(t)
      await client.bot(key, 'setWebhook', { url: bot.url })
      await keys.getByText('Webhook', { exact: true }).waitFor()
      await client.result('DELETE', `/api_keys/${api_key_id}`)
      await keys.getByText('No key yet').waitFor()
    })

    await t.test('deliveries that ended with their account do not succeed since', async () => {
      const third = await client.person('Cora', 'cora_fresh')
      const thirdId = await client.link(third)
      const { api_key_id, key } = await client.key(thirdId)
      const bot = await httpReceiver(t)
      await client.bot(key, 'setWebhook', { url: bot.url })
      await client.write(other.id, third.id, 'Are you there?')
      await bot.count(1)
      await page.goto(`/dashboard/keys/${api_key_id}`)
      await ban(third, thirdId)
      const told = page.locator('.notice', { hasText: 'Forbidden: ' })
      await told.getByText('The last thing that went wrong', { exact: true }).waitFor()
    })

    await t.test('a chat says when nothing new is heard of', async () => {
      const friend = await client.person('Cyrus')
      await page.goto(`/dashboard/sandbox?as=${friend.id}&chat=${other.id}`)
      const chat = page.getByRole('region', { name: 'Open chat' })
      await chat.getByRole('log').waitFor()
      await page.route('**/inbox?*', (route) => route.abort())
      await client.write(other.id, friend.id, 'Are you there?')
      await chat.getByText('Reconnecting').waitFor()
      await page.unroute('**/inbox?*')
      await chat.getByText('Reconnecting').waitFor({ state: 'detached' })
      await chat.getByText('Are you there?').waitFor()
    })

    await t.test('what happened while the service was away is caught up with', async () => {
      await page.goto('/dashboard')
      const needs = page.getByRole('region', { name: 'Needs you' })
      await needs.getByText('Ada', { exact: true }).waitFor()
      await page.route('**/platforms/credentials/events', (route) => route.abort())
      await service.restart()
      await page.getByText('Reconnecting').waitFor()
      await ban(other, otherId)
      await page.unroute('**/platforms/credentials/events')
      await needs.getByText('Bela', { exact: true }).waitFor({ timeout: 60_000 })
    })

    t.same(complaints, [])
  },
)
