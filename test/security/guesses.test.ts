/** Wrong guesses, counted within a minute and within an hour. */
import t from 'tap'
import { Guesses } from '../../src/security/rate-limits.ts'

t.test('each network has so many guesses a minute', async (t) => {
  const guesses = new Guesses({ perMinute: 2, perHour: 100 })
  t.same([guesses.add('a'), guesses.add('a')], [0, 0])
  const wait = guesses.add('a')
  t.ok(wait > 0 && wait <= 60, `${wait}`)
  t.equal(guesses.add('b'), 0)
})

t.test('and so many an hour, counted through the minutes', async (t) => {
  const guesses = new Guesses({ perMinute: 100, perHour: 3 })
  for (const _ of 'abc') t.equal(guesses.add('a'), 0)
  const wait = guesses.add('a')
  t.ok(wait > 60 && wait <= 3_600, `${wait}`)
})
