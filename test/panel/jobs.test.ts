/** Jobs of an owner in both languages: a webhook, a test of an account's health, an account linked again from its own page. */
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { type Client, until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { Receiver } from '../webhooks/receiver.ts'
import { seriousIn } from './axe.ts'
import { type Looks, noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { type Said, saidIn } from './said.ts'

interface Desk {
  readonly page: Page
  readonly said: Said
  readonly client: Client
  readonly language: 'en' | 'fa'
  readonly bot: { readonly id: number; readonly phone: string }
  readonly friend: { readonly id: number }
  readonly credentialId: number
  button(key: string): ReturnType<Page['getByRole']>
  field(key: string): ReturnType<Page['getByLabel']>
  /** No serious fault of access, and nothing wider than the screen. */
  looksRight(t: Test): Promise<void>
}

/** It is tried out before it is set, set, delivers, is tried out as it is set, and is removed. */
async function setWebhook(t: Test, desk: Desk) {
  const { page, said, client, language, friend, credentialId, button, field, looksRight } = desk
  const { api_key_id: id } = await client.key(credentialId)
  let status = 500
  const receiver = await Receiver.open(t, (_, response) => response.writeHead(status).end())
  const result = (key: string) => page.locator('.notice').getByText(said(key), { exact: true })
  await page.goto(`/dashboard/keys/${id}`)
  await page.getByRole('tab', { name: said('keys.tab.webhook'), exact: true }).click()
  t.ok(await button('webhook.test.now').isDisabled(), 'nothing can be tried out yet')
  await field('webhook.url').fill(receiver.url)
  await button('webhook.test.now').click()
  await result('webhook.test.failed').waitFor()
  await page.getByText('500 · ').waitFor()
  status = 200
  await button('webhook.test.now').click()
  await result('webhook.test.ok').waitFor()
  await looksRight(t)
  await button('webhook.set').click()
  await page.getByText(said('webhook.wasSet')).first().waitFor()
  await client.write(friend.id, `@jobs_${language}`, 'Good morning')
  await until(() => receiver.received.some(({ text }) => text.includes('Good morning')))
  await page.reload()
  await button('webhook.change').waitFor()
  t.equal(await field('webhook.url').inputValue(), receiver.url)
  await button('webhook.remove').click()
  await page.getByText(said('webhook.wasRemoved')).first().waitFor()
  await button('webhook.set').waitFor()
  t.equal((await client.result('GET', `/api_keys/${id}`)).webhook, null)
}

/** Every check says in the language how it went; a message is sent only where one is asked for. */
async function testHealth(t: Test, desk: Desk) {
  const { page, said, client, language, friend, credentialId, button, field, looksRight } = desk
  await page.goto(`/dashboard/accounts/${credentialId}`)
  const card = page.getByRole('region', { name: said('account.health'), exact: true })
  const check = (name: string, outcome: string) =>
    card
      .locator('.record', { hasText: said(`check.${name}`) })
      .locator('.badge')
      .getByText(said(`check.${outcome}`), { exact: true })
  await button('account.health.test').click()
  for (const name of ['session', 'connection', 'identity', 'receive']) {
    await check(name, 'ok').waitFor()
  }
  await check('send', 'skipped').waitFor()
  await looksRight(t)
  const inbox = async () =>
    (await client.result('GET', `/sandbox/people/${friend.id}/inbox`)).messages.length
  const before = await inbox()
  await field('account.health.sendTo').fill(`@friend_${language}`)
  await button('account.health.test').click()
  await check('send', 'ok').waitFor()
  t.equal(await inbox(), before + 1, 'one message has come')
  await field('account.health.sendTo').fill('@nobody_at_all')
  await button('account.health.test').click()
  await check('send', 'failed').waitFor()
  const sending = card.locator('.record', { hasText: said('check.send') })
  const fix = said('diagnosis.fix.chat_not_found')
  await sending.getByText(fix).waitFor()
  if (language === 'fa') {
    const text = (await card.locator('.record').allInnerTexts()).join('\n')
    t.notMatch(text.replaceAll(/@\w+|\+\d+/g, ''), /[a-z]{3}/, 'nothing is left in English')
  }
}

/** Its session is ended elsewhere; its own page leads to a new one, and it stays the same account. */
async function linkAgain(t: Test, desk: Desk) {
  const { page, said, client, bot, credentialId, button, looksRight } = desk
  const old = await client.newestCode(bot.id)
  await client.result('PUT', `/sandbox/people/${bot.id}/faults/revoke`, {})
  await client.state(credentialId, 'logged_out')
  await page.goto(`/dashboard/accounts/${credentialId}`)
  await page.getByText(said('reason.session_revoked')).first().waitFor()
  await page.getByRole('link', { name: said('account.linkAgain'), exact: true }).click()
  await page.waitForURL('**/dashboard/link?platform=sandbox&again=*')
  const phone = page.getByLabel(said('linking.field.phone'))
  await phone.waitFor()
  t.equal(await phone.inputValue(), bot.phone, 'the phone is filled in')
  await looksRight(t)
  await button('linking.start').click()
  await page.locator('input[name=code]').fill(await client.code(bot.id, old))
  await button('linking.continue').click()
  await page.getByText(said('linking.linked.active')).waitFor()
  await page.getByRole('link', { name: said('linking.toAccount'), exact: true }).click()
  await page.waitForURL(`**/dashboard/accounts/${credentialId}`)
  await page
    .locator('.badge', { hasText: said('state.active') })
    .first()
    .waitFor()
  t.equal((await client.result('GET', '/platforms/credentials')).items.length, 1)
}

t.test('an owner at work', { skip: noBrowser, timeout: 240_000 }, async (t) => {
  const service = await startService(t)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  for (const [language, phone] of [
    ['en', '+14155559701'],
    ['fa', '+14155559702'],
  ] as const) {
    await t.test(language, async (t) => {
      const client = await service.client(phone)
      const bot = await client.person('Bot', `jobs_${language}`)
      const friend = await client.person('Friend', `friend_${language}`)
      const credentialId = await client.link(bot)
      const looks: Looks = { language, ...(language === 'fa' && { width: 320, height: 700 }) }
      const visitor = await visit(browser, service, looks)
      const { page } = visitor
      const said = saidIn(language)
      const desk: Desk = {
        ...{ page, said, client, language, bot, friend, credentialId },
        button: (key) => page.getByRole('button', { name: said(key), exact: true }),
        field: (key) => page.getByLabel(said(key), { exact: true }),
        async looksRight(t) {
          const overflow = 'document.documentElement.scrollWidth - innerWidth'
          t.equal(await page.evaluate(overflow), 0, 'nothing is wider than the screen')
          t.strictSame(await seriousIn(page), [])
        },
      }
      await signIn(visitor, service, phone)
      await t.test('a webhook is set, tried out and removed', (t) => setWebhook(t, desk))
      await t.test('the health of an account is tested', (t) => testHealth(t, desk))
      await t.test('an account is linked again from its page', (t) => linkAgain(t, desk))
      t.same(visitor.complaints, [])
      await visitor.context.close()
    })
  }
})
