/** Tells the accounts that act for a business what was written, edited and deleted in its private chats. */
import type { Message } from '../../../machines/model/content.ts'
import type {
  Operation,
  OperationKind,
  OperationResult,
} from '../../../machines/model/operation.ts'
import { privateChatWith } from '../delivery/mapping.ts'
import { notify } from '../delivery/notify.ts'
import { type PersonRow, personJson } from '../delivery/rows.ts'
import type { BusinessLink, Call } from '../network/context.ts'
import { privateChatOf } from './connections.ts'

const WRITING: readonly OperationKind[] = ['send', 'send_album', 'forward', 'copy']
const EDITING: readonly OperationKind[] = ['edit', 'edit_caption', 'edit_buttons', 'edit_location']

const TOLD: ReadonlySet<OperationKind> = new Set([...WRITING, ...EDITING, 'delete'])

/** The account that acted itself, and one that has the chat of its own, learn nothing here. */
export async function reportToBusiness(
  call: Call,
  operation: Operation,
  result: OperationResult,
): Promise<void> {
  if (!TOLD.has(operation.kind) || !('chat' in operation) || operation.chat === undefined) return
  const [sender, other] = [call.by.person, Number(operation.chat)]
  if (!(other > 0)) return
  const links = await call.context.business.of([sender, other])
  for (const link of links) {
    const peer = link.person === sender ? other : sender
    const isOwn = call.business?.connection === link.id
    if (!isOwn && link.account !== peer) await report(call, link, peer, operation, result)
  }
}

async function report(
  { context: { db, wake }, by }: Call,
  { id: connection, person, account }: BusinessLink,
  peer: number,
  operation: Operation,
  result: OperationResult,
): Promise<void> {
  const [row] = await db.query<{ peer: PersonRow }>(
    `select ${personJson('p')} as peer from sandbox_person p where p.id = $1`,
    [peer],
  )
  if (!row) return
  const place = privateChatWith(row.peer)
  const event = { chat: await privateChatOf(db, person, peer), actor: by.person }
  const to = { people: [account] }
  if (operation.kind === 'delete') {
    const facts = { connection, place, messages: [String(operation.message)] }
    return notify({ db, wake }, { ...event, kind: 'business_deleted', facts }, to)
  }
  const kind = EDITING.includes(operation.kind) ? 'business_edited' : 'business_message'
  for (const message of messagesOf(result)) {
    const { replyTo, ...seen } = message
    const letter: Message = {
      ...seen,
      chat: place,
      ...(replyTo && { replyTo: { native: replyTo.native } }),
    }
    await notify({ db, wake }, { ...event, kind, facts: { connection, letter } }, to)
  }
}

function messagesOf(result: OperationResult): readonly Message[] {
  if (result.kind === 'messages') return result.messages
  return result.kind === 'message' ? [result.message] : []
}
