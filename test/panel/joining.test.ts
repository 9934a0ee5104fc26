/** Links in the sandbox's messenger: into chats, at once, by approval or for Stars, and to invoices. */
import t from 'tap'
import { seriousIn } from './axe.ts'
import { noBrowser } from './browser.ts'
import { chatScene } from './chat-scene.ts'

const MONTH = 2_592_000
const app = 'https://sandbox.invalid/rules'

t.test('links that people follow', { skip: noBrowser, timeout: 180_000 }, async (t) => {
  const scene = await chatScene(t, '+14155559372')
  const { client, page, ada, bot, ask, heard, button, line, complaints } = scene
  const dialog = page.locator('.dialog')
  const make = (more: object) =>
    client.result('POST', '/sandbox/chats', { title: 'Tea club', owner: bot.id, ...more })
  const write = (text: string, link: string) =>
    ask('sendMessage', { text: `<a href="${link}">${text}</a>`, parse_mode: 'HTML' })
  const follow = async (text: string) => {
    await line(text).getByRole('button', { name: text }).click()
    await dialog.waitFor()
  }
  const press = (name: string) => dialog.getByRole('button', { name, exact: true }).click()

  await t.test('an invite link asks to be let in', async (t) => {
    const { id } = await make({ kind: 'supergroup' })
    const asking = { chat_id: id, creates_join_request: true }
    const { invite_link } = await ask('createChatInviteLink', asking)
    await write('Join the club', invite_link)
    await follow('Join the club')
    await dialog.getByText('An administrator has to let you in first.').waitFor()
    t.same(await seriousIn(page), [])
    await press('Ask to be let in')
    t.match(await heard('chat_join_request'), { chat: { id }, from: { id: ada.id } })
    await button('What Ada has').click()
    await dialog.getByRole('tab', { name: 'Join' }).click()
    await dialog.locator('.record', { hasText: 'Tea club' }).waitFor()
    await ask('approveChatJoinRequest', { chat_id: id, user_id: ada.id })
    await dialog.getByText('This person has asked nobody to be let in.').waitFor()
    await press('Close')
    await page.locator('.chats').getByText('Tea club').waitFor()
  })

  await t.test('a bot that answers requests shows its web app', async (t) => {
    const named = { title: 'Room', kind: 'supergroup', username: 'the_room' }
    const { id } = await make({ ...named, join_by_request: true })
    const task = `/sandbox/people/${bot.id}/chats/${id}/join_bot`
    await client.result('PUT', task, { bot: bot.id })
    await button('What Ada has').click()
    await dialog.getByRole('tab', { name: 'Join' }).click()
    await dialog.getByLabel('Invite link or public name').fill('@the_room')
    await press('Join')
    const { query_id } = await heard('chat_join_request')
    const query = { chat_join_request_query_id: query_id }
    await ask('sendChatJoinRequestWebApp', { ...query, web_app_url: app })
    await press("Open the bot's web app")
    const frame = page.locator('iframe[title="Web app"]')
    await frame.waitFor()
    t.match(await frame.getAttribute('src'), app)
    await dialog.last().getByRole('button', { name: 'Close' }).click()
    await frame.waitFor({ state: 'detached' })
    await ask('answerChatJoinRequestQuery', { ...query, result: 'approve' })
    await dialog.getByText('This person has asked nobody to be let in.').waitFor()
    await press('Close')
  })

  await t.test('a link for Stars names its price, and the channel is subscribed to', async (t) => {
    const { id } = await make({ title: 'Patrons', kind: 'channel' })
    const price = { subscription_period: MONTH, subscription_price: 50 }
    const terms = { chat_id: id, ...price }
    const { invite_link } = await ask('createChatSubscriptionInviteLink', terms)
    await write('Be a patron', invite_link)
    await follow('Be a patron')
    await dialog.getByText('⭐ 50, again every 30 days').waitFor()
    await press('Pay ⭐ 50')
    await page.getByText('⭐ 99,950').waitFor()
    await button('What Ada has').click()
    await dialog.getByRole('tab', { name: 'Subscriptions' }).click()
    await dialog.locator('.record', { hasText: 'Patrons' }).getByText('paid until').waitFor()
    t.same(await seriousIn(page), [])
    await press('Close')
  })

  await t.test('a link to an invoice is paid; its subscription ends and goes on', async () => {
    const link = await ask('createInvoiceLink', {
      title: 'Club news',
      description: 'Each month',
      payload: 'news',
      currency: 'XTR',
      prices: [{ label: 'News', amount: 25 }],
      subscription_period: MONTH,
    })
    await write('Read the news', link)
    await follow('Read the news')
    await press('Pay')
    const { id: pre_checkout_query_id } = await heard('pre_checkout_query')
    await ask('answerPreCheckoutQuery', { pre_checkout_query_id, ok: true })
    await page.getByText('⭐ 99,925').waitFor()
    await button('What Ada has').click()
    await dialog.getByRole('tab', { name: 'Subscriptions' }).click()
    const news = dialog.locator('.record', { hasText: 'Club news' })
    await news.getByRole('button', { name: 'Cancel' }).click()
    await news.getByText('ends on').waitFor()
    await news.getByRole('button', { name: 'Take it up again' }).click()
    await news.getByText('paid until').waitFor()
    await press('Close')
    await write('Nothing there', 'https://sandbox.invalid/$nothing')
    await follow('Nothing there')
    await dialog.getByRole('alert').waitFor()
  })
  t.same(complaints, [])
})
