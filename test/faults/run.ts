/** `npm run test:faults [-- --seconds N --per-second R --only TEXT]`. */
import { parseArgs } from 'node:util'
import { hasRedis } from '../support/redis.ts'
import { runFaults } from './chaos.ts'
import { outcomeLine, redisLine, totals } from './lines.ts'
import { runRedisFaults } from './redis-faults.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '15' },
    'per-second': { type: 'string', default: '100' },
    only: { type: 'string' },
  },
})
const print = (line: string) => process.stdout.write(`${line}\n`)
const seconds = Number(values.seconds)

const report = await runFaults(
  {
    perSecond: Number(values['per-second']),
    seconds,
    ...(values.only && { only: new RegExp(values.only) }),
  },
  (outcome) => print(outcomeLine(outcome)),
)
const isRedisThere = await hasRedis()
if (!isRedisThere) print('Redis: not run, redis-server is not installed')
const redis = isRedisThere ? await runRedisFaults(seconds, (it) => print(redisLine(it))) : []
for (const line of totals(report, redis)) print(line)
const codesLost = redis.some(({ lost, slowestMs }) => lost > 0 || slowestMs > 1_000)
if (report.lost > 0 || report.violations.length > 0 || codesLost) process.exitCode = 1
