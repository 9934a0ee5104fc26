/** The faults of delivery: everything twice, or the chats out of order. Inside one chat the order stays. */
import type { Happening } from '../../../machines/model/happening.ts'
import type { Faults } from '../../sandbox/people/faults.ts'

export function disturbed(happenings: readonly Happening[], faults: Faults): readonly Happening[] {
  const ordered = faults.isReordering ? lastChatFirst(happenings) : happenings
  return faults.isDuplicating ? ordered.flatMap((happening) => [happening, happening]) : ordered
}

function lastChatFirst(happenings: readonly Happening[]): Happening[] {
  const chats = Map.groupBy(happenings, chatOf)
  return [...chats.values()].reverse().flat()
}

function chatOf(happening: Happening): string | undefined {
  if (happening.kind === 'deleted') return happening.chat
  if ('message' in happening) return happening.message.chat.native
  return 'chat' in happening ? happening.chat.native : undefined
}
