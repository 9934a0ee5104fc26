/** Games, custom emoji and reactions in the sandbox's messenger: started, shown and given. */
import t from 'tap'
import { callWithFiles, picture } from '../service/files.ts'
import { seriousIn } from './axe.ts'
import { noBrowser } from './browser.ts'
import { chatScene } from './chat-scene.ts'

t.test('what a bot shows of its own', { skip: noBrowser, timeout: 180_000 }, async (t) => {
  const scene = await chatScene(t, '+14155559373')
  const { service, page, ada, key, ask, heard, line, dialog, complaints } = scene

  await t.test('a game is started by its button, and its scores are shown', async (t) => {
    const { message_id } = await ask('sendGame', { game_short_name: 'chess' })
    await line('chess').locator('img.picture[src^="blob:"]').waitFor()
    await line('chess').getByRole('button', { name: 'Play chess' }).click()
    const { id, game_short_name } = await heard('callback_query')
    t.equal(game_short_name, 'chess')
    const url = 'https://games.example/chess'
    await ask('answerCallbackQuery', { callback_query_id: id, url })
    t.equal(await dialog.getByRole('link', { name: url }).getAttribute('href'), url)
    t.same(await seriousIn(page), [])
    await dialog.getByRole('button', { name: 'Close' }).click()
    await ask('setGameScore', { user_id: ada.id, score: 42, message_id })
    await page.locator('.line', { hasText: 'chess' }).getByText('42').waitFor()
  })

  await t.test('a custom emoji is drawn in texts and reactions, and given as one', async (t) => {
    const bytes = await picture(100, 100, '#dd2200')
    const sticker = { sticker: 'attach://mark', format: 'static', emoji_list: ['🔥'] }
    const name = 'marks_by_gatebot'
    const set = { user_id: ada.id, name, title: 'Marks', sticker_type: 'custom_emoji' }
    const files = { mark: { bytes, name: 'mark.png' } }
    const made = await callWithFiles(
      service.url,
      key,
      'createNewStickerSet',
      { ...set, stickers: [sticker] },
      files,
    )
    t.match(made, { status: 200 })
    const { stickers } = await ask('getStickerSet', { name })
    const [{ custom_emoji_id }] = stickers
    const entities = [{ type: 'custom_emoji', offset: 4, length: 2, custom_emoji_id }]
    await ask('sendMessage', { text: 'Hot 🔥 today', entities })
    await line('Hot').locator('.custom-emoji img[src^="blob:"]').waitFor()
    await line('Hot').hover()
    await line('Hot').getByRole('button', { name: 'What to do with this message' }).click()
    await page.getByRole('menuitem', { name: 'React with a custom emoji for 🔥' }).click()
    await line('Hot').locator('.reaction .custom-emoji img[src^="blob:"]').waitFor()
    t.same(await seriousIn(page), [])
    const { new_reaction } = await heard('message_reaction')
    t.match(new_reaction, [{ type: 'custom_emoji', custom_emoji_id }])
  })

  await t.test('a reaction of the bot is shown', async () => {
    const { message_id } = await ask('sendMessage', { text: 'Well said' })
    await ask('setMessageReaction', { message_id, reaction: [{ type: 'emoji', emoji: '👍' }] })
    await line('Well said').locator('.reaction[title="Bot"]', { hasText: '👍' }).waitFor()
  })
  t.same(complaints, [])
})
