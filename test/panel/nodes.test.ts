/** The page of the nodes, for operators: two real ones, of which one is drained, and an account that is moved. */
import t from 'tap'
import { unlimited } from '../nodes/callers.ts'
import { startRemote } from '../nodes/remote-service.ts'
import { until } from '../support/client.ts'
import { testDatabase } from '../support/database.ts'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

const phone = '+14155558901'
const other = '+14155558902'

t.test(
  'operators see the nodes and order them',
  { skip: noBrowser, timeout: 300_000 },
  async (t) => {
    const on = await testDatabase(t)
    const env = { ...unlimited, OPERATOR_PHONES: phone, REBALANCE_SECONDS: '600', NODE_WEIGHT: '1' }
    const first = await startRemote(t, { databaseUrl: on.url, name: 'north', env })
    const client = await first.client(phone)
    const accounts = [
      await client.link(await client.person('Ada', 'nodes_ada')),
      await client.link(await client.person('Bob', 'nodes_bob')),
    ]
    const [account = 0] = accounts
    const second = await startRemote(t, {
      databaseUrl: on.url,
      name: 'south',
      env: { ...env, DATA_DIR: first.dataDir },
    })
    const code = (of: string) =>
      until(async () => {
        const { codes } = first.codes.has(of) ? first : second
        const sent = codes.get(of)
        codes.delete(of)
        return sent
      })
    const service = { url: second.url, code }
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const visitor = await visit(browser, service)
    const { page, complaints } = visitor
    await signIn(visitor, service, phone)
    const card = (name: string) =>
      page.locator('.card', { hasText: name }).filter({
        has: page.getByRole('heading', { name, exact: true }),
      })
    const figure = async (name: string, title: string) =>
      card(name).locator('.figure', { hasText: title }).locator('dd').innerText()
    const dialog = page.locator('.dialog')

    await t.test('each node is shown on its chart, with what it has', async () => {
      await page.getByRole('link', { name: 'Nodes', exact: true }).click()
      await card('north').getByText('Takes accounts').first().waitFor()
      await card('south').getByText('answers you').waitFor()
      await card('north').locator('svg').first().waitFor()
      await until(async () => (await figure('north', 'Accounts')) === '2')
      t.equal(await figure('south', 'Accounts'), '0')
      await until(async () => /\d/.test(await figure('north', 'Event-loop lag')))
      t.match(
        await card('south').locator('.facts').first().innerText(),
        /https:\/\/127\.0\.0\.1:\d+/,
      )
      t.strictSame(await seriousIn(page), [])
    })

    await t.test('one is drained by keyboard, and its accounts move as one watches', async () => {
      await page.getByRole('button', { name: /^Drain: .*north/ }).focus()
      await page.keyboard.press('Enter')
      await dialog.getByText('Bots notice nothing').waitFor()
      t.strictSame(await seriousIn(page), [])
      await dialog.getByRole('button', { name: 'Drain', exact: true }).focus()
      await page.keyboard.press('Enter')
      await dialog.waitFor({ state: 'detached' })
      await card('north').getByText('Gives its accounts away').first().waitFor()
      await card('north').getByText('All accounts are handed over').waitFor()
      await until(async () => (await figure('south', 'Accounts')) === '2')
      t.equal(await figure('north', 'Accounts'), '0')
      t.strictSame(await seriousIn(page), [])
    })

    await t.test('the last one that takes accounts cannot be drained', async () => {
      await page.getByRole('button', { name: /^Drain: .*south/ }).click()
      await dialog.getByRole('button', { name: 'Drain', exact: true }).click()
      await dialog.locator('.wrong').waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    })

    await t.test('it is let in again, and an account is kept there', async () => {
      await page.getByRole('button', { name: /^Let in again: .*north/ }).click()
      await dialog.getByRole('button', { name: 'Let in again' }).click()
      await card('north').getByText('Takes accounts').first().waitFor()
      await page.getByLabel('Number of the account').fill(`${account}`)
      await page.getByLabel('Where it runs').selectOption('north')
      await page.getByRole('button', { name: 'Move', exact: true }).click()
      await page.getByText(`Account ${account} is kept at`).waitFor()
      await until(async () => (await figure('north', 'Accounts')) === '1')
      await until(async () => (await figure('north', 'Kept here')) === '1')
      await page.getByLabel('Number of the account').fill('999999')
      await page.getByRole('button', { name: 'Move', exact: true }).click()
      await page.locator('main .wrong').waitFor()
    })

    await t.test('the page of the account tells its node, its pin and its moves', async () => {
      await page.goto(`/dashboard/accounts/${account}`)
      await card('Node').locator('dd', { hasText: 'north' }).first().waitFor()
      const timeline = page.locator('ol.timeline')
      await timeline.getByText('has it now, after').first().waitFor()
      t.match(await timeline.allInnerTexts(), [/Came to a node/])
      t.strictSame(await seriousIn(page), [])
      await card('Node').getByLabel('Where it runs').selectOption('south')
      await card('Node').locator('dd', { hasText: 'south' }).nth(1).waitFor()
      // Without a look by hand: the page follows the account to its next owner.
      await timeline
        .getByText(/south\S* has it now, after .*north/)
        .first()
        .waitFor()
      const { items } = await client.result('GET', `/platforms/credentials/${account}/transitions`)
      const moves = items.filter(({ event }: { event: string }) => event === 'owner.gained')
      t.equal(moves.length, 3)
    })
    t.strictSame(complaints, [])

    await t.test('in Persian, from right to left, on a narrow phone', async () => {
      const looks = { language: 'fa', theme: 'dark', width: 320, height: 640 } as const
      const small = await visit(browser, service, looks)
      await signIn(small, service, phone)
      const width = () => small.page.evaluate('document.documentElement.scrollWidth')
      await small.page.goto('/dashboard/nodes')
      await small.page.getByText('حساب می‌پذیرد').first().waitFor()
      await small.page.locator('svg').first().waitFor()
      t.notMatch(await small.page.locator('main').innerText(), /nodes\.\w/, 'all has its words')
      t.equal(await width(), 320)
      t.strictSame(await seriousIn(small.page), [])
      await small.page.goto(`/dashboard/accounts/${account}`)
      await small.page.getByText('پس از').first().waitFor()
      await small.page.getByText('نگه‌داشته روی').waitFor()
      t.equal(await width(), 320)
      t.strictSame(await seriousIn(small.page), [])
      t.strictSame(small.complaints, [])
    })

    await t.test('nobody else has such a page', async () => {
      const stranger = await visit(browser, service)
      await signIn(stranger, service, other)
      await stranger.page.getByRole('link', { name: 'Alerts', exact: true }).waitFor()
      t.equal(await stranger.page.getByRole('link', { name: 'Nodes', exact: true }).count(), 0)
      await stranger.page.goto('/dashboard/nodes')
      await stranger.page.getByText('This page is for those who run the service').waitFor()
      t.strictSame(await seriousIn(stranger.page), [])
    })
  },
)
