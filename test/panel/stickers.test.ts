/** Stickers in the sandbox's messenger: picked from a set, sent and shown. */
import sharp from 'sharp'
import t from 'tap'
import { seriousIn } from './axe.ts'
import { noBrowser } from './browser.ts'
import { chatScene } from './chat-scene.ts'

t.test('a sticker is picked from a set', { skip: noBrowser, timeout: 120_000 }, async (t) => {
  const scene = await chatScene(t, '+14155559361')
  const { client, page, button, dialog, heard, complaints } = scene
  const red = { width: 512, height: 512, channels: 3, background: '#c00' } as const
  const data = (await sharp({ create: red }).webp().toBuffer()).toString('base64')
  const set = { name: 'Cups', title: 'Tea cups', stickers: [{ emoji: '☕', data }] }
  await client.result('POST', '/sandbox/sticker_sets', set)
  await button('Attach').click()
  await page.getByRole('menuitem', { name: 'Sticker' }).click()
  const cup = dialog.getByRole('region', { name: 'Tea cups' })
  await cup.locator('img[src^="blob:"]').waitFor()
  t.same(await seriousIn(page), [])
  await cup.getByRole('button', { name: 'Send the sticker ☕' }).click()
  await page.locator('.line img[src^="blob:"]').waitFor()
  t.match(await heard('message'), { sticker: { emoji: '☕', set_name: 'Cups' } })
  t.same(complaints, [])
})
