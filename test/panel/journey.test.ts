/** The panel in a real browser: from signing in to a key, and an account that is watched while things go wrong. */
import t from 'tap'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

t.test(
  'a user signs in, links, makes a key and watches',
  { skip: noBrowser, timeout: 100_000 },
  async (t) => {
    const service = await startService(t)
    const client = await service.client('+14155559101')
    const person = await client.person('Vera', 'vera_bot', {
      password: 'correct horse',
      password_hint: 'the usual',
    })
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const visitor = await visit(browser, service)
    const { page, complaints } = visitor
    const button = (name: string) => page.getByRole('button', { name, exact: true })

    await t.test('signing in keeps no token where a script could read it', async (t) => {
      await signIn(visitor, service, '+14155559101')
      await page.getByText('Link your first messenger account').waitFor()
      const [cookie] = await visitor.context.cookies()
      t.match(cookie, { name: '__Host-chapar', httpOnly: true, secure: true, sameSite: 'Strict' })
      t.equal(await page.evaluate('document.cookie'), '')
      t.notMatch(await page.evaluate('JSON.stringify({ ...localStorage })'), /ey|chp_|token/)
      await page.reload()
      await page.getByText('Link your first messenger account').waitFor()
    })

    await t.test('a wrong code, a reload, the right code and the password', async () => {
      await page.goto('/dashboard/link')
      await page.getByRole('radio', { name: 'Sandbox' }).check()
      await page.getByLabel('Phone of the account').fill(person.phone)
      await button('Start').click()
      await page.locator('input[name=code]').fill('00000')
      await button('Continue').click()
      await page.getByText('The code is wrong').waitFor()
      await page.getByText('4 attempts left').waitFor()
      await page.reload()
      await page.locator('input[name=code]').fill(await client.code(person.id))
      await button('Continue').click()
      await page.getByText('the usual').waitFor()
      await page.reload()
      await page.locator('input[name=password]').fill('correct horse')
      await button('Continue').click()
      await page.getByText('The account is linked').waitFor()
    })

    await t.test('a key is shown once, and works', async (t) => {
      await page.getByRole('link', { name: 'Create a key' }).click()
      await page.getByLabel('Name').fill('my bot')
      await button('Make the key').click()
      await page.getByText('This is the only time').waitFor()
      const key = await page.locator('.copied code').first().innerText()
      t.match(key, /^\d{6,}:[\w-]{43}$/)
      t.match(await client.bot(key, 'getMe'), {
        body: { ok: true, result: { username: 'vera_bot' } },
      })
      t.match(await page.locator('.copied pre').innerText(), `new Bot('${key}'`)
      await button('I have kept it').click()
      await page.getByRole('link', { name: /my bot/ }).waitFor()
      t.notMatch(await page.content(), key.slice(8))
    })

    await t.test('the statechart moves with every fault', async (t) => {
      const { items } = await client.result('GET', '/platforms/credentials')
      const credentialId = items[0].credential_id
      await client.person('Neighbour', 'neighbour')
      const { key } = await client.key(credentialId)
      await page.goto(`/dashboard/accounts/${credentialId}`)
      const lit = (state: string) =>
        page.locator(`.statechart .lit[data-state="${state}"]`).waitFor()
      await lit('live.online')
      const fault = (name: string, details: object = {}) =>
        client.result('PUT', `/sandbox/people/${person.id}/faults/${name}`, details)
      const end = (name: string) =>
        client.result('DELETE', `/sandbox/people/${person.id}/faults/${name}`)
      await fault('silence')
      await lit('live.deaf')
      await page.getByText('Degraded').first().waitFor()
      await end('silence')
      await lit('live.online')
      await fault('flood_wait', { seconds: 60 })
      await client.bot(key, 'sendMessage', { chat_id: '@neighbour', text: 'Hello' })
      await lit('live.limited')
      await end('flood_wait')
      await fault('revoke')
      await lit('signedOut')
      await page.getByText('Link it again').first().waitFor()
      const entry = page.locator('.timeline button').first()
      await entry.click()
      t.equal(await entry.getAttribute('aria-pressed'), 'true')
      t.match(await entry.innerText(), /session\.revoked/)
      await page.locator('.statechart .edge.picked').waitFor()
    })

    await t.test('signing out leaves nothing to come back with', async (t) => {
      await page.goto('/dashboard')
      await page.getByRole('button', { name: /Sign out/ }).click()
      await page.waitForURL('**/login**')
      await page.goto('/dashboard')
      await page.waitForURL('**/login?next=**')
      t.same(await visitor.context.cookies(), [])
    })

    t.same(complaints, [], 'no script fails, and the content policy stops nothing')
  },
)
