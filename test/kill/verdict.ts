/** Judges what was delivered by what was acknowledged. */
import type { Delivered } from './consumer.ts'

export interface AccountHistory {
  readonly name: string
  readonly acknowledged: readonly string[]
  readonly delivered: ReadonlyMap<number, Delivered>
}

export interface Verdict {
  /** Acknowledged and never delivered. */
  readonly lost: number
  /** Everything else that must not be. */
  readonly violations: readonly string[]
}

export function judge(histories: readonly AccountHistory[]): Verdict {
  const verdicts = histories.map(judgeOne)
  return {
    lost: verdicts.reduce((sum, { lost }) => sum + lost, 0),
    violations: verdicts.flatMap(({ violations }) => violations),
  }
}

function judgeOne({ name, acknowledged, delivered }: AccountHistory): Verdict {
  const violations: string[] = []
  const seen = new Set<string>()
  const chats = new Map<string, { place: number; messageId: number; chatId: number }>()
  let before: number | undefined
  for (const [id, { text, chatId, messageId }] of [...delivered].sort(([a], [b]) => a - b)) {
    if (before !== undefined && id !== before + 1) violations.push(`${name}: ids jump to ${id}`)
    before = id
    if (seen.has(text)) violations.push(`${name}: ${text} has two update ids`)
    seen.add(text)
    const [chat = '', place] = text.split(':')
    const last = chats.get(chat) ?? { place: 0, messageId: 0, chatId }
    if (Number(place) <= last.place) violations.push(`${name}: ${text} after ${last.place}`)
    if (messageId <= last.messageId) violations.push(`${name}: ${text} is message ${messageId}`)
    if (chatId !== last.chatId) violations.push(`${name}: ${chat} has two chat ids`)
    chats.set(chat, { place: Number(place), messageId, chatId })
  }
  return { lost: acknowledged.filter((text) => !seen.has(text)).length, violations }
}
