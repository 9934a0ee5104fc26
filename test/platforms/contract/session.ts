/** A session's life: opened, lost and back with nothing missed, ended by the network, probed, closed. */
import type { Test } from 'tap'
import type { ContractHarness } from './harness.ts'
import { patience, run, Store } from './recorder.ts'
import { able, linked, need, perform, refusalOf, scene, sending, words } from './scene.ts'

/** There is no other node. */
const always = { isValid: true, valid: async () => undefined, onEnd: () => undefined }

const lasting = (harness: ContractHarness): ContractHarness => ({
  ...harness,
  platform: harness.lasting?.() ?? harness.platform,
})

export async function sessionContract(t: Test, harness: ContractHarness) {
  const { platform } = harness

  await t.test('it opens as the account that was linked', async (t) => {
    const { first, account } = await scene(t, harness)
    const [identity] = await first.reported('opened')
    t.match(identity, { native: account.native })
  })

  await t.test('what happened between two sessions is reported by the second', async (t) => {
    const { first, peer, store, reopen } = await scene(t, harness)
    const texts = [words('while online'), words('while away'), words('while away too')]
    await peer.write(texts[0]!)
    await store.message(texts[0]!)
    await first.stop()
    await peer.write(texts[1]!)
    await peer.write(texts[2]!)
    await reopen()
    await store.message(texts[2]!)
    t.strictSame(store.texts(), texts)
  })

  await able(
    t,
    harness,
    ['cut'],
    'a broken connection is lost, and nothing is missed',
    async (t) => {
      const { first, account, peer, store, reopen } = await scene(t, harness)
      await need(account.cut, 'cut').call(account)
      await first.reported('lost')
      const texts = [words('one'), words('two')]
      for (const text of texts) await peer.write(text)
      await reopen()
      await store.message(texts[1]!)
      t.strictSame(store.texts(), texts)
    },
  )

  await able(t, harness, ['restartNetwork'], 'a restart of the network is survived', async (t) => {
    const { first, peer, store, reopen } = await scene(t, harness)
    const before = words('before')
    await peer.write(before)
    await store.message(before)
    await need(harness.restartNetwork, 'restartNetwork').call(harness)
    await first.reported('lost')
    await reopen()
    const after = words('after')
    await peer.write(after)
    await store.message(after)
    t.strictSame(store.texts(), [before, after])
  })

  await able(
    t,
    harness,
    ['revoke'],
    'a sign-out elsewhere is revoked, then and later',
    async (t) => {
      const { first, account, store } = await scene(t, harness)
      await need(account.revoke, 'revoke').call(account)
      await first.reported('revoked')
      const next = run(platform, store)
      t.teardown(() => next.stop())
      await next.reported('revoked')
      t.notOk(next.reports.some(([report]) => report === 'opened'))
    },
  )

  await able(t, harness, ['ban'], 'a ban is told from a sign-out', async (t) => {
    const { first, account } = await scene(t, harness)
    await need(account.ban, 'ban').call(account)
    t.ok((await first.reported('invalid'))[0])
  })

  await able(
    t,
    harness,
    ['replace'],
    'a session taken by another client is replaced',
    async (t) => {
      const { first, account, peer, store } = await scene(t, lasting(harness))
      const text = words('before')
      await peer.write(text)
      await store.message(text)
      await need(account.replace, 'replace').call(account, store.secrets)
      await first.reported('replaced')
      t.notOk(first.reports.some(([report]) => report === 'lost'))
    },
  )

  await t.test('two sessions at once do to each other what it says', async (t) => {
    const { first, store } = await scene(t, lasting(harness))
    const { sessions } = platform
    const second = run((harness.elsewhere ?? harness.restarted)(), store)
    t.teardown(() => second.stop())
    const has = (one: typeof first, name: string) => one.reports.some(([report]) => report === name)
    if (sessions === 'exclusive') {
      await store.until(() => [first, second].find((one) => has(one, 'revoked')))
      return
    }
    await second.reported('opened')
    if (sessions === 'displacing') await first.reported('replaced')
    else await first.session.probe(patience())
    await second.session.probe(patience())
    t.equal(has(first, 'replaced'), sessions === 'displacing')
    t.notOk(has(second, 'replaced'))
    for (const one of [first, second]) t.notOk(has(one, 'lost') || has(one, 'revoked'))
  })

  await t.test('a send is repeated by another process as it says', async (t) => {
    const { first, peer, store } = await scene(t, harness)
    const { sends } = platform
    t.ok(['idempotent', 'findable', 'blind'].includes(sends))
    if (sends === 'blind') return
    const text = words('sent twice')
    const requestId = crypto.randomUUID()
    const once = await perform(first, sending(peer.chat, text), requestId)
    await first.stop()
    const second = run(harness.restarted(), store)
    t.teardown(() => second.stop())
    await second.reported('opened')
    const repeat = (said: string, id: string) =>
      second.session.perform(sending(peer.chat, said), id, patience(), true)
    const again = await repeat(text, requestId)
    if (once.kind !== 'message' || again.kind !== 'message') throw new Error('no message')
    t.equal(again.message.native, once.message.native)
    t.same(again.message.content, once.message.content)
    const lost = words('lost on its way')
    t.match(await repeat(lost, crypto.randomUUID()), { message: { content: { text: lost } } })
    const last = words('last')
    await perform(second, sending(peer.chat, last))
    await peer.sees(last, patience())
    t.same([await peer.count(text), await peer.count(lost)], [1, 1])
  })

  await able(t, harness, ['limit'], 'a restriction is reported with its length', async (t) => {
    const { first, account, peer } = await scene(t, harness)
    await need(account.limit, 'limit').call(account, 40)
    const [kind, seconds] = await first.reported('limited')
    t.equal(kind, 'flood_wait')
    t.equal(seconds, 40)
    const failure = await refusalOf(perform(first, sending(peer.chat, words('limited'))))
    t.equal(failure.code, 'rate_limited')
    t.ok(failure.retryAfterSeconds! > 30 && failure.retryAfterSeconds! <= 40)
  })

  await t.test('a probe is a round trip with its latency', async (t) => {
    const { first } = await scene(t, harness)
    const latency = await first.session.probe(patience())
    t.ok(latency >= 0 && latency < 15_000)
  })

  await able(t, harness, ['silence'], 'a probe of a silent network gives up in time', async (t) => {
    const { first, account } = await scene(t, harness)
    await need(account.silence, 'silence').call(account)
    t.teardown(() => account.unsilence?.())
    const began = performance.now()
    await t.rejects(first.session.probe(AbortSignal.timeout(1_000)))
    t.ok(performance.now() - began < 5_000)
    t.notOk(
      first.reports.some(([report]) => report === 'lost'),
      'the connection stands',
    )
  })

  await t.test('a closed session reports nothing and performs nothing', async (t) => {
    const { first, peer } = await scene(t, harness)
    const before = first.reports.length
    await first.stop()
    const failure = await refusalOf(perform(first, sending(peer.chat, words('closed'))))
    t.equal(failure.code, 'unavailable')
    t.equal(first.reports.length, before)
  })

  await able(t, harness, ['signOut'], 'signing out ends the session on the network', async (t) => {
    const { first, store } = await scene(t, harness)
    await first.session.close({ signOut: true })
    const next = run(platform, store)
    t.teardown(() => next.stop())
    await next.reported('revoked')
  })

  await able(
    t,
    harness,
    ['signOut'],
    'a session that is left is ended by its secrets',
    async (t) => {
      const { account, first, store } = await scene(t, harness)
      if (!platform.signOut) throw new Error('a platform whose links are sessions has signOut')
      const { signal } = new AbortController()
      await first.stop()
      const other = new Store(await linked(platform, account))
      const left = store.secrets
      await platform.signOut(left, always, signal)
      const next = run(platform, store)
      t.teardown(() => next.stop())
      await next.reported('revoked')
      await platform.signOut(left, always, signal)
      const kept = run(platform, other)
      t.teardown(() => kept.stop())
      await kept.reported('opened')
    },
  )

  await t.test('secrets that mean nothing do not open', async (t) => {
    const account = await harness.account()
    const store = new Store({ ...(await linked(platform, account)), secrets: {} })
    const opened = run(platform, store)
    t.teardown(() => opened.stop())
    await store.until(() => opened.reports.find(([name]) => /revoked|invalid/.test(name)))
    t.notOk(opened.reports.some(([report]) => report === 'opened'))
  })
}
