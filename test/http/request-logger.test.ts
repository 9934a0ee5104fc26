/** What a request's log says: its lines carry the request's id, and come out as the log's own. */
import Fastify, { LogController } from 'fastify'
import t from 'tap'
import { RequestLogger } from '../../src/http/request-log.ts'
import { createLogger } from '../../src/observability/logger.ts'

const levels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const

t.test('each line names its request, at every level that is on', async (t) => {
  const lines: string[] = []
  const loggerInstance = createLogger({
    level: 'debug',
    destination: { write: (line) => lines.push(line) },
  })
  const app = Fastify({
    loggerInstance,
    logController: new LogController({ disableRequestLogging: true }),
    childLoggerFactory: (logger, bindings) => new RequestLogger(logger, bindings),
  })
  t.teardown(() => app.close())
  app.get('/', async ({ log, id }) => {
    for (const level of levels) log[level]({ said: level }, 'text of %s', level)
    log.silent('nothing')
    log.child({ more: 1 }).info('from a child')
    return { id, level: log.level }
  })
  const { id, level } = (await app.inject('/')).json()
  t.equal(level, 'debug')
  const said = lines.map((line) => JSON.parse(line))
  t.match(said, [
    ...levels.slice(0, 5).map((name) => ({ reqId: id, said: name, msg: `text of ${name}` })),
    { reqId: id, more: 1, msg: 'from a child' },
  ])
  t.equal(said.length, 6)
})
