/** The process's log: one JSON object a line, whatever is logged, without secrets. */

import t from 'tap'
import { createLogger } from '../../src/observability/logger.ts'
import fc from '../support/fast-check.ts'

function logToMemory() {
  const lines: string[] = []
  const log = createLogger({ level: 'debug', destination: { write: (line) => lines.push(line) } })
  return { log, lines }
}

t.test('line breaks and control characters stay inside their line', async () => {
  const hostile = fc.array(
    fc.constantFrom(
      '\r\n',
      '\u001b[31m',
      '\u2028',
      '\u2029',
      '\u0085',
      '\u009b31m',
      '{"level":"fatal"}',
      'a',
    ),
  )
  const text = hostile.map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, text, (message, value) => {
      const { log, lines } = logToMemory()
      log.info({ value }, message)
      const [line = ''] = lines
      const parsed = JSON.parse(line)
      const oneLine = line.search(/[\p{Cc}\p{Zl}\p{Zp}]/u) === line.length - 1
      return lines.length === 1 && oneLine && parsed.value === value && parsed.msg === message
    }),
  )
})

t.test('a request is logged by its route, never by its address', async (t) => {
  const { log, lines } = logToMemory()
  const request = {
    id: 'r1',
    method: 'POST',
    url: '/bot1:secret/getMe',
    headers: { authorization: 'Bearer abcdefghijkl' },
    routeOptions: { url: '/bot:api_key/:method' },
  }
  log.info({ req: request, res: { statusCode: 200 } }, 'served')
  const { req, res } = JSON.parse(lines[0] ?? '')
  t.strictSame(req, { id: 'r1', method: 'POST', route: '/bot:api_key/:method' })
  t.strictSame(res, { status: 200 })
})

t.test('errors keep their cause and lose their secrets', async (t) => {
  const { log, lines } = logToMemory()
  const cause = new Error('GET /bot123456789:abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG/getMe')
  log.error({ err: new Error('no answer for +989121234567', { cause }) }, 'failed')
  const [line = ''] = lines
  t.match(JSON.parse(line).err.message, /no answer for/)
  t.match(line, '/bot123456789:[key]/getMe')
  t.notMatch(line, /abcdefghij|98912123/)
})

t.test('a child logger and one below its level behave alike', async (t) => {
  const { log, lines } = logToMemory()
  log.child({ token: 'canary' }).warn('token=canary')
  log.trace('not written')
  t.equal(lines.length, 1)
  t.notMatch(lines.join(), 'canary')
})
