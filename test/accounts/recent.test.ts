/** Answers are kept for a few seconds, and never past what was revoked. */
import t from 'tap'
import { Recent } from '../../src/accounts/clock.ts'

t.test('an answer is asked for once in a while', async (t) => {
  let now = 0
  let asked = 0
  const recent = new Recent<string, number>(() => new Date(now))
  const ask = () => recent.get('a', async () => ++asked)
  t.same([await ask(), await ask()], [1, 1])
  now = 5_000
  t.equal(await ask(), 2)
  recent.forget('a')
  t.equal(await ask(), 3)
})

t.test('what is revoked while it is read is not kept', async (t) => {
  const recent = new Recent<string, string>(() => new Date(0))
  for (const revoke of [() => recent.forget('a'), () => recent.forgetAll()]) {
    const read = Promise.withResolvers<string>()
    const asked = recent.get('a', () => read.promise)
    revoke()
    read.resolve('owner')
    t.equal(await asked, 'owner', 'whoever asked before')
    t.equal(await recent.get('a', async () => 'nobody'), 'nobody', 'whoever asks afterwards')
    recent.forgetAll()
  }
})
