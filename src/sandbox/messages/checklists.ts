/** Changes that people make to a checklist: they mark tasks as done, and add tasks. All members of the chat are notified. */

import type { Service } from '../../../machines/model/content.ts'
import { badRequest, failed, notFound } from '../../../machines/model/failure.ts'
import type { Person } from '../../../machines/model/person.ts'
import type { Checklist, ChecklistTask } from '../../../machines/model/poll.ts'
import type { Text } from '../../../machines/model/text.ts'
import { type FoundMessage, findMessage, type MessageRef } from '../chats/find-message.ts'
import { withOutbox } from '../chats/transaction.ts'
import { personOf } from '../delivery/mapping.ts'
import type { NetworkContext } from '../network/context.ts'
import { type PersonRow, personJson } from '../network/rows.ts'

const MOST_TASKS = 30
const TASK_LENGTH = 100
/** Another change may come between the read and the write. */
const TRIES = 10

export interface Marks {
  readonly done: readonly number[]
  readonly undone: readonly number[]
}

interface Changed {
  readonly checklist: Checklist
  readonly fact: Service
}

/** `done` and `undone` are the ids of tasks. */
export async function markTasks(
  context: NetworkContext,
  person: number,
  ref: MessageRef,
  { done, undone }: Marks,
): Promise<void> {
  const [row] = await context.db.query<{ person: PersonRow }>(
    `select ${personJson('p')} as person from sandbox_person p where p.id = $1`,
    [person],
  )
  if (!row) throw failed('not_found', '')
  const by = personOf(row.person)
  await change(context, person, ref, 'othersMayMark', (checklist) => {
    const known = checklist.tasks.map(({ id }) => id)
    if (![...done, ...undone].every((id) => known.includes(id))) throw notFound('task')
    const at = Math.floor(context.now() / 1000)
    const tasks = checklist.tasks.map((task) => marked(task, { done, undone }, { by, at }))
    const message = String(ref.message)
    return {
      checklist: { ...checklist, tasks },
      fact: { fact: 'tasks_done', message, done, undone },
    }
  })
}

function marked(
  task: ChecklistTask,
  { done, undone }: Marks,
  { by, at }: { readonly by: Person; readonly at: number },
): ChecklistTask {
  if (done.includes(task.id)) return { ...task, doneBy: by, doneAt: at }
  if (!undone.includes(task.id)) return task
  const { doneBy: _, doneAt: __, ...open } = task
  return open
}

export async function addTask(
  context: NetworkContext,
  person: number,
  ref: MessageRef,
  text: Text,
): Promise<void> {
  if (text.text.trim() === '' || [...text.text].length > TASK_LENGTH) {
    throw badRequest('the text of a task has 1 to 100 characters')
  }
  await change(context, person, ref, 'othersMayAdd', (checklist) => {
    if (checklist.tasks.length >= MOST_TASKS) throw badRequest('the checklist has too many tasks')
    const task = { id: Math.max(...checklist.tasks.map(({ id }) => id)) + 1, text }
    return {
      checklist: { ...checklist, tasks: [...checklist.tasks, task] },
      fact: { fact: 'tasks_added', message: String(ref.message), tasks: [task] },
    }
  })
}

/** Changes the checklist of a message and tells the chat, both or neither. */
async function change(
  context: NetworkContext,
  person: number,
  ref: MessageRef,
  needs: 'othersMayMark' | 'othersMayAdd',
  changed: (checklist: Checklist) => Changed,
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const found = await findMessage(context.db, person, ref)
    if (found?.content.kind !== 'checklist') throw notFound('checklist')
    const { checklist: before } = found.content
    if (found.sender !== person && !before[needs]) throw badRequest('not enough rights')
    const { checklist, fact } = changed(before)
    if (await stored(context, person, ref, found, { checklist, fact })) return
  }
  throw failed('unavailable', 'the checklist is changed by too many at once', {
    retryAfterSeconds: 1,
  })
}

/** False where another change came first. */
function stored(
  context: NetworkContext,
  person: number,
  ref: MessageRef,
  found: FoundMessage,
  { checklist, fact }: Changed,
): Promise<boolean> {
  return withOutbox(context, async (tx, outbox) => {
    const rows = await tx.query(
      `update sandbox_message set content = $4, version = version + 1
       where chat_id = $1 and id = $2 and version = $3 and deleted_at is null returning 1`,
      [found.chat, found.id, found.version, JSON.stringify({ kind: 'checklist', checklist })],
    )
    if (rows.length === 0) return false
    await outbox.send({
      sender: person,
      native: ref.chat,
      request: crypto.randomUUID(),
      content: { kind: 'service', ...fact },
    })
    return true
  })
}
