/** Linking an account of Telegram: other data centres, other ways of the code, QR codes, waits, restarts. */
import t, { type Test } from 'tap'
import type { LinkAttempt, LinkStep } from '../../actors/ports/platform.ts'
import type { Json } from '../../machines/model/protocol.ts'
import { unconfiguredTelegram } from '../../src/platforms/telegram/facts.ts'
import { acceptLogin } from '../support/telegram-dc/auth.ts'
import { clock } from '../support/telegram-dc/clock.ts'
import { RpcRefusal } from '../support/telegram-dc/data-centre.ts'
import type { PersonOptions } from '../support/telegram-dc/network.ts'
import { patience, run, Store } from './contract/recorder.ts'
import { accountOf, refusalOf } from './contract/scene.ts'
import { Stage } from './telegram/stage.ts'

const OTHER = 4

async function begun(t: Test, stage: Stage, options?: PersonOptions) {
  const person = stage.network.person(options)
  const attempt = await stage
    .platform()
    .startLink('phone', { phone: `+${person.phone}` }, patience())
  t.teardown(() => attempt.close())
  return { person, attempt }
}

const code = (attempt: LinkAttempt, value: string) =>
  attempt.answer({ kind: 'code', code: value }, patience())

function storedOf(step: LinkStep): Json {
  if (!('stored' in step)) throw new Error(`the step "${step.kind}" stores nothing`)
  return JSON.parse(JSON.stringify(step.stored))
}

t.test('Telegram accounts are linked', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage

  await t.test('an account of another data centre, over a restart', async (t) => {
    const { person, attempt } = await begun(t, stage, { centre: OTHER })
    t.match(attempt.step, { kind: 'code', length: 5, resendAfterSeconds: 60 })
    await attempt.close()
    const resumed = await stage.platform().resumeLink(storedOf(attempt.step), patience())
    const linked = accountOf(await code(resumed, person.code))
    t.equal(linked.identity.native, `${person.id}`)
    t.ok((linked.secrets as { home?: string }).home, 'it knows where the account lives')

    const opened = run(stage.platform(), new Store(linked))
    t.teardown(() => opened.stop())
    await opened.reported('opened')
    t.equal(network.centres[1]!.connectionsOf(person.id).length, 1)
  })

  await t.test('another code, by another way, is the one that counts', async (t) => {
    const { person, attempt } = await begun(t, stage)
    const first = person.code
    const again = await attempt.answer({ kind: 'resend' }, patience())
    t.match(again, { kind: 'code', sentVia: 'SMS' })
    if (first !== person.code) t.match(await code(attempt, first), { wrong: true })
    t.match(await code(attempt, person.code), { kind: 'done' })
  })

  await t.test('a code that comes by e-mail, over a restart', async (t) => {
    const { person, attempt } = await begun(t, stage, { email: 'ada@example.org' })
    t.match(attempt.step, { kind: 'code', sentVia: 'e-mail to a***@example.org', length: 5 })
    t.match(await code(attempt, '00000'), { kind: 'code', wrong: true })
    await attempt.close()
    const resumed = await stage.platform().resumeLink(storedOf(attempt.step), patience())
    t.match(await code(resumed, person.code), { kind: 'done' })

    const late = await begun(t, stage, { email: 'ada@example.org' })
    late.person.isCodeOld = true
    const refused = await code(late.attempt, late.person.code)
    t.match(refused, { kind: 'refused', reason: 'expired' })
  })

  await t.test(
    'a code that was taken while its answer got lost is not given in vain',
    async (t) => {
      for (const options of [{}, { email: 'ada@example.org' }]) {
        const { person, attempt } = await begun(t, stage, options)
        person.lostAnswers = 1
        await t.rejects(
          attempt.answer({ kind: 'code', code: person.code }, AbortSignal.timeout(300)),
        )
        t.equal(network.devicesOf(person), 1, 'it is signed in')
        t.equal(accountOf(await code(attempt, person.code)).identity.native, `${person.id}`)
      }
      const { person, attempt } = await begun(t, stage)
      person.lostAnswers = 1
      await t.rejects(attempt.answer({ kind: 'code', code: person.code }, AbortSignal.timeout(300)))
      await attempt.close()
      const resumed = await stage.platform().resumeLink(storedOf(attempt.step), patience())
      t.equal(accountOf(await code(resumed, person.code)).identity.native, `${person.id}`)
    },
  )

  await t.test('a code that was taken before Telegram failed is not told as old', async (t) => {
    const { person, attempt } = await begun(t, stage)
    let failures = 1
    network.between = async (name, carryOut) => {
      const answer = await carryOut()
      if (name === 'auth.signIn' && failures-- > 0) throw new RpcRefusal(500, 'RPC_CALL_FAIL')
      return answer
    }
    t.teardown(() => {
      network.between = (_, carryOut) => carryOut()
    })
    t.equal(accountOf(await code(attempt, person.code)).identity.native, `${person.id}`)
    t.equal(network.devicesOf(person), 1)
  })

  await t.test('a flow that ends without an account leaves no device signed in', async (t) => {
    const { person, attempt } = await begun(t, stage)
    person.lostAnswers = 1
    await t.rejects(attempt.answer({ kind: 'code', code: person.code }, AbortSignal.timeout(300)))
    await attempt.close({ signOut: true })
    t.equal(network.devicesOf(person), 0)

    const scanned = await stage.platform().startLink('qr', {}, patience())
    if (scanned.step.kind !== 'show') throw new Error('no code is shown')
    acceptLogin(network, person, tokenOf(scanned.step.value))
    t.equal(network.devicesOf(person), 1)
    await scanned.close({ signOut: true })
    t.equal(network.devicesOf(person), 0)
    await scanned.close({ signOut: true })

    const linked = await begun(t, stage)
    t.match(await code(linked.attempt, linked.person.code), { kind: 'done' })
    await linked.attempt.close({ signOut: true })
    t.equal(network.devicesOf(linked.person), 1, 'an account that is linked stays')
  })

  await t.test('one that another process ends leaves none either, or says so', async (t) => {
    const { person, attempt } = await begun(t, stage)
    person.lostAnswers = 1
    await t.rejects(attempt.answer({ kind: 'code', code: person.code }, AbortSignal.timeout(300)))
    await attempt.close()
    t.equal(network.devicesOf(person), 1)
    const resume = () => stage.platform().resumeLink(storedOf(attempt.step), patience())
    network.between = (name, carryOut) => {
      if (name === 'auth.logOut') throw new RpcRefusal(400, 'TRY_LATER')
      return carryOut()
    }
    t.teardown(() => {
      network.between = (_, carryOut) => carryOut()
    })
    await t.rejects((await resume()).close({ signOut: true }), { message: 'TRY_LATER' })
    t.equal(network.devicesOf(person), 1)
    network.between = (_, carryOut) => carryOut()
    await (await resume()).close({ signOut: true })
    t.equal(network.devicesOf(person), 0)
  })

  await t.test(
    'nothing is left of a QR code whose key Telegram has revoked meanwhile',
    async (t) => {
      const gone = [
        'AUTH_KEY_UNREGISTERED',
        'AUTH_KEY_INVALID',
        'AUTH_KEY_DUPLICATED',
        'SESSION_REVOKED',
        'SESSION_EXPIRED',
      ]
      t.teardown(() => {
        network.between = (_, carryOut) => carryOut()
      })
      for (const word of gone) {
        const attempt = await stage.platform().startLink('qr', {}, patience())
        await attempt.close()
        network.between = (name, carryOut) => {
          if (name.startsWith('auth.')) throw new RpcRefusal(401, word)
          return carryOut()
        }
        const resumed = await stage.platform().resumeLink(storedOf(attempt.step), patience())
        t.match(resumed.step, { kind: 'refused', reason: 'expired' }, word)
        await resumed.close({ signOut: true })
        network.between = (_, carryOut) => carryOut()
      }
    },
  )

  await t.test('a link that was closed before does not say that it has signed out', async (t) => {
    const { attempt } = await begun(t, stage)
    await attempt.close()
    await t.rejects(attempt.close({ signOut: true }), { message: 'The client is closed' })
  })

  await t.test('an account that has to name an e-mail address first', async (t) => {
    const { attempt } = await begun(t, stage, { email: '' })
    t.match(attempt.step, {
      kind: 'refused',
      reason: 'email_needed',
      description: /^Telegram wants an e-mail address for this account first: name it in its app$/,
    })
  })

  await t.test('a QR code is scanned on another device', async (t) => {
    const person = network.person()
    const attempt = await stage.platform().startLink('qr', {}, patience())
    t.teardown(() => attempt.close())
    if (attempt.step.kind !== 'show') throw new Error('no code is shown')
    t.match(attempt.step, { form: 'qr', value: /^tg:\/\/login\?token=[\w-]+$/ })
    const changed = attempt.changed(patience())
    acceptLogin(network, person, tokenOf(attempt.step.value))
    t.equal(accountOf(await changed).identity.native, `${person.id}`)
  })

  await t.test(
    'a QR code is shown for as long as it counts, whatever the clock says',
    async (t) => {
      clock.aheadSeconds = 600
      t.teardown(() => {
        clock.aheadSeconds = 0
      })
      const attempt = await stage.platform().startLink('qr', {}, patience())
      t.teardown(() => attempt.close())
      if (attempt.step.kind !== 'show') throw new Error('no code is shown')
      // Both clocks count whole seconds, and do not begin them together.
      t.ok(attempt.step.expiresInSeconds <= 31, `for ${attempt.step.expiresInSeconds} seconds`)
    },
  )

  await t.test('a QR code is followed by a second factor', async (t) => {
    const person = network.person({ password: 'correct horse', hint: 'staple' })
    const attempt = await stage.platform().startLink('qr', {}, patience())
    if (attempt.step.kind !== 'show') throw new Error('no code is shown')
    const changed = attempt.changed(patience())
    acceptLogin(network, person, tokenOf(attempt.step.value))
    const asked = await changed
    t.match(asked, { kind: 'password', hint: 'staple' })
    await attempt.close()
    const resumed = await stage.platform().resumeLink(storedOf(asked), patience())
    const given = { kind: 'password', password: 'correct horse' } as const
    t.match(await resumed.answer(given, patience()), { kind: 'done' })
  })

  await t.test('a wait that the network demands is told', async (t) => {
    const person = network.person()
    person.floodSeconds = 300
    const attempt = await stage.platform().startLink('phone', { phone: person.phone }, patience())
    t.teardown(() => attempt.close())
    t.match(attempt.step, { kind: 'refused', reason: 'flood_wait', retryAfterSeconds: 300 })
  })

  await t.test('a banned number is refused', async (t) => {
    const person = network.person()
    person.isBanned = true
    const attempt = await stage.platform().startLink('phone', { phone: person.phone }, patience())
    t.teardown(() => attempt.close())
    t.match(attempt.step, { kind: 'refused', reason: 'account_banned' })
  })

  await t.test('without a registration of the service nothing is linked', async (t) => {
    const platform = unconfiguredTelegram()
    t.equal(platform.unavailable, 'Telegram is not set up on this service: ask whoever runs it')
    const failure = await refusalOf(
      (async () => platform.startLink('phone', { phone: '15550100' }, patience()))(),
    )
    t.match(failure, { code: 'unavailable', description: platform.unavailable })
  })
})

const tokenOf = (url: string) => Buffer.from(new URL(url).searchParams.get('token')!, 'base64url')
