/** What is written while a message is on its way, and what becomes of a message that does not get through. */
import type { Route } from 'playwright-core'
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

interface Styled {
  readonly style: { setProperty(name: string, value: string): void }
}

t.test('nothing that was typed is lost', { skip: noBrowser, timeout: 240_000 }, async (t) => {
  const service = await startService(t)
  const phone = '+14155559331'
  const client = await service.client(phone)
  const ada = await client.person('Ada')
  const eve = await client.person('Eve')
  const zoe = await client.person('Zoe')
  await client.write(eve.id, ada.id, 'first')
  await client.write(zoe.id, ada.id, 'also here')
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, service)
  const { page, complaints } = visitor
  const field = page.getByLabel('Write a message')
  const bubble = (text: string) => page.locator('.line', { hasText: text }).last()
  const act = async (text: string, item: string) => {
    await bubble(text).hover()
    await bubble(text).getByRole('button', { name: 'What to do with this message' }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  /** Holds the next message back; resolves with what lets it go on. */
  const held = async (method = 'POST', path = '**/messages') => {
    const asked = Promise.withResolvers<Route>()
    await page.route(path, (route) =>
      route.request().method() === method ? asked.resolve(route) : route.continue(),
    )
    return asked.promise.then((route) => ({
      async go(fails = false) {
        await (fails ? route.abort() : route.continue())
        await page.unroute(path)
      },
    }))
  }
  const texts = async () =>
    (await client.result('GET', `/sandbox/people/${ada.id}/inbox?chat=${eve.id}`)).messages.map(
      ({ text }: { text: string }) => text,
    )
  await signIn(visitor, service, phone)
  await page.goto(`/dashboard/sandbox?as=${ada.id}&chat=${eve.id}`)
  await bubble('first').waitFor()

  await t.test('by writing on while a message is on its way', async (t) => {
    const holding = held()
    await field.fill('one')
    await field.press('Enter')
    const message = await holding
    t.equal(await field.inputValue(), '', 'the entry is free at once')
    await field.pressSequentially('second message typed')
    await message.go()
    await bubble('one').waitFor()
    t.equal(await field.inputValue(), 'second message typed')
    await field.press('Enter')
    await bubble('second message typed').waitFor()
    t.strictSame((await texts()).slice(0, 2), ['second message typed', 'one'])
  })

  await t.test('by a message that does not get through', async (t) => {
    const holding = held()
    await field.fill('lost?')
    await field.press('Enter')
    const message = await holding
    await field.pressSequentially('written since')
    await message.go(true)
    await page.getByText('The service does not answer').waitFor()
    t.equal(await field.inputValue(), 'lost?\nwritten since')
    await field.fill('')
  })

  await t.test('by an answer that does not get through', async (t) => {
    await act('first', 'Reply')
    const holding = held()
    await field.fill('an answer')
    await field.press('Enter')
    const message = await holding
    await message.go(true)
    await page.locator('.composer .chip', { hasText: 'first' }).waitFor()
    t.equal(await field.inputValue(), 'an answer')
    await field.press('Enter')
    await bubble('an answer').waitFor()
    const { messages } = await client.result('GET', `/sandbox/people/${ada.id}/inbox`)
    t.match(
      messages.find(({ text }: { text: string }) => text === 'an answer'),
      { reply_to_message_id: 1 },
    )
  })

  await t.test('by changing an older message, also where that fails', async (t) => {
    await field.fill('half a thought')
    await act('one', 'Edit')
    t.equal(await field.inputValue(), 'one')
    await field.fill('one, changed')
    const holding = held('PATCH', '**/messages/*')
    await field.press('Enter')
    const change = await holding
    t.equal(await field.inputValue(), 'half a thought')
    await change.go(true)
    await page.getByText('The service does not answer').waitFor()
    t.equal(await field.inputValue(), 'one, changed')
    await field.press('Enter')
    await bubble('one, changed').waitFor()
    await until(async () => (await field.inputValue()) === 'half a thought')
  })

  await t.test('by the key that ends a word of an input method', async (t) => {
    await field.fill('半')
    await field.dispatchEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true })
    t.equal(await field.inputValue(), '半')
    t.not((await texts())[0], '半')
  })

  await t.test('by lines that a browser without growing fields would hide', async (t) => {
    await field.evaluate((element) =>
      (element as unknown as Styled).style.setProperty('field-sizing', 'fixed'),
    )
    const heightOf = async () => (await field.boundingBox())?.height ?? 0
    const one = await heightOf()
    await field.fill('half a thought\nand another')
    t.ok((await heightOf()) > one * 1.3, 'both lines are seen')
    await field.fill('half a thought')
    t.equal(await heightOf(), one)
  })

  await t.test('by a look at another chat', async (t) => {
    await page.locator('.chats, nav, aside').getByText('Zoe').first().click()
    await bubble('also here').waitFor()
    t.equal(await field.inputValue(), '')
    await page.locator('.chats, nav, aside').getByText('Eve').first().click()
    await bubble('first').waitFor()
    t.equal(await field.inputValue(), 'half a thought')
  })
  t.strictSame(complaints, [])
})
