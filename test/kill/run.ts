/** `npm run test:kill [-- --service-kills N --postgres-kills M --per-second R --acknowledges-early]`. */
import { parseArgs } from 'node:util'
import { runChaos } from './chaos.ts'
import { summary } from './summary.ts'

const { values } = parseArgs({
  options: {
    'service-kills': { type: 'string', default: '100' },
    'postgres-kills': { type: 'string', default: '20' },
    'per-second': { type: 'string', default: '500' },
    'acknowledges-early': { type: 'boolean', default: false },
  },
})
const print = (line: string) => process.stdout.write(`${line}\n`)

const report = await runChaos(
  {
    serviceKills: Number(values['service-kills']),
    postgresKills: Number(values['postgres-kills']),
    perSecond: Number(values['per-second']),
    acknowledgesEarly: values['acknowledges-early'],
  },
  (kills) => {
    if (kills % 10 === 0) print(`${kills} kills`)
  },
)
for (const line of summary(report)) print(line)
if (report.lost > 0 || report.violations.length > 0) process.exitCode = 1
