/** Channels in the sandbox's messenger: posts that are suggested to them, messages in their names, and requests to join. */
import t from 'tap'
import { until } from '../support/client.ts'
import { seriousIn } from './axe.ts'
import { noBrowser } from './browser.ts'
import { chatScene } from './chat-scene.ts'

t.test('a person and their channels', { skip: noBrowser, timeout: 240_000 }, async (t) => {
  const scene = await chatScene(t, '+14155559383')
  const { client, page, ada, bot, ask, heard, field, dialog, button, line, complaints } = scene
  const make = async (more: object): Promise<{ id: number }> =>
    client.result('POST', '/sandbox/chats', more)
  const enter = async (chat: number, name: string) => {
    await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${chat}`)
    await page.getByRole('heading', { name }).waitFor()
  }
  const press = (name: string) => dialog.getByRole('button', { name, exact: true }).click()
  const suggestionIn = async (chat: number, text: string) => {
    const path = `/sandbox/people/${ada.id}/inbox?chat=${chat}`
    const { messages } = await client.result('GET', path)
    return messages.find((one: { text?: string }) => one.text === text)?.suggestion
  }
  const tomorrow = Math.floor(Date.now() / 60_000) * 60 + 86_400
  /** As a field for a time takes it. */
  const inField = (seconds: number) =>
    page.evaluate((at) => {
      const zone = new Date(at).getTimezoneOffset() * 60_000
      return new Date(at - zone).toISOString().slice(0, 16)
    }, seconds * 1000)
  const news = await make({ kind: 'channel', title: 'News', owner: ada.id, members: [bot.id] })

  await t.test('the owner of a channel approves and declines what is suggested', async (t) => {
    const direct = `/sandbox/people/${bot.id}/chats/${news.id}/direct_messages`
    const { id: chat_id } = await client.result('PUT', direct)
    const suggest = (text: string, amount: number) =>
      ask('sendMessage', {
        chat_id,
        text,
        suggested_post_parameters: { price: { currency: 'XTR', amount } },
      })
    await suggest('Buy my tea', 50)
    await suggest('Buy my coffee', 60)
    await suggest('Buy my cups', 70)
    await enter(chat_id, 'News · Bot')
    await line('Buy my tea').getByText('⭐ 50').waitFor()
    t.same(await seriousIn(page), [])
    await line('Buy my tea').getByRole('button', { name: 'Approve' }).click()
    await line('Buy my tea').getByText('Suggested post, approved').waitFor()
    await line('Buy my tea').getByRole('button', { name: 'Approve' }).waitFor({ state: 'detached' })
    await line('Buy my coffee').getByRole('button', { name: 'Decline' }).click()
    await dialog.getByLabel('Comment (optional)').fill('we drink tea')
    await press('Decline')
    await line('Buy my coffee').getByText('Suggested post, declined').waitFor()
    await page.locator('.fact', { hasText: 'we drink tea' }).waitFor()
    await line('Buy my cups').getByRole('button', { name: 'Choose a time' }).click()
    await dialog.getByLabel('When it appears').fill(await inField(tomorrow))
    await press('Approve')
    await line('Buy my cups').getByText('Suggested post, approved').waitFor()
    t.match(await suggestionIn(chat_id, 'Buy my tea'), { state: 'approved' })
    t.match(await suggestionIn(chat_id, 'Buy my coffee'), { state: 'declined' })
    const cups = { state: 'approved', send_date: tomorrow }
    t.match(await suggestionIn(chat_id, 'Buy my cups'), cups)
  })

  await t.test('a reader of a channel suggests a post to the bot that runs it', async (t) => {
    const { id } = await make({ kind: 'channel', title: 'Tea', owner: bot.id, members: [ada.id] })
    await enter(id, 'Tea')
    await button('About Tea').click()
    await press('Write to the channel')
    await page.getByRole('heading', { name: 'Tea · Ada' }).waitFor()
    await button('Attach').click()
    await page.getByRole('menuitem', { name: 'Suggest a post' }).click()
    await dialog.getByLabel('Text of the post').fill('My best tea')
    await dialog.getByLabel('Price in Stars (optional)').fill('25')
    await dialog.getByLabel('When it appears (optional)').fill(await inField(tomorrow))
    await press('Send')
    const post = await until(async () => {
      const message = await heard('message')
      return message?.suggested_post_info ? message : undefined
    })
    t.match(post, {
      text: 'My best tea',
      suggested_post_info: { price: { amount: 25 }, send_date: tomorrow },
    })
    t.equal(await line('My best tea').getByRole('button', { name: 'Approve' }).count(), 0)
    await ask('approveSuggestedPost', { chat_id: post.chat.id, message_id: post.message_id })
    await line('My best tea').getByText('Suggested post, approved').waitFor()
  })

  await t.test('an owner of a channel writes to a group in its name', async (t) => {
    const { id } = await make({
      kind: 'supergroup',
      title: 'Team',
      owner: bot.id,
      members: [ada.id],
    })
    await enter(id, 'Team')
    await page.getByLabel('Write as').selectOption('News')
    await field.fill('from all of us')
    await field.press('Enter')
    const message = await until(async () => {
      const found = await heard('message')
      return found?.text ? found : undefined
    })
    t.match(message, { text: 'from all of us', sender_chat: { id: news.id } })
    await line('from all of us').getByText('News (channel)').waitFor()
    t.match(await line('from all of us').getAttribute('class'), 'own')
    await page.getByLabel('Write as').selectOption('Ada')
    await field.fill('only me')
    await field.press('Enter')
    await line('only me').waitFor()
    t.equal(await line('only me').getByText('(channel)').count(), 0)
  })

  await t.test('an administrator lets in and turns away those who ask', async (t) => {
    const room = { username: 'tea_room', join_by_request: true }
    const { id } = await make({ kind: 'supergroup', title: 'Room', owner: ada.id, ...room })
    const [kim, lea] = [await client.person('Kim'), await client.person('Lea')]
    for (const person of [kim, lea]) {
      const invite_link = '@tea_room'
      await client.result('POST', `/sandbox/people/${person.id}/follow`, { invite_link })
    }
    await enter(id, 'Room')
    await button('Members').click()
    const asking = dialog.getByRole('region', { name: 'Asking to be let in' })
    await asking.getByRole('button', { name: 'Let in Kim' }).click()
    await dialog.getByLabel('Role of Kim').waitFor()
    t.same(await seriousIn(page), [])
    await asking.getByRole('button', { name: 'Decline Lea' }).click()
    await asking.waitFor({ state: 'detached' })
    await dialog.getByLabel('Role of Kim').selectOption('admin')
    const rights = page.getByRole('dialog', { name: 'Make Kim an administrator' })
    await rights.getByRole('checkbox', { name: 'Pin messages' }).uncheck()
    t.equal(await rights.getByText('Post in the channel').count(), 0, 'no right in a group')
    await rights.getByRole('button', { name: 'Save' }).click()
    await rights.waitFor({ state: 'detached' })
    t.equal(await dialog.getByLabel('Role of Kim').inputValue(), 'admin')
    const { members } = await client.result('GET', `/sandbox/chats/${id}`)
    t.match(members, [
      { person: { id: ada.id }, role: 'owner' },
      { person: { id: kim.id }, role: 'admin' },
    ])
    t.equal(members.length, 2)
    await dialog.getByLabel(/^Slow mode/).selectOption('30 seconds')
    await until(async () => {
      const { slow_mode_delay } = await client.result('GET', `/sandbox/chats/${id}`)
      return slow_mode_delay === 30
    })
    await dialog.getByLabel(/^Slow mode/).selectOption('off')
    await until(async () => {
      const group = await client.result('GET', `/sandbox/chats/${id}`)
      return !('slow_mode_delay' in group)
    })
  })

  await t.test('chats are put together in a community, and joined by way of it', async (t) => {
    const { id } = await make({ kind: 'supergroup', title: 'Kitchen', owner: ada.id })
    const kim = await client.person('Kim')
    const { id: hall } = await make({
      kind: 'supergroup',
      title: 'Hall',
      owner: ada.id,
      members: [kim.id, bot.id],
    })
    await enter(id, 'Kitchen')
    await button('What Ada has').click()
    await dialog.getByRole('tab', { name: 'Communities' }).click()
    await dialog.getByLabel('Name of the community').fill('House')
    await press('Make a community')
    await button('Rename House').click()
    await dialog.getByLabel('New name').fill('Cellar')
    await press('Save')
    await button('Delete Cellar').click()
    await dialog.getByText('This person is in no community yet.').waitFor()
    await dialog.getByLabel('Name of the community').fill('House')
    await press('Make a community')
    const house = dialog.getByRole('region', { name: 'House' })
    for (const name of ['Kitchen', 'Hall']) {
      await house.getByLabel('Add to House').selectOption(name)
      await house.locator('.record', { hasText: name }).waitFor()
    }
    t.same(await seriousIn(page), [])
    const added = await until(async () => {
      const message = await heard('message')
      return message?.community_chat_added ? message : undefined
    })
    t.match(added, { chat: { id: hall }, community_chat_added: { community: { name: 'House' } } })
    await page.goto(`/dashboard/sandbox?as=${kim.id}&chat=${hall}`)
    await page
      .locator('.fact', { hasText: 'added this to a community' })
      .getByText('House')
      .waitFor()
    await button('What Kim has').click()
    await dialog.getByRole('tab', { name: 'Communities' }).click()
    await house
      .locator('.record', { hasText: 'Kitchen' })
      .getByRole('button', { name: 'Join' })
      .click()
    await page.getByText('You are in').waitFor()
    await press('Close')
    await page.locator('.chats').getByText('Kitchen').waitFor()
  })

  await t.test('a bot is added by its link, with the rights that it asks for', async (t) => {
    const { id } = await make({ kind: 'supergroup', title: 'Garden', owner: ada.id })
    await ask('setMyDefaultAdministratorRights', { rights: { can_pin_messages: true } })
    await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${bot.id}`)
    const link = (query: string, text: string) =>
      ask('sendMessage', {
        text: `<a href="https://t.me/gatebot?${query}">${text}</a>`,
        parse_mode: 'HTML',
      })
    await link('startgroup=plants', 'Add me to a group')
    await button('Add me to a group').click()
    await dialog.getByRole('button', { name: 'Garden' }).click()
    await dialog
      .getByRole('checkbox', { name: 'Pin messages' })
      .and(page.locator(':checked'))
      .waitFor()
    t.equal(await dialog.locator(':checked').count(), 1)
    t.same(await seriousIn(page), [])
    await dialog.getByRole('checkbox', { name: 'Delete messages' }).check()
    await press('Save')
    const started = await until(async () => {
      const message = await heard('message')
      return message?.text?.startsWith('/start') ? message : undefined
    })
    t.match(started, { text: '/start@gatebot plants', chat: { id } })
    t.match(await ask('getChatMember', { chat_id: id, user_id: bot.id }), {
      status: 'administrator',
      can_pin_messages: true,
      can_delete_messages: true,
      can_invite_users: false,
    })
    const tidings = await make({ kind: 'channel', title: 'Tidings', owner: ada.id })
    await link('startchannel&admin=post_messages+edit_messages', 'Add me to a channel')
    await button('Add me to a channel').click()
    await dialog.getByRole('button', { name: 'Tidings' }).click()
    await dialog.getByRole('checkbox', { name: 'Change posts' }).waitFor()
    await press('Save')
    await dialog.waitFor({ state: 'detached' })
    const place = { chat_id: tidings.id, user_id: bot.id }
    t.match(await ask('getChatMember', place), {
      can_post_messages: true,
      can_edit_messages: true,
      can_delete_messages: false,
    })
  })
  t.same(complaints, [])
})
