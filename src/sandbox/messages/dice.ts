/** What is thrown: each emoji has as many sides as the reference says. */
import { randomInt } from 'node:crypto'
import { failed } from '../../../machines/model/failure.ts'

const SIDES: Readonly<Record<string, number>> = {
  '🎲': 6,
  '🎯': 6,
  '🎳': 6,
  '🏀': 5,
  '⚽': 5,
  '🎰': 64,
}

export function thrown(emoji: string): number {
  const sides = SIDES[emoji]
  if (sides === undefined) throw failed('bad_request', 'wrong dice emoji specified')
  return randomInt(1, sides + 1)
}
