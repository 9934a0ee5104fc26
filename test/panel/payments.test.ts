/** Invoices and paid media in the sandbox's messenger: shown, paid with and without shipping, refused and given back. */
import t from 'tap'
import { callWithFiles, film, picture } from '../service/files.ts'
import { seriousIn } from './axe.ts'
import { noBrowser } from './browser.ts'
import { chatScene } from './chat-scene.ts'

const kettle = { title: 'Kettle', description: 'For two litres', payload: 'kettle' }

t.test('invoices of a bot', { skip: noBrowser, timeout: 180_000 }, async (t) => {
  const scene = await chatScene(t, '+14155559341')
  const { service, page, ada, key, ask, heard, field, line, dialog, complaints } = scene

  await t.test('are paid with Stars, which can be given back', async (t) => {
    await page.getByText('⭐ 100,000').waitFor()
    const prices = [{ label: 'Kettle', amount: 250 }]
    await ask('sendInvoice', { ...kettle, currency: 'XTR', prices })
    await line('For two litres').getByRole('button', { name: /^Pay/ }).click()
    t.same(await seriousIn(page), [])
    await dialog.getByRole('button', { name: 'Pay', exact: true }).click()
    const query = await heard('pre_checkout_query')
    t.match(query, { currency: 'XTR', total_amount: 250, invoice_payload: 'kettle' })
    const busy = { pre_checkout_query_id: query.id, ok: false, error_message: 'Sold out' }
    await ask('answerPreCheckoutQuery', busy)
    await dialog.getByText('The bot refuses: Sold out').waitFor()
    await dialog.getByRole('button', { name: 'Pay', exact: true }).click()
    const { id } = await heard('pre_checkout_query')
    await ask('answerPreCheckoutQuery', { pre_checkout_query_id: id, ok: true })
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('Ada paid ⭐ 250').waitFor()
    await page.getByText('⭐ 99,750').waitFor()
    const { successful_payment } = await heard('message')
    const charge = successful_payment.telegram_payment_charge_id
    await ask('refundStarPayment', { user_id: ada.id, telegram_payment_charge_id: charge })
    await page.getByText('Bot gave ⭐ 250 back').waitFor()
    await page.getByText('⭐ 100,000').waitFor()
  })

  await t.test('ask where they are shipped, and for what more', async (t) => {
    await ask('sendInvoice', {
      ...kettle,
      description: 'Shipped to you',
      currency: 'EUR',
      provider_token: 'fake',
      prices: [{ label: 'Kettle', amount: 2_450 }],
      need_email: true,
      need_shipping_address: true,
      is_flexible: true,
      reply_markup: { inline_keyboard: [[{ text: 'Buy it', pay: true }]] },
    })
    const buy = line('Shipped to you').getByRole('button', { name: 'Buy it' })
    await buy.waitFor()
    const pays = line('Shipped to you').getByRole('button', { name: 'Pay' })
    t.equal(await pays.count(), 0, 'one way to pay is enough')
    await buy.click()
    await dialog.getByLabel('E-mail').fill('ada@example.org')
    await dialog.getByLabel('Country (two letters)').fill('gb')
    await dialog.getByLabel('City').fill('London')
    await dialog.getByLabel('Street', { exact: true }).fill('12 St James Square')
    await dialog.getByLabel('Post code').fill('SW1Y 4JH')
    await dialog.getByRole('button', { name: 'Ask how it can be shipped' }).click()
    const query = await heard('shipping_query')
    t.match(query, { shipping_address: { country_code: 'GB', city: 'London' } })
    const option = (id: string, title: string, amount: number) => ({
      id,
      title,
      prices: [{ label: title, amount }],
    })
    const shipping_options = [option('cart', 'By cart', 100), option('owl', 'By owl', 550)]
    await ask('answerShippingQuery', { shipping_query_id: query.id, ok: true, shipping_options })
    await dialog.getByLabel('How it is shipped').selectOption('By owl · €5.50')
    await dialog.getByRole('button', { name: 'Pay', exact: true }).click()
    const checkout = await heard('pre_checkout_query')
    t.match(checkout, {
      total_amount: 3_000,
      shipping_option_id: 'owl',
      order_info: { email: 'ada@example.org' },
    })
    await ask('answerPreCheckoutQuery', { pre_checkout_query_id: checkout.id, ok: true })
    await page.getByText('Ada paid €30.00').waitFor()
  })

  const files = { picture: { bytes: await picture() }, film: { bytes: film, name: 'waves.mp4' } }
  const send = async (method: string, parameters: object) => {
    const all = { chat_id: ada.id, ...parameters }
    const { body } = await callWithFiles(service.url, key, method, all, files)
    if (!body.ok) throw new Error(`${method}: ${body.description}`)
  }
  const photo = { type: 'photo', media: 'attach://picture' }
  const video = { type: 'video', media: 'attach://film', width: 64, height: 48, duration: 2 }

  await t.test('media are locked until this person has paid', async (t) => {
    await send('sendPaidMedia', { star_count: 40, media: [photo, video], caption: 'For buyers' })
    const offer = line('For buyers')
    await offer.getByText('Photo, locked').waitFor()
    await offer.getByText('Video, locked · 2 s').waitFor()
    t.equal(await offer.locator('img').count(), 0)
    t.same(await seriousIn(page), [])
    await offer.getByRole('button', { name: 'Unlock for ⭐ 40' }).click()
    await offer.locator('img[src^="blob:"]').waitFor()
    await offer.getByRole('button', { name: 'Play waves.mp4' }).waitFor()
    await offer.getByText('Paid media, ⭐ 40').waitFor()
    t.equal(await offer.getByText('locked').count(), 0)
    await page.getByText('⭐ 99,960').waitFor()
    t.equal(await offer.getByRole('button', { name: /Unlock/ }).count(), 0)
  })

  await t.test('a live photo plays its film under the pointer', async (t) => {
    const live = { live_photo: 'attach://film', photo: 'attach://picture', caption: 'The waves' }
    await send('sendLivePhoto', live)
    const shown = line('The waves').getByRole('button', { name: 'Live photo: play its film' })
    await shown.locator('img[src^="blob:"]').waitFor()
    t.same(await seriousIn(page), [])
    await field.hover()
    await shown.locator('video').waitFor({ state: 'detached' })
    await shown.hover()
    await shown.locator('video[src^="blob:"]').waitFor()
    await field.hover()
    await shown.locator('video').waitFor({ state: 'detached' })
    await shown.focus()
    await shown.locator('video[src^="blob:"]').waitFor()
  })
  t.same(complaints, [])
})
