/** Sharing an account in the panel: inviting, accepting, what each role is offered, and the end with its keys. */
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { violationsIn } from './axe.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

t.test(
  'an account is shared with a developer, who leaves a key',
  { skip: noBrowser },
  async (t) => {
    const service = await startService(t)
    const [ownerPhone, developerPhone] = ['+14155559311', '+14155559312']
    const owner = await service.client(ownerPhone)
    const developer = await service.client(developerPhone)
    const bot = await owner.person('Shop', 'shop_bot')
    const credentialId = await owner.link(bot)
    const address = `/dashboard/accounts/${credentialId}`
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const [ofOwner, ofDeveloper] = [await visit(browser, service), await visit(browser, service)]
    await signIn(ofOwner, service, ownerPhone)
    await signIn(ofDeveloper, service, developerPhone)
    const named = (at: typeof ofOwner, name: string) =>
      at.page.getByRole('button', { name, exact: true })

    await t.test('the owner invites a phone', async (t) => {
      await ofOwner.page.goto(address)
      await ofOwner.page.getByText('Nobody else sees this account.').waitFor()
      await named(ofOwner, 'Invite somebody').click()
      const dialog = ofOwner.page.locator('.dialog')
      await dialog.getByLabel('Phone').fill('12')
      await dialog.getByRole('button', { name: 'Invite somebody' }).click()
      await dialog.getByRole('alert').waitFor()
      t.same(await violationsIn(ofOwner.page), [])
      await dialog.getByLabel('Phone').fill(developerPhone)
      await dialog.getByLabel('May do').selectOption('Developer')
      await dialog.getByRole('button', { name: 'Invite somebody' }).click()
      await dialog.waitFor({ state: 'detached' })
      await ofOwner.page.getByText('Invited', { exact: true }).waitFor()
    })

    await t.test('whoever is invited accepts, and sees what the share allows', async (t) => {
      const { page } = ofDeveloper
      await page.goto('/dashboard/accounts')
      await page.getByRole('heading', { name: 'Shared with you' }).waitFor()
      t.same(await violationsIn(page), [])
      await named(ofDeveloper, 'Accept').click()
      await page.getByRole('link', { name: 'Shop' }).click()
      await page.waitForURL(`**${address}`)
      await page.getByRole('heading', { name: 'Sharing' }).waitFor()
      await page.getByText('+*******9311').waitFor()
      await page.getByRole('heading', { name: 'What it receives' }).waitFor()
      t.equal(await named(ofDeveloper, 'Delete').count(), 0)
      t.equal(await named(ofDeveloper, 'Restart').count(), 0)
      t.equal(await page.getByText(bot.phone).count(), 0)
      await page.getByRole('link', { name: 'Create a key' }).click()
      await page.locator('.dialog').getByLabel('Name').fill('theirs')
      await page.locator('.dialog button[type=submit]').click()
      await page.locator('.dialog code').first().waitFor()
      t.same(await violationsIn(page), [])
    })

    await t.test(
      'a developer is told to ask the owner for what a share does not allow',
      async (t) => {
        const { page } = ofDeveloper
        await owner.result('PUT', `/sandbox/people/${bot.id}/faults/revoke`, {})
        const path = `/platforms/credentials/${credentialId}`
        await until(async () => (await owner.result('GET', path)).reason === 'session_revoked')
        await page.goto(`${address}/diagnosis`)
        await page.getByRole('button', { name: 'Take all steps' }).click()
        await page.getByRole('heading', { name: 'Found: The account' }).waitFor()
        await page.getByText('Ask the owner of the account: +*******9311').waitFor()
        t.equal(await page.getByRole('link', { name: 'Link again' }).count(), 0)
        t.same(await violationsIn(page), [])
      },
    )

    await t.test('the owner sees who made a key, and takes it along', async (t) => {
      const { page } = ofOwner
      const { items } = await owner.result('GET', `/api_keys?credential_id=${credentialId}`)
      const { user_id } = await developer.result('GET', '/user')
      await page.goto(`/dashboard/keys/${items[0].api_key_id}`)
      await page.locator('dt', { hasText: 'Made by user' }).waitFor()
      await page.locator('dd', { hasText: new RegExp(`^${user_id}$`) }).waitFor()
      await page.goto(address)
      await page.getByText('holds 1 key').waitFor()
      t.same(await violationsIn(page), [])
      await named(ofOwner, `Change the share of ${developerPhone}`).click()
      const dialog = page.locator('.dialog')
      await dialog.getByLabel('May do').selectOption('Viewer')
      await dialog.getByRole('checkbox').check()
      t.same(await violationsIn(page), [])
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'detached' })
      const after = await owner.result('GET', `/api_keys/${items[0].api_key_id}`)
      t.not(after.revoked_at, null)
    })

    await t.test('a viewer is offered nothing that changes, and leaves', async (t) => {
      const { page } = ofDeveloper
      await page.goto(address)
      await page.getByText('Changes nothing.').waitFor()
      t.equal(await page.getByRole('link', { name: 'Create a key' }).count(), 0)
      t.equal(await page.getByRole('heading', { name: 'What it receives' }).count(), 0)
      const { api_key_id } = await owner.key(credentialId)
      await page.goto(`/dashboard/keys/${api_key_id}?tab=webhook`)
      await page.getByRole('tab').first().waitFor()
      t.equal(await page.getByRole('tab').count(), 4, 'no webhook to set')
      await page.goto(address)
      await page.getByRole('heading', { name: 'Sharing' }).waitFor()
      await named(ofDeveloper, 'Leave').click()
      await page.locator('.dialog').getByRole('button', { name: 'Leave' }).click()
      await page.waitForURL('**/dashboard/accounts')
      await page.getByText('Shared with you').waitFor({ state: 'detached' })
      t.equal((await developer.ask('GET', `/platforms/credentials/${credentialId}`)).status, 404)
    })

    await t.test('it is all there in Persian', async (t) => {
      await owner.ask('POST', `/platforms/credentials/${credentialId}/shares`, {
        phone: developerPhone,
        role: 'viewer',
      })
      const { page } = await visit(browser, service, { language: 'fa' })
      await signIn({ ...ofOwner, page }, service, developerPhone)
      await page.goto('/dashboard/accounts')
      await page.getByRole('heading', { name: 'به اشتراک با شما' }).waitFor()
      t.same(await violationsIn(page), [])
      await page.getByRole('button', { name: 'پذیرفتن' }).click()
      await page.getByRole('link', { name: 'Shop' }).click()
      await page.getByRole('heading', { name: 'اشتراک‌گذاری' }).waitFor()
      t.same(await violationsIn(page), [])
    })

    t.same([...ofOwner.complaints, ...ofDeveloper.complaints], [])
  },
)
