/** `npm run test:kill [-- --service-kills N --postgres-kills M --per-second R --webhook-connections C --xmpp-kills K]`. */
import { parseArgs } from 'node:util'
import { xmppServers } from '../support/xmpp-servers.ts'
import { runChaos } from './chaos.ts'
import { summary } from './summary.ts'
import { isKept, runXmppChaos, xmppSummary } from './xmpp-chaos.ts'

const { values } = parseArgs({
  options: {
    'service-kills': { type: 'string', default: '100' },
    'postgres-kills': { type: 'string', default: '20' },
    'per-second': { type: 'string', default: '500' },
    'acknowledges-early': { type: 'boolean', default: false },
    'webhook-connections': { type: 'string' },
    'xmpp-kills': { type: 'string', default: '30' },
  },
})
const counted = (kills: number) => {
  if (kills % 10 === 0) print(`${kills} kills`)
}
const print = (line: string) => process.stdout.write(`${line}\n`)

const report = await runChaos(
  {
    serviceKills: Number(values['service-kills']),
    postgresKills: Number(values['postgres-kills']),
    perSecond: Number(values['per-second']),
    acknowledgesEarly: values['acknowledges-early'],
    ...(values['webhook-connections'] && {
      webhookConnections: Number(values['webhook-connections']),
    }),
  },
  counted,
)
for (const line of summary(report)) print(line)
if (report.lost > 0 || report.violations.length > 0) process.exitCode = 1

const xmppKills = Number(values['xmpp-kills'])
for (const { name, skip, resendsLate, start } of xmppKills > 0 ? xmppServers : []) {
  if (skip) {
    print(`XMPP: ${name} not run, ${skip}`)
    continue
  }
  for (const withoutArchive of [false, true]) {
    print(`XMPP: ${name}${withoutArchive ? ' without an archive' : ''}`)
    const server = await start({ quickArchive: true, withoutArchive })
    const xmpp = await runXmppChaos(
      { server, kills: xmppKills, perSecond: 25, resendsLate },
      counted,
    )
    for (const line of xmppSummary(xmpp)) print(line)
    if (!isKept(xmpp, !withoutArchive)) process.exitCode = 1
  }
}
