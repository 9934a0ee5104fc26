/** The faults of delivery: everything twice, or the chats out of order. Inside one chat the order stays. */
import type { Happening } from '../../../machines/happening.ts'
import type { Faults } from './faults.ts'

export function disturbed(happenings: readonly Happening[], faults: Faults): readonly Happening[] {
  const ordered = faults.isReordering ? lastChatFirst(happenings) : happenings
  return faults.isDuplicating ? ordered.flatMap((happening) => [happening, happening]) : ordered
}

function lastChatFirst(happenings: readonly Happening[]): Happening[] {
  const chats = Map.groupBy(happenings, (happening) =>
    happening.kind === 'deleted' ? happening.chat : happening.message.chat.native,
  )
  return [...chats.values()].reverse().flat()
}
