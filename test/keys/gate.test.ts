/** The gate of a bot API key: whoever is let in finds the actor awake when the body of the call has come. */
import t from 'tap'
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
    const from = (address: string) =>
      gate
        .admit(token, address, () => undefined)
        .then(
          () => 'admitted',
          (cause) => cause.failure.code,
        )
    const thief: string[] = []
    for (let call = 0; call < 5; call++) thief.push(await from('198.51.100.7'))
    t.same(thief, ['forbidden', 'forbidden', 'forbidden', 'rate_limited', 'rate_limited'])
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
