/** The buttons of bots in the sandbox's messenger, of every kind: pressed, and what they send back. */
import t from 'tap'
import { noBrowser } from './browser.ts'
import { chatScene } from './chat-scene.ts'

/** Greets the person, and sends back what its button says. */
const app = `<!doctype html><title>Shop</title><h1></h1><button>Send back</button><script>
  const data = new URLSearchParams(new URLSearchParams(location.hash.slice(1)).get('tgWebAppData'))
  document.querySelector('h1').textContent = 'Hello ' + JSON.parse(data.get('user')).first_name
  document.querySelector('button').onclick = () => parent.postMessage(
    JSON.stringify({ eventType: 'web_app_data_send', eventData: { data: 'two teapots' } }), '*')
</script>`

const url = 'https://shop.example/app'

t.test('what the buttons of a bot do', { skip: noBrowser, timeout: 240_000 }, async (t) => {
  const scene = await chatScene(t, '+14155559321')
  const { client, page, ada, bot, ask, heard, button, dialog, field, complaints } = scene
  const bela = await client.person('Bela', 'bela_b')
  const group = { kind: 'supergroup', title: 'Team', owner: ada.id, members: [bot.id] }
  const team = await client.result('POST', '/sandbox/chats', group)
  await page.route(`${url}**`, (route) => route.fulfill({ contentType: 'text/html', body: app }))
  await page.reload()

  await t.test('under a message', async (t) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await ask('sendMessage', {
      text: 'Press one',
      reply_markup: {
        inline_keyboard: [
          [
            { text: 'Shop', web_app: { url } },
            { text: 'Copy', copy_text: { text: 'PROMO-7' } },
            { text: 'Enter', login_url: { url: 'https://shop.example/in?a=1' } },
          ],
          [
            { text: 'Ask here', switch_inline_query_current_chat: 'tea' },
            {
              text: 'Ask there',
              switch_inline_query_chosen_chat: { query: 'cup', allow_group_chats: true },
            },
          ],
        ],
      },
    })
    await button('Shop').click()
    const frame = page.frameLocator('iframe[title="Web app"]')
    await frame.getByRole('heading', { name: 'Hello Ada' }).waitFor()
    const outside = dialog.getByRole('link', { name: 'Open in a new tab' })
    t.match(await outside.getAttribute('href'), `${url}#tgWebAppData=query_id`)
    await dialog.getByRole('button', { name: 'Close' }).click()

    await button('Copy').click()
    await page.getByText('Copied').first().waitFor()
    t.equal(await page.evaluate('navigator.clipboard.readText()'), 'PROMO-7')

    await button('Enter').click()
    await dialog.getByText('Sign in to shop.example as Ada?').waitFor()
    const way = await dialog.getByRole('link', { name: 'Sign in there' }).getAttribute('href')
    t.match(way, `https://shop.example/in?a=1&id=${ada.id}&first_name=Ada`)
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    await button('Ask here').click()
    t.equal(await field.inputValue(), '@gatebot tea')
    await field.fill('')
    await button('Ask there').click()
    t.equal(await dialog.getByRole('button', { name: 'Bela' }).count(), 0, 'only groups')
    await dialog.getByRole('button', { name: 'Team' }).click()
    await page.getByRole('heading', { name: 'Team' }).waitFor()
    t.equal(await field.inputValue(), '@gatebot cup')
  })

  await t.test('in the place of the keyboard', async (t) => {
    await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${bot.id}`)
    await field.waitFor()
    await ask('sendMessage', {
      text: 'Or these',
      reply_markup: {
        keyboard: [
          [{ text: 'Open shop', web_app: { url } }],
          [
            { text: 'A friend', request_users: { request_id: 4 } },
            { text: 'A group', request_chat: { request_id: 5, chat_is_channel: false } },
            { text: 'A quiz', request_poll: { type: 'quiz' } },
          ],
        ],
      },
    })
    await button('Open shop').click()
    const frame = page.frameLocator('iframe[title="Web app"]')
    await frame.getByRole('button', { name: 'Send back' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Ada sent the data of the web app “Open shop”: two teapots').waitFor()
    const data = { button_text: 'Open shop', data: 'two teapots' }
    t.match(await heard('message'), { web_app_data: data })

    await button('A friend').click()
    await dialog.getByLabel('Bela').check()
    await dialog.getByRole('button', { name: 'Send' }).click()
    const users = { request_id: 4, users: [{ user_id: bela.id }] }
    t.match(await heard('message'), { users_shared: users })
    await button('A group').click()
    await dialog.getByRole('button', { name: 'Team' }).click()
    t.match(await heard('message'), { chat_shared: { request_id: 5, chat_id: team.id } })
    await page.getByText('Ada shared a chat with the bot').waitFor()

    await button('A quiz').click()
    await dialog.getByLabel('Question').fill('Where does tea come from?')
    await dialog.getByLabel('Options').fill('Peru\nChina')
    await dialog.getByLabel('The right option').selectOption('China')
    await dialog.getByRole('button', { name: 'Send' }).click()
    t.match(await heard('message'), { poll: { type: 'quiz', correct_option_id: 1 } })
  })

  t.same(complaints, [], 'no script fails, and the content policy stops nothing')
})
