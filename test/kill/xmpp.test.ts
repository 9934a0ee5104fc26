/** The kill test on XMPP, in its short form. */
import t from 'tap'
import { prosodyMissing } from '../support/prosody.ts'
import { runXmppChaos, xmppSummary } from './xmpp-chaos.ts'

const takesMs = 100_000

t.setTimeout(takesMs)

t.test(
  'people write on, and a killed service misses nothing',
  {
    skip: prosodyMissing ?? false,
    timeout: takesMs,
  },
  async (t) => {
    const report = await runXmppChaos({ kills: 3, perSecond: 25 }, () => undefined)
    for (const line of xmppSummary(report)) t.comment(line)
    t.equal(report.lost, 0)
    t.same(report.violations, [])
    t.ok(report.written > 100, `${report.written} were written`)
  },
)
