/** What people of the sandbox page send beside text: albums, places and polls; and what they pass on. */
import sharp from 'sharp'
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

interface Update {
  readonly update_id: number
  readonly message?: Readonly<Record<string, unknown>>
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
  const dialog = page.getByRole('dialog')
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

  t.same(visitor.complaints, [], 'no script fails, and the content policy stops nothing')
})
