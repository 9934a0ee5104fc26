/** What counts as a takeover, and when its time ends. */
import t from 'tap'
import type { CredentialFacts } from '../../actors/ports/ports.ts'
import { Takeovers } from '../../src/nodes/takeovers.ts'
import { createMetrics } from '../../src/observability/metrics.ts'

const EPOCH = 4

function rig() {
  const metrics = createMetrics()
  let silentMs: number | undefined = 1_500
  const takeovers = new Takeovers({
    name: 'here',
    silentMs: (name) => (name === 'there' ? silentMs : undefined),
    metrics,
  })
  const claim = (former: CredentialFacts['former'], state = 'live.online') =>
    takeovers.claimed({
      credentialId: 7,
      epoch: EPOCH,
      userId: 1,
      platform: 'sandbox',
      state,
      reason: undefined,
      limitedUntil: undefined,
      settings: {} as CredentialFacts['settings'],
      ...(former && { former }),
    })
  const changed = (publicState: string, epoch = EPOCH) =>
    takeovers.changed({ credentialId: 7, epoch, publicState })
  const figures = async () => {
    const text = await metrics.text()
    const of = (series: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.split(' ')[1],
      )
    return {
      handover: of('chapar_takeovers_total{cause="handover"}'),
      ended: of('chapar_takeovers_total{cause="ended"}'),
      times: of('chapar_takeover_seconds_count'),
      seconds: of('chapar_takeover_seconds_sum'),
    }
  }
  const passes = (milliseconds: number | undefined) => {
    silentMs = milliseconds
  }
  return { takeovers, claim, changed, figures, passes }
}

const lost = { name: 'there', hasReleased: false }
const none = { handover: 0, ended: 0, times: 0, seconds: 0 }

t.test('the time ends once the account is online again, and is told once', async (t) => {
  const { claim, changed, figures, passes } = rig()
  claim(lost)
  changed('connecting')
  t.same(await figures(), { ...none, ended: 1 })
  passes(2_500)
  changed('active', EPOCH - 1)
  t.equal((await figures()).times, 0, 'the owner before says nothing of it')
  changed('active')
  changed('active')
  t.same(await figures(), { handover: 0, ended: 1, times: 1, seconds: 2.5 })
})

t.test('an account that was given away, or not online before, has no such time', async (t) => {
  const { claim, changed, figures } = rig()
  claim({ name: 'there', hasReleased: true })
  changed('active')
  claim(lost, 'signedOut')
  changed('active')
  t.same(await figures(), { ...none, handover: 1, ended: 1 })
})

t.test('a restart takes nothing over, under the same name or another one', async (t) => {
  const { claim, changed, figures } = rig()
  claim(undefined)
  claim({ name: 'here', hasReleased: false })
  claim({ name: 'never seen', hasReleased: false })
  changed('active')
  t.same(await figures(), none)
})

t.test('an account that was lost meanwhile has no such time', async (t) => {
  const { takeovers, claim, changed, figures } = rig()
  claim(lost)
  takeovers.lost(new Set([7]))
  changed('active')
  t.same(await figures(), { ...none, ended: 1 })
})
