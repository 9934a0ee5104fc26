/** A wrong verb is told which ones the path takes. */
import t from 'tap'
import { joinService } from '../support/shared-service.ts'
import { raw } from './scene.ts'

const { url } = await joinService(t)

t.test('a 405 lists the verbs of the path', async (t) => {
  const allowed: Record<string, string> = {
    '/api_keys': 'GET, HEAD, POST',
    '/api_keys/12': 'DELETE, GET, HEAD, PATCH',
    '/auth/login?a=b': 'POST',
    '/health/live': 'GET, HEAD',
    '/bot1:x/getMe': 'GET, POST',
  }
  for (const [path, allow] of Object.entries(allowed)) {
    const body = { ok: false, error_code: 405, description: 'Method Not Allowed' }
    t.match(
      await raw(url, path, { method: 'PUT' }),
      { status: 405, headers: { allow }, body },
      path,
    )
  }
  const missing = await raw(url, '/nothing', { method: 'PUT' })
  t.equal(missing.status, 404)
  t.notOk('allow' in missing.headers)
})
