/** The panel in a real browser: from signing in to a bot that answers in the messenger. */
import { Bot, InlineKeyboard } from 'grammy'
import t, { type Test } from 'tap'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { dialogOf } from './dialog.ts'

t.test(
  'a user signs in, links, makes a key and runs a bot with it',
  { skip: noBrowser, timeout: 240_000 },
  async (t) => {
    // As in use: a busy machine is no reason to take an account for deaf.
    const env = { PROBE_INTERVAL_MS: '10000', PROBE_TIMEOUT_MS: '10000' }
    const service = await startService(t, { env })
    const client = await service.client('+14155559101')
    const person = await client.person('Vera', 'vera_bot', {
      password: 'correct horse',
      password_hint: 'the usual',
    })
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const visitor = await visit(browser, service)
    const { page, complaints } = visitor
    const button = (name: string) => page.getByRole('button', { name, exact: true })

    await t.test('signing in keeps no token where a script could read it', async (t) => {
      await signIn(visitor, service, '+14155559101')
      await page.getByText('Link your first messenger account').waitFor()
      const [cookie] = await visitor.context.cookies()
      t.match(cookie, { name: 'chapar', httpOnly: true, sameSite: 'Strict', path: '/' })
      t.equal(await page.evaluate('document.cookie'), '')
      t.notMatch(await page.evaluate('JSON.stringify({ ...localStorage })'), /ey|chp_|token/)
      await page.reload()
      await page.getByText('Link your first messenger account').waitFor()
    })

    await t.test('a wrong code, a reload, the right code and the password', async () => {
      await page.goto('/dashboard/link')
      await page.getByRole('radio', { name: 'Sandbox' }).click()
      await page.getByLabel('Phone of the account').fill(person.phone)
      await button('Start').click()
      await page.locator('input[name=code]').fill('00000')
      await button('Continue').click()
      await page.getByText('The code is wrong').waitFor()
      await page.getByText('4 attempts left').waitFor()
      await page.reload()
      await page.locator('input[name=code]').fill(inPersian(await client.code(person.id)))
      await button('Continue').click()
      await page.getByText('the usual').waitFor()
      await page.reload()
      await page.locator('input[name=password]').fill('correct horse')
      await button('Continue').click()
      await page.getByText('The account is linked').waitFor()
    })

    let key = ''
    let apiRoot = ''
    await t.test('a key is shown once, and works', async (t) => {
      await page.getByRole('link', { name: 'Create a key' }).click()
      await dialogOf(page).getByLabel('Name').fill('my bot')
      await button('Make the key').click()
      await page.getByText('This is the only time').waitFor()
      key = await page.locator('.copied code').first().innerText()
      t.match(key, /^\d{6,}:[\w-]{43}$/)
      t.match(await client.bot(key, 'getMe'), {
        body: { ok: true, result: { username: 'vera_bot' } },
      })
      const lines = await page.locator('.copied pre').innerText()
      t.match(lines, `new Bot('${key}'`)
      apiRoot = /apiRoot: '(.*)'/.exec(lines)?.[1] ?? ''
      await button('I have kept it').click()
      await page.getByRole('link', { name: /my bot/ }).waitFor()
      t.notMatch(await page.content(), key.slice(8))
    })

    await t.test(
      'a bot made of the lines on the page answers people in the messenger',
      async (t) => {
        const bot = new Bot(key, { client: { apiRoot } })
        bot.on('message:text', (ctx) =>
          ctx.reply(`You said: ${ctx.msg.text}`, {
            reply_markup: new InlineKeyboard().text('Order', 'order'),
          }),
        )
        bot.callbackQuery('order', (ctx) => ctx.answerCallbackQuery('It is on its way'))
        await startPolling(t, bot)
        t.equal(bot.botInfo.username, 'vera_bot')
        await page.getByRole('link', { name: 'Sandbox' }).click()
        await button('New person').click()
        await page.getByLabel('Name', { exact: true }).fill('Ada')
        await dialogOf(page).getByRole('button', { name: 'New person' }).click()
        await page.getByText('Choose a chat').waitFor()
        await button('New chat').first().click()
        await dialogOf(page).getByText('@vera_bot').click()
        await page.getByLabel('Write a message').fill('Is it open?')
        await page.keyboard.press('Enter')
        const echo = page.locator('.line', { hasText: 'You said: Is it open?' })
        await echo.getByRole('button', { name: 'Order' }).click()
        await page.getByText('It is on its way').first().waitFor()
        t.equal(await page.locator('.line').count(), 2, 'each was written once')
        await page.getByRole('link', { name: 'API keys' }).click()
        await page.getByRole('link', { name: /my bot/ }).click()
        // The bot asks again and again, and is held each time: the chart of the key says so.
        await page.locator('.statechart .lit[data-state="usable.held"]').waitFor()
        await page.getByText('Polling').first().waitFor()
      },
    )

    await t.test('signing out leaves nothing to come back with', async (t) => {
      await page.goto('/dashboard')
      await page.getByRole('button', { name: /Sign out/ }).click()
      await page.waitForURL('**/login**')
      await page.goto('/dashboard')
      await page.waitForURL('**/login?next=**')
      t.same(await visitor.context.cookies(), [])
    })

    t.same(complaints, [], 'no script fails, and the content policy stops nothing')
  },
)

const inPersian = (digits: string) =>
  digits.replace(/\d/g, (digit) => String.fromCharCode(0x06f0 + Number(digit)))

/** It polls from now until the test ends. */
async function startPolling(t: Test, bot: Bot): Promise<void> {
  const begun = new Promise<void>((resolve, reject) => {
    bot.start({ onStart: () => resolve(), timeout: 20 }).catch(reject)
  })
  t.teardown(() => bot.stop())
  await begun
}
