/** `npm run test:faults [-- --seconds N --per-second R --only TEXT --seeds N]`. */
import { parseArgs } from 'node:util'
import { hasRedis } from '../support/redis.ts'
import { Toxiproxy } from '../support/toxiproxy.ts'
import { runFaults } from './chaos.ts'
import { outcomeLine, redisLine, totals } from './lines.ts'
import { runRedisFaults } from './redis-faults.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '15' },
    'per-second': { type: 'string', default: '100' },
    only: { type: 'string' },
    seeds: { type: 'string', default: '10' },
  },
})
const print = (line: string) => process.stdout.write(`${line}\n`)
const seconds = Number(values.seconds)
const toxiproxy = await Toxiproxy.start()

const report = await runFaults(
  {
    perSecond: Number(values['per-second']),
    seconds,
    toxics: { toxiproxy, seeds: Array.from({ length: Number(values.seeds) }, (_, at) => at + 1) },
    ...(values.only && { only: new RegExp(values.only) }),
  },
  (outcome) => print(outcomeLine(outcome)),
)
if (typeof toxiproxy !== 'string') await toxiproxy.stop()
const isRedisThere = await hasRedis()
if (!isRedisThere) print('Redis: not run, redis-server is not installed')
const redis = isRedisThere ? await runRedisFaults(seconds, (it) => print(redisLine(it))) : []
for (const line of totals(report, redis)) print(line)
const codesLost = redis.some(({ lost, slowestMs }) => lost > 0 || slowestMs > 1_000)
if (report.lost > 0 || report.violations.length > 0 || codesLost) process.exitCode = 1
