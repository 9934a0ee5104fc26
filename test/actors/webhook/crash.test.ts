/** A delivery that crashes is followed by another one: nothing is lost, nothing changes its order, and it is shown. */
import { equal } from 'node:assert/strict'
import t, { type Test } from 'tap'
import type { Crash, Webhooks, WebhookUpdate } from '../../../actors/ports/webhooks.ts'
import type { Progress } from '../../../machines/webhook/progress.ts'
import type { WebhookState } from '../../../machines/webhook/terms.ts'
import { settled } from '../../support/clock.ts'
import { only } from '../../support/fakes.ts'
import { ApiKeyRig } from '../api-key/rig.ts'
import { failure, ok, webhookFacts } from './rig.ts'

const boom = (): never => {
  throw new Error('boom')
}

/** A key with a webhook whose log, endpoint and table its test plays. */
class CrashRig {
  readonly sent: number[] = []
  readonly crashes: Crash[] = []
  readonly states: WebhookState[] = []
  readonly saved: Progress[] = []
  answer: (updateId: number) => Promise<typeof ok> | typeof ok = () => ok
  onChange: () => void = () => undefined
  onOpen: () => void = () => undefined
  lane: (updateId: number) => string = () => 'one chat'
  onNote: () => void = () => undefined
  readonly rig: ApiKeyRig

  constructor(t: Test) {
    const webhooks = only<Webhooks>(t, 'Webhooks', {
      open: () => {
        this.onOpen()
        return {
          address: undefined,
          close: () => undefined,
          record: () => undefined,
          deliver: async ({ updateId }) => {
            this.sent.push(updateId)
            return this.answer(updateId)
          },
        }
      },
      read: async (_, { after, limit }) => {
        const updates = this.#after(after).slice(0, limit)
        return { updates, head: updates.at(-1)?.updateId ?? after }
      },
      saveProgress: async (_, progress) => void this.saved.push(progress()),
      saveState: (_, state) => {
        this.onNote()
        this.states.push(state)
      },
      notify: () => undefined,
      remind: () => undefined,
      crashed: (_, crash) => this.crashes.push(crash),
      change: async (_, change, cursor) => {
        this.onChange()
        const webhook = change.kind === 'set' ? webhookFacts(change.target) : undefined
        return { webhook, cursor }
      },
    })
    this.rig = new ApiKeyRig(t, { webhook: webhookFacts({ maxConnections: 10 }) }, { webhooks })
    t.teardown(async () => {
      this.rig.actor.stop()
      await this.advance(5_000)
      await this.rig.actor.settled
      equal(this.rig.clock.timers, 0, 'a delivery that has ended waits for something')
    })
  }

  get state(): unknown {
    return this.rig.actor.delivery?.snapshot.value
  }

  async write(count = 1): Promise<void> {
    this.rig.commit(count)
    await this.settle()
  }

  async advance(milliseconds: number): Promise<void> {
    await this.rig.clock.advance(milliseconds)
    await this.settle()
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 20; turn++) await settled()
  }

  /** An update fails, and that cannot be noted. */
  async crash(): Promise<void> {
    this.answer = () => failure()
    this.onNote = boom
    await this.write()
    this.onNote = () => undefined
    this.answer = () => ok
  }

  async giveUp(): Promise<void> {
    this.answer = () => failure()
    this.onNote = boom
    await this.write()
    for (let second = 0; second < 60 && this.crashes.length < 5; second++) await this.advance(1_000)
    this.onNote = () => undefined
    this.answer = () => ok
    await this.settle()
  }

  #after(after: number): WebhookUpdate[] {
    const ids = Array.from({ length: this.rig.newest - 100 }, (_, place) => 101 + place)
    return ids
      .filter((id) => id > after)
      .map((updateId) => ({ updateId, lane: this.lane(updateId), body: '{}', traceId: undefined }))
  }
}

t.test('after a crash it rests, is shown to, and goes on where it was', async (t) => {
  const rig = new CrashRig(t)
  await rig.write(2)
  t.same(rig.sent, [101, 102])
  await rig.crash()
  t.equal(rig.state, 'crashed')
  t.match(rig.rig.logger.errors, [{ apiKeyId: 5, err: { message: 'boom' } }])
  t.match(rig.crashes, [{ isGivenUp: false }])
  t.same(rig.sent, [101, 102, 103], 'and nothing more is tried')
  t.ok(rig.rig.actor.isActive, 'the key itself is well')
  t.notOk(rig.rig.actor.isIdle(0), 'a key that slept now would not be woken')
  const before = rig.sent.length
  await rig.write(3)
  t.equal(rig.sent.length, before, 'the flow is closed')
  await rig.advance(10_000)
  t.equal(rig.state, 'delivering')
  t.same(rig.sent.slice(before), [103, 104, 105, 106])
  t.equal(rig.rig.actor.delivery?.progress.cursor, 106)
})

t.test('what is under way ends before the next one begins', async (t) => {
  const rig = new CrashRig(t)
  rig.lane = (updateId) => `${updateId}`
  const held = Promise.withResolvers<typeof ok>()
  rig.answer = (updateId) => (updateId === 101 ? held.promise : failure())
  rig.onNote = boom
  await rig.write(12)
  t.equal(rig.rig.logger.errors.length, 1)
  t.equal(rig.state, undefined)
  t.notOk(rig.rig.actor.isIdle(0), 'it is about to go on')
  rig.onNote = () => undefined
  rig.answer = () => ok
  held.resolve(ok)
  await rig.settle()
  t.equal(rig.state, 'crashed')
  await rig.advance(20_000)
  t.equal(rig.sent.filter((id) => id === 101).length, 1, 'it was acknowledged')
  t.equal(rig.rig.actor.delivery?.progress.cursor, 112)
})

t.test('random crashes lose nothing and change no order', async (t) => {
  const rig = new CrashRig(t)
  for (let round = 0; round < 60; round++) {
    await rig.write(1 + (round % 4))
    if (round % 2 === 0) await rig.crash()
    await rig.write(round % 3)
    await rig.advance(20_000)
  }
  await rig.advance(400_000)
  const all = Array.from({ length: rig.rig.newest - 100 }, (_, place) => 101 + place)
  t.ok(rig.crashes.length >= 30)
  t.same([...new Set(rig.sent)], all)
  t.ok(rig.sent.every((id, at) => at === 0 || id >= (rig.sent[at - 1] ?? 0)))
  t.equal(rig.saved.at(-1)?.cursor, rig.rig.newest)
})

t.test('five crashes within a minute are too many, until it is set again', async (t) => {
  const rig = new CrashRig(t)
  await rig.giveUp()
  t.equal(rig.state, 'failed')
  t.match(rig.crashes.at(-1), { isGivenUp: true, since: rig.crashes[0]?.at })
  t.ok(rig.rig.actor.hasGivenUp)
  const before = rig.sent.length
  await rig.write()
  await rig.advance(200_000)
  t.equal(rig.sent.length, before)
  const { url, ipAddress, maxConnections, secretToken, certificate } = webhookFacts()
  const target = { url, ipAddress, maxConnections, secretToken, certificate }
  await rig.rig.actor.changeWebhook({ kind: 'set', target, dropTo: undefined })
  await rig.settle()
  t.equal(rig.state, 'delivering')
  t.notOk(rig.rig.actor.hasGivenUp)
  t.equal(rig.sent.at(-1), rig.rig.newest)
})

t.test('it is not left to wait for somebody for ever', async (t) => {
  const rig = new CrashRig(t)
  await rig.giveUp()
  t.equal(rig.state, 'failed')
  // The longest pause, and then the rest that the endpoint had left.
  await rig.advance(300_000 * 1.2 + 60_000)
  t.equal(rig.state, 'delivering')
  t.equal(rig.sent.at(-1), rig.rig.newest)
})

t.test('it goes on with what was known of its endpoint', async (t) => {
  const rig = new CrashRig(t)
  rig.answer = () => ({ ...failure(429), retryAfterMs: 60_000 })
  rig.onNote = boom
  await rig.write()
  t.equal(rig.state, 'crashed')
  rig.onNote = () => undefined
  await rig.advance(1_200)
  t.equal(rig.state, 'resting', 'its time is not over')
  t.same(rig.sent, [101])
})

t.test('a change that fails leaves what was known of the endpoint as it was', async (t) => {
  const rig = new CrashRig(t)
  rig.answer = () => ({ ...failure(429), retryAfterMs: 60_000 })
  await rig.write()
  t.equal(rig.state, 'resting')
  rig.onChange = boom
  await t.rejects(rig.rig.actor.changeWebhook({ kind: 'replay', after: 1 }))
  await rig.settle()
  t.equal(rig.state, 'resting')
  t.same(rig.sent, [101])
})

t.test('an endpoint that cannot be opened is a crash, and opened again after a rest', async (t) => {
  const rig = new CrashRig(t)
  rig.onOpen = boom
  await rig.write()
  t.match(rig.crashes, [{ isGivenUp: false }])
  t.equal(rig.state, 'crashed')
  t.match(rig.rig.logger.errors, [{ apiKeyId: 5, err: { message: 'boom' } }])
  await rig.advance(30_000)
  t.equal(rig.state, 'failed', 'it is not tried at once again and again')
  t.ok(rig.rig.actor.hasGivenUp)
  rig.onOpen = () => undefined
  await rig.advance(300_000 * 1.2 + 1_000)
  t.equal(rig.state, 'delivering')
  t.same(rig.sent, [101])
})

t.test('what was stopped does not begin again because it had crashed', async (t) => {
  const rig = new CrashRig(t)
  rig.answer = () => failure()
  rig.onNote = boom
  rig.write()
  await rig.rig.actor.changeWebhook({ kind: 'delete', dropTo: undefined })
  await rig.advance(10_000)
  t.equal(rig.state, undefined)
})

t.test('nor while its user is suspended', async (t) => {
  const rig = new CrashRig(t)
  rig.answer = () => failure()
  const suspension = { code: 'forbidden', description: 'suspended' } as const
  rig.onNote = () => {
    rig.rig.actor.tell({ type: 'user.suspended', suspension })
    boom()
  }
  await rig.write()
  rig.onNote = () => undefined
  rig.answer = () => ok
  await rig.advance(10_000)
  t.equal(rig.state, undefined)
  t.same(rig.sent, [101])
  rig.rig.actor.tell({ type: 'user.resumed' })
  await rig.advance(10_000)
  t.same(rig.sent, [101, 101])
})

t.test('what was delivered just before a webhook is set again is not repeated', async (t) => {
  const rig = new CrashRig(t)
  await rig.write(2)
  t.equal(rig.rig.actor.snapshot.context.cursor, 100, 'the key itself learns of it later')
  await rig.rig.actor.changeWebhook({ kind: 'set', target: webhookFacts(), dropTo: undefined })
  await rig.write()
  t.same(rig.sent, [101, 102, 103])
})
