/** Methods that send and change checklists. */
import type { Checklist, ChecklistTask } from '../../../machines/model/checklist.ts'
import type { Content } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import { Arguments } from '../arguments.ts'
import { type Method, result } from '../method.ts'
import { changing, edit, send, sending } from '../sending.ts'
import { taskTextOf, titleOf } from '../text.ts'

const MOST_TASKS = 30
const TITLE_LENGTH = 255
const TASK_LENGTH = 100

const bad = (description: string) => failed('bad_request', description)

const objectOf = (value: unknown, what: string): object => {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw bad(`can't parse ${what} JSON object`)
}

function checklistOf(args: Arguments): Content {
  const given = objectOf(args.json('checklist'), 'checklist')
  const { tasks } = given as { tasks?: unknown }
  if (!Array.isArray(tasks)) throw bad('expected an Array of InputChecklistTask')
  if (tasks.length === 0) throw bad('a checklist needs at least one task')
  if (tasks.length > MOST_TASKS) throw bad('the checklist has too many tasks')
  const read = Arguments.from(given)
  const title = titleOf(read)
  if (title.text === '') throw bad('the title of the checklist is empty')
  if ([...title.text].length > TITLE_LENGTH) throw bad('the title of the checklist is too long')
  const checklist: Checklist = {
    title,
    tasks: tasks.map(taskOf),
    ...(read.boolean('others_can_add_tasks') && { othersMayAdd: true }),
    ...(read.boolean('others_can_mark_tasks_as_done') && { othersMayMark: true }),
  }
  const ids = new Set(checklist.tasks.map(({ id }) => id))
  if (ids.size < tasks.length) throw bad('two tasks of the checklist have the same identifier')
  return { kind: 'checklist', checklist }
}

function taskOf(value: unknown): ChecklistTask {
  const given = objectOf(value, 'checklist task')
  const { id } = given as { id?: unknown }
  if (typeof id !== 'number' || !Number.isInteger(id) || id < 1 || id >= 2 ** 31) {
    throw bad('the identifier of a task must be positive')
  }
  const text = taskTextOf(Arguments.from(given))
  if (text.text === '') throw bad('the text of a task is empty')
  if ([...text.text].length > TASK_LENGTH) throw bad('the text of a task is too long')
  return { id, text }
}

const sendChecklist: Method = {
  name: 'sendChecklist',
  summary: 'Sends a list of tasks, which people mark as done',
  scope: 'bot:send',
  operation: 'send',
  content: 'checklist',
  sends: true,
  parameters: { ...sending, checklist: 'json' },
  required: ['chat_id', 'checklist'],
  run: async (call) => result(await send(call, checklistOf(call.args))),
}

const editMessageChecklist: Method = {
  name: 'editMessageChecklist',
  summary: 'Changes the tasks of a checklist; those that stay keep who did them',
  scope: 'bot:send',
  operation: 'edit',
  content: 'checklist',
  parameters: { ...changing, checklist: 'json' },
  required: ['chat_id', 'message_id', 'checklist'],
  run: async (call) =>
    result(await edit(call, () => ({ kind: 'edit', content: checklistOf(call.args) }))),
}

export const checklistMethods = [sendChecklist, editMessageChecklist]
