/** The kill test on XMPP, in its short form. */
import t from 'tap'
import { xmppServers } from '../support/xmpp-servers.ts'
import { isKept, runXmppChaos, xmppSummary } from './xmpp-chaos.ts'

const takesMs = 200_000

t.setTimeout(4 * takesMs)

for (const { name, skip, resendsLate, start } of xmppServers) {
  for (const withoutArchive of [false, true]) {
    const kind = withoutArchive ? `${name} without an archive` : name
    const title = `people write on over ${kind}, and a killed service misses nothing without a word`
    t.test(title, { skip, timeout: takesMs }, async (t) => {
      const server = await start({ quickArchive: true, withoutArchive })
      const report = await runXmppChaos(
        { server, kills: 3, perSecond: 25, resendsLate },
        () => undefined,
      )
      for (const line of xmppSummary(report)) t.comment(line)
      if (!withoutArchive) t.equal(report.lost, 0)
      t.same(report.violations, [])
      t.ok(isKept(report, !withoutArchive))
      t.ok(report.written > 100, `${report.written} were written`)
    })
  }
}
