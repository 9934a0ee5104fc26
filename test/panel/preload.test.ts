/** A page comes while the service still says who is signed in: over a slow connection nothing waits for its turn. */
import t from 'tap'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

t.test(
  'code is asked for before the sign-in is answered',
  { skip: noBrowser, timeout: 180_000 },
  async (t) => {
    const service = await startService(t)
    const phone = '+14155559671'
    await service.client(phone)
    const browser = await openBrowser()
    t.teardown(() => browser.close())
    const visitor = await visit(browser, service, { language: 'fa' })
    const { page } = visitor
    await signIn(visitor, service, phone)
    const answer = Promise.withResolvers<void>()
    await page.route('**/panel/session/refresh', async (route) => {
      await answer.promise
      await route.continue()
    })
    const asked = (name: RegExp) => page.waitForRequest((request) => name.test(request.url()))
    const early = Promise.all([
      asked(/assets\/credentials-[\w-]+\.js$/),
      asked(/assets\/fa-[\w-]+\.js$/),
    ])
    await page.goto('/dashboard/accounts', { waitUntil: 'commit' })
    await early
    t.equal(await page.locator('h1').count(), 0, 'nobody is signed in yet')
    answer.resolve()
    await page.locator('h1').waitFor()
    t.same(visitor.complaints, [])
  },
)
