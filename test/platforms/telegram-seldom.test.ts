/** What a gap has swallowed is told once of each gap, and not only of the first one. */
import t from 'tap'
import { seldom } from '../../src/platforms/telegram/intake.ts'

t.test('what is true of many is told once, and again later', async (t) => {
  let now = 0
  const told: string[] = []
  const tell = seldom(
    1_000,
    (what: string) => told.push(what),
    () => now,
  )
  for (const what of ['messages', 'changes', 'messages', 'changes']) tell(what)
  t.strictSame(told, ['messages', 'changes'])
  now = 999
  tell('messages')
  t.strictSame(told.length, 2)
  now = 1_000
  tell('messages')
  tell('messages')
  t.strictSame(told, ['messages', 'changes', 'messages'])
})
