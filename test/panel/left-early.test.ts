/** A page that is left while it asks who is signed in: its answer is on the way, and the next page has only the used cookie. */
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { ask } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { noBrowser, openBrowser, signIn, visit } from './browser.ts'

t.test('the cookie of an ended session keeps nobody waiting', { skip: noBrowser }, async (t) => {
  const service = await startService(t)
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const visitor = await visit(browser, service)
  const { page, context } = visitor
  await signIn(visitor, service, '+14155559492')
  const cookie = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join('; ')
  const headers = { cookie, origin: service.url, 'x-csrf': '1' }
  const ended = await ask(service.url, 'POST', '/panel/session/logout', {}, headers)
  t.equal(ended.status, 200)
  let asked = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/panel/session/refresh')) asked += 1
  })
  await page.goto('/login')
  await page.locator('input[name=phone]').waitFor()
  t.equal(asked, 1, 'it is asked for once, not until a next cookie comes')
})

t.test('a second reload signs nobody out', { skip: noBrowser, timeout: 120_000 }, async (t) => {
  const service = await startService(t)
  const answered = Promise.withResolvers<void>()
  const refused = Promise.withResolvers<void>()
  let isHeld = false
  const line = createServer((asked, answer) => {
    const holds = isHeld && asked.url === '/panel/session/refresh'
    if (holds) isHeld = false
    const { port } = new URL(service.url)
    const { url: path, method, headers } = asked
    const sent = request({ port, path, method, headers }, async (got) => {
      if (holds) answered.resolve()
      // The answer is on the way until the next page has used the same cookie, and not for much longer.
      if (holds) await refused.promise
      if (got.statusCode === 401) refused.resolve()
      answer.writeHead(got.statusCode ?? 502, got.headers)
      got.pipe(answer)
    })
    sent.on('error', () => answer.destroy())
    answer.on('close', () => sent.destroy())
    asked.pipe(sent)
  }).listen(0)
  await once(line, 'listening')
  t.teardown(() => line.close().closeAllConnections())
  const browser = await openBrowser()
  t.teardown(() => browser.close())
  const origin = `http://localhost:${(line.address() as AddressInfo).port}`
  const visitor = await visit(browser, service, { origin })
  const { page } = visitor
  await signIn(visitor, service, '+14155559491')
  isHeld = true
  await page.reload({ waitUntil: 'commit' })
  await answered.promise
  await page.reload({ waitUntil: 'commit' })
  await refused.promise
  await page.getByText('Link your first messenger account').waitFor()
  t.match(page.url(), /dashboard$/)
})
