/** What was skipped in a gap is reported once for each gap, not only for the first one. */
import t from 'tap'
import { throttled } from '../../src/platforms/telegram/intake.ts'

t.test('what is true of many is told once, and again later', async (t) => {
  let now = 0
  const told: string[] = []
  const tell = throttled(
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
