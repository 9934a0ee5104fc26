/** What a credential shows and answers in each of its states. */
import t from 'tap'
import type { Resume } from '../../../machines/credential/setup.ts'
import type { Failure } from '../../../machines/model/protocol.ts'
import type { FailureReason } from '../../../machines/model/reason.ts'
import { begin, command, online, type Place, perform, places, stopped } from './rig.ts'

const show = (state: string, action: string) => ({ state, action })
const refusal = (
  code: Failure['code'],
  reason: FailureReason,
  description: string,
  retryAfterSeconds?: number,
): Failure => ({
  code,
  reason,
  description,
  ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
})
const limited: Failure = { code: 'rate_limited', description: '', retryAfterSeconds: 30 }

const reconnecting = refusal('unavailable', 'reconnecting', 'the credential is reconnecting', 5)
const deaf = refusal(
  'unavailable',
  'no_traffic',
  'the credential is connected but nothing flows',
  10,
)
const gone: Failure = { code: 'not_found', description: '' }

/** What operators see, and why an operation is refused; undefined where it is taken up. */
const table: Record<Place, [ReturnType<typeof show>, Failure | undefined]> = {
  queued: [show('connecting', 'none'), reconnecting],
  'live.starting.opening': [show('connecting', 'none'), reconnecting],
  'live.starting.verifying': [show('connecting', 'none'), reconnecting],
  'live.online.quiet': [show('active', 'none'), undefined],
  'live.online.checking': [show('active', 'none'), undefined],
  'live.deaf.pausing': [show('degraded', 'wait'), deaf],
  'live.deaf.checking': [show('degraded', 'wait'), deaf],
  'live.limited.quiet': [show('degraded', 'wait'), limited],
  'live.limited.checking': [show('degraded', 'wait'), limited],
  'live.leaving.noting': [show('deactivated', 'none'), gone],
  'live.leaving.pausing': [show('deactivated', 'none'), gone],
  'live.leaving.signingOut': [show('deactivated', 'none'), gone],
  'live.leaving.returning': [show('deactivated', 'none'), gone],
  waiting: [show('connecting', 'wait'), reconnecting],
  crashed: [
    show('degraded', 'wait'),
    refusal('unavailable', 'restarting', 'the credential is restarting', 1),
  ],
  stalled: [show('connecting', 'wait'), reconnecting],
  replaced: [
    show('failed', 'restart'),
    refusal(
      'forbidden',
      'replaced_elsewhere',
      'another client took the session; restart the credential',
    ),
  ],
  signedOut: [
    show('logged_out', 'link_again'),
    refusal('forbidden', 'logged_out', 'the credential is logged out; link it again'),
  ],
  invalid: [
    show('invalid', 'contact_platform'),
    refusal('forbidden', 'account_gone', 'the account is banned or gone; contact the platform'),
  ],
  failed: [
    show('failed', 'restart'),
    refusal('forbidden', 'credential_failed', 'the credential has failed; restart it'),
  ],
  'deactivating.noting': [show('deactivated', 'none'), gone],
  'deactivating.wiping': [show('deactivated', 'none'), gone],
  'deactivating.crashed': [show('deactivated', 'none'), gone],
  'deactivating.pausing': [show('deactivated', 'none'), gone],
  deactivated: [show('deactivated', 'none'), undefined],
}

for (const [place, [shown, failure]] of Object.entries(table)) {
  const arrive = places[place as Place]
  t.test(`${place} is shown as ${shown.state}, ${shown.action}`, async (t) => {
    const walk = arrive()
    t.equal(walk.state, place)
    t.same(walk.meta, shown)
  })
  if (place === 'deactivated') continue
  t.test(
    `${place} ${failure ? `refuses with ${failure.code}` : 'takes up operations'}`,
    async (t) => {
      const walk = arrive().send(perform())
      t.equal(walk.state, place)
      if (failure) {
        t.same(walk.replies, [{ type: 'reply', requestId: 'p1', outcome: { ok: false, failure } }])
        t.same(walk.effects, [])
      } else {
        t.same(walk.replies, [])
        t.same(walk.effects, [{ type: 'perform', params: perform() }])
      }
    },
  )
}

t.test('what an operation came to is told in whatever state it ends', async (t) => {
  const reply = { type: 'reply', requestId: 'p1', outcome: { ok: true, result: 1 } } as const
  for (const [place, arrive] of Object.entries(places)) {
    if (place === 'deactivated') continue
    const walk = arrive().send({ type: 'request.settled', reply })
    t.same(walk.replies, [reply], place)
  }
})

t.test('a check is passed to a session and refused where there is none', async (t) => {
  for (const [place, arrive] of Object.entries(places)) {
    if (place === 'deactivated') continue
    const walk = arrive().send(command('check'))
    const isLive = place.startsWith('live.') && !place.startsWith('live.leaving')
    t.same(walk.effects, isLive ? [{ type: 'check', params: command('check') }] : [], place)
    t.equal(walk.replies.length, isLive ? 0 : 1, place)
    t.equal(walk.outcome?.ok, isLive ? undefined : false, place)
  }
})

t.test('settings are taken over in every state and handed to what is stored next', async (t) => {
  const settings = {
    includeSelfUpdates: true,
    includeChannelUpdates: true,
    includeChannelUpdateRecovery: false,
    includeDeletedUpdates: true,
  }
  for (const [place, arrive] of Object.entries(places)) {
    if (place === 'deactivated') continue
    const walk = arrive().send({ type: 'credential.settings', requestId: 's', settings })
    t.equal(walk.state, place)
    t.same(walk.outcome, { ok: true, result: true }, place)
    t.same(walk.snapshot.context.settings, settings, place)
  }
})

t.test('every stopped state begins again with a restart and with a new link', async (t) => {
  for (const place of stopped) {
    for (const what of ['restart', 'relinked'] as const) {
      const walk = places[place]().send(command(what))
      t.equal(walk.state, 'queued', `${what} from ${place}`)
      t.same(walk.outcome, { ok: true, result: true })
      t.same(walk.running, ['turn'])
      t.equal(walk.snapshot.context.reason, undefined)
    }
  }
})

t.test('a restart of one that lives opens a new session', async (t) => {
  const walk = online().send(command('restart'))
  t.equal(walk.state, 'queued')
  t.same(walk.running, ['turn'], 'the old session is let go')
})

t.test('a credential resumes where its stored facts say it ended, with the reason', async (t) => {
  for (const resume of stopped satisfies readonly Resume[]) {
    const walk = begin({ resume, reason: 'policy_violation' })
    t.equal(walk.state, resume)
    t.equal(walk.snapshot.context.reason, 'policy_violation')
    t.same(walk.running, [])
  }
})
