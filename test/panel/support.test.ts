/** Diagnosis, settings and the page for an account's owner, in a real browser. */
import t from 'tap'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'
import { dialogOf } from './dialog.ts'

t.test(
  'support finds a cause, an owner links, a user signs out',
  { skip: noBrowser },
  async (t) => {
    const service = await startService(t)
    const phone = '+14155559302'
    const client = await service.client(phone)
    const bot = await client.person('Shop', 'shop_bot')
    const credentialId = await client.link(bot)
    const { api_key_id, key } = await client.key(credentialId)
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const visitor = await visit(browser, service)
    const { page, complaints } = visitor
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    await signIn(visitor, service, phone)

    await t.test('a diagnosis runs to its verdict and leads to what mends it', async (t) => {
      await client.result('PUT', `/sandbox/people/${bot.id}/faults/revoke`, {})
      await client.state(credentialId, 'logged_out')
      await page.goto(`/dashboard/accounts/${credentialId}/diagnosis`)
      await page.waitForURL(`**/keys/${api_key_id}/diagnosis`)
      await page.getByLabel('The key as the bot has it').fill(key)
      await button('Take all steps').click()
      await page.getByRole('heading', { name: 'Found: The account' }).waitFor()
      t.equal((await page.locator('.step.passed').count()) > 0, true)
      await page
        .locator('.step.failed', { hasText: 'The session was ended on the platform' })
        .waitFor()
      await visitor.context.grantPermissions(['clipboard-read', 'clipboard-write'])
      await button('Copy as text').click()
      await button('Copied').waitFor()
      const copied = (await page.evaluate('navigator.clipboard.readText()')) as string
      t.match(copied, /2\. credential: failed \(session_revoked\)/)
      t.notMatch(copied, key.slice(8))
      await page.reload()
      await page.getByRole('link', { name: 'Link again' }).click()
      await page.waitForURL(`**/dashboard/link?platform=sandbox&again=${credentialId}`)
    })

    await t.test('step by step, each one waits to be told', async (t) => {
      await page.goto(`/dashboard/keys/${api_key_id}/diagnosis`)
      await button('Step by step').click()
      await button('Next: The key').click()
      await button('Next: The account').waitFor()
      t.equal(await page.locator('.step.pending').count(), 4)
    })

    await t.test(
      'the owner of an account enters code and password without signing in',
      async (t) => {
        const owner = await client.person('Olga', undefined, { password: 'open sesame' })
        const path = '/platforms/sandbox/link'
        const { session_id } = await client.result('POST', `${path}/start`, { phone: owner.phone })
        const { token } = await client.result('POST', `${path}/${session_id}/page`)
        const guest = await visit(browser, service, { width: 390 })
        await guest.page.goto(`/link/${token}`)
        await guest.page.getByRole('heading', { name: 'Link your Sandbox account' }).waitFor()
        await guest.page.locator('input[name=code]').fill('00000')
        await guest.page.getByRole('button', { name: 'Continue' }).click()
        await guest.page.getByText('4 attempts left').waitFor()
        await guest.page.locator('input[name=code]').fill(await client.code(owner.id))
        await guest.page.getByRole('button', { name: 'Continue' }).click()
        await guest.page.locator('input[name=password]').fill('open sesame')
        await guest.page.getByRole('button', { name: 'Continue' }).click()
        await guest.page.getByText('The account is linked').waitFor()
        t.match(await client.result('GET', `${path}/${session_id}`), { state: 'linked' })
        await guest.page.goto('/link/chp_lnk_none')
        await guest.page.getByText('This link no longer works').waitFor()
        t.same(guest.complaints, [])
        await guest.context.close()
      },
    )

    await t.test('a token is shown once and revoked', async (t) => {
      await page.goto('/dashboard/account')
      await button('Make a token').click()
      await page.getByLabel('Name').fill('deploy')
      await page.locator('.dialog button[type=submit]').click()
      const token = await page.locator('.dialog code').first().innerText()
      t.match(token, /^chp_pat_\w{49}$/)
      const asScript = () =>
        fetch(`${service.url}/platforms`, { headers: { authorization: `apikey ${token}` } })
      t.equal((await asScript()).status, 200)
      await button('I have kept it').click()
      await button('Revoke deploy').click()
      t.notMatch(await page.content(), token)
      await button('Revoke').last().click()
      await page.getByText('No token yet').waitFor()
      t.equal((await asScript()).status, 401)
    })

    await t.test('the audit log tells of it, and can be searched and saved', async (t) => {
      await page.getByRole('link', { name: 'Show the changes' }).click()
      await page.waitForURL('**/dashboard/account/audit')
      await page.getByText('Revoked a token').waitFor()
      const made = page.getByRole('listitem').filter({ hasText: 'Made a token' })
      await made.locator('summary').click()
      await made.getByText('"deploy"').waitFor()
      await page
        .locator('summary', { hasText: /^Search/ })
        .first()
        .click()
      await page.getByLabel('What', { exact: true }).selectOption({ label: 'Linking' })
      await page.getByText('Revoked a token').waitFor({ state: 'detached' })
      await page.getByText('Began to link an account').first().waitFor()
      const saving = page.waitForEvent('download')
      await button('Save as lines of JSON').click()
      t.equal((await saving).suggestedFilename(), 'audit.jsonl')
      await page.goto('/dashboard/account')
    })

    await t.test('signing out everywhere ends every session', async (t) => {
      t.equal((await client.ask('GET', '/user')).status, 200)
      await button('Sign out everywhere').click()
      await dialogOf(page).getByRole('button', { name: 'Sign out everywhere' }).click()
      await page.waitForURL('**/login**')
      t.equal((await client.ask('GET', '/user')).status, 401)
      t.same(await visitor.context.cookies(), [])
    })

    t.same(complaints, [], 'no script fails, and the content policy stops nothing')
  },
)
