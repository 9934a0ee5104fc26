/** Carries out what an account does with a room it is in. */
import { failed } from '../../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../../machines/model/operation.ts'
import type { Places } from '../places.ts'
import type { Moderating } from './moderation.ts'

type RoomOperation = Extract<
  Operation,
  {
    kind:
      | 'leave'
      | 'count_members'
      | 'administrators'
      | 'member'
      | 'set_title'
      | 'set_description'
      | Moderating['kind']
  }
>

export async function performInRoom(
  operation: RoomOperation,
  places: Places,
  signal: AbortSignal,
): Promise<OperationResult> {
  if (operation.kind === 'leave') {
    await places.leave(operation.chat, signal)
    return { kind: 'done' }
  }
  const { room } = await places.at(operation.chat, signal)
  if (!room) throw failed('bad_request', 'chat not found')
  switch (operation.kind) {
    case 'count_members':
      return { kind: 'number', number: room.memberCount }
    case 'administrators':
      return { kind: 'members', members: await room.members.administrators(signal) }
    case 'member':
      return { kind: 'member', member: await room.members.member(operation.person, signal) }
    case 'set_title':
      await room.set('title', operation.title, signal)
      return { kind: 'done' }
    case 'set_description':
      await room.set('description', operation.description, signal)
      return { kind: 'done' }
    default:
      await room.moderation.carryOut(operation, signal)
      return { kind: 'done' }
  }
}
