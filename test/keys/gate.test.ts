/** The gate of a bot API key: whoever is let in finds the actor awake when the body of the call has come. */
import t, { type Test } from 'tap'
import { failed } from '../../machines/model/failure.ts'
import { KeyGate, secretMatches } from '../../src/keys/gate.ts'
import { formatApiKey, hashSecret, newApiKeySecret } from '../../src/security/secrets.ts'
import { ApiKeyRig } from '../actors/api-key/rig.ts'

t.test('a key that was about to sleep stays awake for the call that it lets in', async (t) => {
  const secret = newApiKeySecret()
  const hash = hashSecret(secret).toString('base64')
  const { actor, clock } = new ApiKeyRig(t, { secrets: [{ hash, until: undefined }] })
  const gate = new KeyGate(
    { peek: () => actor, find: async () => actor },
    { load: async () => undefined, noteUse: () => undefined },
    () => clock.now(),
  )
  await clock.advance(300_000)
  t.ok(actor.isIdle(300_000))
  const admit = (token: string) => gate.admit(token, '127.0.0.1', () => undefined)
  const refusal = await admit(formatApiKey({ id: 100_000, secret: newApiKeySecret() })).catch(
    (cause) => cause,
  )
  t.match(refusal, { failure: { code: 'unauthorized' } })
  t.ok(actor.isIdle(300_000), 'a wrong secret does not count')
  t.equal(await admit(formatApiKey({ id: 100_000, secret })), actor)
  t.notOk(actor.isIdle(300_000))
})

t.test(
  'calls from a wrong address have a rate of their own, beside that of the owner',
  async (t) => {
    const secret = newApiKeySecret()
    const hash = hashSecret(secret).toString('base64')
    const opensFrom = (address: string) => address === '192.0.2.1'
    const { actor, clock } = new ApiKeyRig(t, { secrets: [{ hash, until: undefined }], opensFrom })
    const gate = new KeyGate(
      { peek: () => actor, find: async () => actor },
      { load: async () => undefined, noteUse: () => undefined },
      () => clock.now(),
      undefined,
      { perSecond: 1, burst: 3 },
    )
    const token = formatApiKey({ id: 100_000, secret })
    let opened = 0
    const from = (address: string) =>
      gate
        .admit(token, address, () => opened++)
        .then(
          () => 'admitted',
          (cause) => cause.failure.code,
        )
    const thief: string[] = []
    for (let call = 0; call < 5; call++) thief.push(await from('198.51.100.7'))
    t.same(thief, ['forbidden', 'forbidden', 'forbidden', 'rate_limited', 'rate_limited'])
    t.equal(opened, 5, 'the owner sees each')
    t.equal(await from('192.0.2.1'), 'admitted')
  },
)

t.test(
  'a secret opens what it was made for until its time, and nothing that is not there',
  async (t) => {
    const secret = newApiKeySecret()
    const facts = { secrets: [{ hash: hashSecret(secret).toString('base64'), until: 1_000 }] }
    t.equal(secretMatches(facts, secret, 999), true)
    t.equal(secretMatches(facts, secret, 1_000), false)
    t.equal(secretMatches(facts, newApiKeySecret(), 999), false)
    const next = { hash: hashSecret(newApiKeySecret()).toString('base64'), until: undefined }
    t.equal(secretMatches({ secrets: [next, ...facts.secrets] }, secret, 0), true)
    t.equal(secretMatches({ secrets: [] }, secret, 0), false)
    t.equal(secretMatches(undefined, secret, 0), false)
  },
)

const token = (secret: string) => formatApiKey({ id: 100_000, secret })
const codeOf = (cause: unknown) => (cause as { failure?: { code: string } }).failure?.code ?? cause

/** A gate before one key that sleeps: it is stored, and `find` wakes it. */
function sleeping(t: Test, rates = { perSecond: 1, burst: 2 }) {
  const secret = newApiKeySecret()
  const hash = hashSecret(secret).toString('base64')
  const rig = new ApiKeyRig(t, { secrets: [{ hash, until: undefined }] })
  const state = {
    isStored: true,
    failure: undefined as unknown,
    loads: 0,
    woken: 0,
    used: 0,
    opened: 0,
  }
  const gate = new KeyGate(
    {
      peek: () => undefined,
      async find() {
        state.woken++
        if (state.failure) throw state.failure
        return rig.actor
      },
    },
    {
      async load() {
        state.loads++
        return state.isStored ? rig.actor.facts : undefined
      },
      noteUse: () => state.used++,
    },
    () => rig.clock.now(),
    undefined,
    rates,
  )
  const admit = (text = token(secret), units = 1) =>
    gate.admit(text, '192.0.2.1', () => state.opened++, units).then(() => 'admitted', codeOf)
  return { ...rig, actor: rig.actor, gate, state, admit, secret }
}

t.test('only a right secret wakes a key, is told to its owner and counts as its use', async (t) => {
  const { state, admit } = sleeping(t)
  t.equal(await admit(token(newApiKeySecret())), 'unauthorized')
  t.match(state, { woken: 0, opened: 0, used: 0 })
  t.equal(await admit(), 'admitted')
  t.match(state, { woken: 1, opened: 1, used: 1 })
})

t.test('a key that cannot be woken is told to its owner unless it is gone', async (t) => {
  const { state, admit } = sleeping(t)
  state.failure = failed('not_found')
  t.equal(await admit(), 'unauthorized')
  t.equal(state.opened, 0, 'nobody owns it')
  state.failure = failed('forbidden')
  t.equal(await admit(), 'forbidden')
  t.equal(state.opened, 1)
  const crash = new Error('crash')
  state.failure = crash
  t.equal(await admit(), crash)
  t.equal(state.used, 0)
})

t.test(
  'calls count for their units, what they owe included, and refused ones are no use',
  async (t) => {
    const { gate, state, admit, clock } = sleeping(t)
    t.equal(await admit(undefined, 2), 'admitted')
    t.equal(await admit(), 'rate_limited')
    t.equal(state.used, 1)
    t.equal(state.opened, 2, 'its owner sees who asks too often')
    await clock.advance(2_000)
    gate.owe(100_000, 2)
    t.equal(await admit(), 'rate_limited')
    await clock.advance(1_000)
    gate.owe(100_000, 0)
    t.equal(await admit(), 'admitted')
  },
)

t.test('a key that is unknown is looked up once until it is made here', async (t) => {
  const { gate, state, admit } = sleeping(t)
  state.isStored = false
  t.equal(await admit(), 'unauthorized')
  t.equal(await admit(), 'unauthorized')
  t.equal(state.loads, 1)
  state.isStored = true
  t.equal(await admit(), 'unauthorized', 'for a few seconds')
  gate.forget(100_000)
  t.equal(await admit(), 'admitted')
})
