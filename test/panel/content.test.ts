/** What people of the sandbox page send beside text: albums, places and polls; and what they pass on. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import sharp from 'sharp'
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { seriousIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { dialogOf } from './dialog.ts'

interface Update {
  readonly update_id: number
  readonly message?: Readonly<Record<string, unknown>>
}

const noFfmpeg = spawnSync('ffmpeg', ['-version']).status !== 0 && 'needs ffmpeg'

const screen = (size: string) => ['-f', 'lavfi', '-i', `testsrc=size=${size}:rate=10:duration=1`]

function made(format: string, args: readonly string[]): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'chapar-panel-film-'))
  try {
    const path = join(folder, `film.${format}`)
    const { status, stderr } = spawnSync('ffmpeg', ['-v', 'error', ...args, path])
    if (status !== 0) throw new Error(`${stderr}`)
    return readFileSync(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** A second of a test picture, and of a tone. */
const films = noFfmpeg
  ? { mp4: Buffer.alloc(0), ogg: Buffer.alloc(0), webm: Buffer.alloc(0) }
  : {
      mp4: made('mp4', [...screen('320x240'), '-c:v', 'libx264', '-pix_fmt', 'yuv420p']),
      ogg: made('ogg', ['-f', 'lavfi', '-i', 'sine=duration=1', '-c:a', 'libopus']),
      webm: made('webm', [...screen('512x512'), '-c:v', 'libvpx-vp9', '-deadline', 'realtime']),
    }

const picture = async (name: string) => ({
  name: `${name}.png`,
  mimeType: 'image/png',
  buffer: await sharp({ create: { width: 32, height: 24, channels: 3, background: name } })
    .png()
    .toBuffer(),
})

t.test('all that a message can carry', { skip: noBrowser, timeout: 240_000 }, async (t) => {
  const service = await startService(t)
  const phone = '+14155559601'
  const client = await service.client(phone)
  const bot = await client.person('Shop', 'shop_bot')
  const ada = await client.person('Ada', 'ada_l')
  const bela = await client.person('Bela', 'bela_b')
  const { key } = await client.key(await client.link(bot))
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, service)
  const { page } = visitor
  const dialog = dialogOf(page)
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const line = (text: string) => page.locator('.line', { hasText: text }).last()
  const attach = async (item: string) => {
    await button('Attach').click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  let offset = 0
  /** The next so many messages that the bot is given. */
  const heard = async (count = 1) => {
    const messages: NonNullable<Update['message']>[] = []
    await until(async () => {
      const { body } = await client.bot(key, 'getUpdates', { offset, timeout: 5 })
      for (const { update_id, message } of body.result as Update[]) {
        offset = update_id + 1
        if (message) messages.push(message)
      }
      return messages.length >= count
    }, 60_000)
    return messages
  }
  await signIn(visitor, service, phone)
  await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${bot.id}`)
  await page.getByLabel('Write a message').waitFor()

  await t.test('several pictures go as one album', async (t) => {
    const files = [await picture('red'), await picture('blue')]
    await page.locator('input[type=file]').setInputFiles(files)
    await page.getByText('red.png, blue.png').waitFor()
    await page.getByLabel('Write a message').fill('Which one?')
    await page.keyboard.press('Enter')
    await page.locator('.line.joined').waitFor()
    await page.locator('.line img[src^="blob:"]').nth(1).waitFor()
    const [first, second] = await heard(2)
    t.match(first, { caption: 'Which one?', photo: [{}], media_group_id: String })
    t.equal(second?.media_group_id, first?.media_group_id)
  })

  await t.test('a place has a name and a way to the map', async (t) => {
    await attach('Place')
    await dialog.getByLabel('Latitude').fill('۳۲٫۶۵۷۲')
    await dialog.getByLabel('Longitude').fill('51.6775')
    await dialog.getByLabel('Name of the place (optional)').fill('Naqsh-e Jahan')
    await dialog.getByLabel('Address').fill('Isfahan')
    await dialog.getByRole('button', { name: 'Send' }).click()
    const map = line('Naqsh-e Jahan').getByRole('link', { name: '32.6572, 51.6775' })
    t.match(await map.getAttribute('href'), 'https://www.openstreetmap.org/?mlat=32.6572')
    const [place] = await heard()
    t.match(place, {
      venue: { title: 'Naqsh-e Jahan', location: { latitude: Number, longitude: Number } },
    })
  })

  await t.test('a poll is made and voted in', async (t) => {
    await attach('Poll')
    await dialog.getByLabel('Question').fill('Tea or coffee?')
    await dialog.getByLabel('Options').fill('Tea\n\nCoffee')
    await dialog.getByRole('button', { name: 'Send' }).click()
    await line('Tea or coffee?').getByRole('button', { name: 'Tea' }).click()
    await line('Tea or coffee?').getByText('1 voter').waitFor()
    await line('Tea or coffee?').getByRole('button', { name: 'Tea' }).getByText('100%').waitFor()
    const [poll] = await heard()
    t.match(poll, { poll: { question: 'Tea or coffee?', options: [{ text: 'Tea' }, {}] } })
  })

  await t.test('a message is passed on', async (t) => {
    await line('Naqsh-e Jahan').hover()
    await line('Naqsh-e Jahan')
      .getByRole('button', { name: 'What to do with this message' })
      .click()
    await page.getByRole('menuitem', { name: 'Forward' }).click()
    await dialog.getByRole('button', { name: 'Bela' }).click()
    await page.getByText('Forwarded to Bela').first().waitFor()
    await page.goto(`/dashboard/sandbox?as=${bela.id}&chat=${ada.id}`)
    await line('Naqsh-e Jahan').getByText('Forwarded from Ada').waitFor()
    const { messages } = await client.result('GET', `/sandbox/people/${bela.id}/inbox`)
    t.match(messages, [{ forwarded_from: 'Ada', venue: { title: 'Naqsh-e Jahan' } }])
  })

  await t.test('films and sounds are played where they stand', { skip: noFfmpeg }, async (t) => {
    const give = async (media: object) =>
      client.result('POST', `/sandbox/people/${bela.id}/messages`, { to: ada.id, media })
    const data = (bytes: Buffer) => bytes.toString('base64')
    await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${bela.id}`)
    await give({ type: 'video', data: data(films.mp4), file_name: 'rain.mp4' })
    await give({ type: 'voice', data: data(films.ogg), file_name: 'hello.ogg' })
    await give({ type: 'animation', data: data(films.mp4), file_name: 'wave.mp4' })
    /** The browser has understood the bytes. */
    const plays = (selector: string) =>
      until(async () => {
        const state = await page.evaluate(`document.querySelector('${selector}')?.readyState`)
        return (state as number | undefined) === undefined || (state as number) < 2
          ? undefined
          : true
      }, 60_000)
    await page.locator('.line .recording').first().waitFor()
    await page.getByRole('button', { name: /^Play rain\.mp4/ }).click()
    await plays('.recording video[src^="blob:"]')
    await page.getByRole('button', { name: /^Play (hello|Voice)/ }).click()
    await plays('.recording audio[src^="blob:"]')
    await plays('.bubble > video[src^="blob:"]')
    t.equal(await page.getByRole('button', { name: 'Save rain.mp4' }).count(), 1)
    t.same(await seriousIn(page), [])
  })

  await t.test(
    'a moving sticker moves, and a drawn one is its emoji',
    { skip: noFfmpeg },
    async (t) => {
      const give = async (sticker: Buffer, emoji: string) => {
        const media = { type: 'sticker', data: sticker.toString('base64'), emoji }
        await client.result('POST', `/sandbox/people/${bela.id}/messages`, { to: ada.id, media })
      }
      await give(films.webm, '🌊')
      await page.locator('video[aria-label="🌊"][src^="blob:"]').waitFor()
      const drawing = { tgs: 1, v: '5.5.2', fr: 60, ip: 0, op: 60, w: 512, h: 512, layers: [] }
      await give(gzipSync(JSON.stringify(drawing)), '🦆')
      await page.locator('.line .sticker-emoji', { hasText: '🦆' }).waitFor()
      t.equal(await page.locator('img[alt="🦆"]').count(), 0)
    },
  )

  t.same(visitor.complaints, [], 'no script fails, and the content policy stops nothing')
})
