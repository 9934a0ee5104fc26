/** What the panel makes of an answer that is not one of the service. */
import { join } from 'node:path'
import t from 'tap'

interface Failing {
  resultOf(response: Response): Promise<unknown>
}

// The panel is checked by a project of its own.
const { resultOf } = (await import(
  join(import.meta.dirname, '../../src/panel/api/failure.ts')
)) as Failing

const failureOf = (body: string, status: number, statusText = '') =>
  resultOf(new Response(body, { status, statusText })).catch((cause: unknown) => cause)

t.test('an answer of the service is taken as it is', async (t) => {
  t.equal(await resultOf(Response.json({ ok: true, result: 7 })), 7)
  t.match(await failureOf('{"ok":false,"description":"Conflict: no"}', 409), {
    status: 409,
    message: 'Conflict: no',
  })
})

t.test('an answer that was cut off, or of a proxy alone, is none', async (t) => {
  t.match(await failureOf('{"ok":true,"resu', 200, 'OK'), { status: 0, message: 'no answer' })
  t.match(await failureOf('<h1>Bad Gateway</h1>', 502), { status: 0, message: 'no answer' })
  t.match(await failureOf('', 413), { status: 413, message: /^413$/ })
})
