/** Checklists: sent and changed by a bot, marked and extended by people, and everybody is told. */
import t from 'tap'
import { until } from '../support/client.ts'
import { refused, scene } from './scene.ts'

const { client, bot, ada, key } = await scene(t)
const kim = await client.person('Kim')
const group = { kind: 'supergroup', title: 'Group', owner: kim.id, members: [bot.id, ada.id] }
const { id: chat_id } = await client.result('POST', '/sandbox/chats', group)
const call = (method: string, body: object) => client.bot(key, method, { chat_id, ...body })
const done = async (method: string, body: object) => {
  const { body: answer } = await call(method, body)
  if (!answer.ok) throw new Error(JSON.stringify(answer))
  return answer.result
}
const bad = (description: string) => refused(400, `Bad Request: ${description}`)
const tasks = [
  { id: 1, text: 'tea' },
  { id: 2, text: '<b>cake</b>', parse_mode: 'HTML' },
]
const shared = { others_can_mark_tasks_as_done: true, others_can_add_tasks: true }
const update = (name: string) =>
  until(async () => {
    const { body } = await client.bot(key, 'getUpdates', { offset: -1 })
    return body.result.find(({ message }: { message?: object }) => message && name in message)
      ?.message
  })
const at = (person: { id: number }, message: number) =>
  `/sandbox/people/${person.id}/chats/${chat_id}/messages/${message}/tasks`

t.test('people mark tasks and add some, and the bot is told', async (t) => {
  const sent = await done('sendChecklist', { checklist: { title: 'Buy', tasks, ...shared } })
  const bold = [{ type: 'bold', offset: 0, length: 4 }]
  t.match(sent.checklist, {
    title: 'Buy',
    tasks: [
      { id: 1, text: 'tea' },
      { id: 2, text: 'cake', text_entities: bold },
    ],
    ...shared,
  })
  const { message_id } = sent
  await client.result('PUT', at(ada, message_id), { done: [2] })
  t.match(await update('checklist_tasks_done'), {
    from: { id: ada.id },
    checklist_tasks_done: {
      checklist_message: { message_id },
      marked_as_done_task_ids: [2],
      marked_as_not_done_task_ids: undefined,
    },
  })
  await client.result('POST', at(kim, message_id), { text: 'milk' })
  t.match(await update('checklist_tasks_added'), {
    checklist_tasks_added: { checklist_message: { message_id }, tasks: [{ id: 3, text: 'milk' }] },
  })
  const { messages } = await client.result('GET', `/sandbox/people/${ada.id}/inbox`)
  t.match(messages.at(-1), {
    checklist: {
      title: 'Buy',
      tasks: [{ id: 1 }, { id: 2, done_by: { id: ada.id } }, { id: 3, text: 'milk' }],
    },
  })
  const checklist = { title: 'Bought', tasks: [{ id: 2, text: 'cake' }] }
  const edited = await done('editMessageChecklist', { message_id, checklist })
  t.match(edited.checklist, {
    title: 'Bought',
    tasks: [{ id: 2, completed_by_user: { id: ada.id }, completion_date: Number }],
  })
  t.notOk(edited.checklist.others_can_add_tasks)
})

t.test('a list of its author alone is left alone by others', async (t) => {
  const { message_id } = await done('sendChecklist', { checklist: { title: 'Mine', tasks } })
  const text = (await done('sendMessage', { text: 'x' })).message_id
  for (const [method, message, body, description] of [
    ['PUT', message_id, { done: [1] }, 'not enough rights'],
    ['POST', message_id, { text: 'x' }, 'not enough rights'],
    ['PUT', text, { done: [1] }, 'checklist not found'],
  ] as const) {
    t.match(await client.ask(method, at(ada, message), body), {
      status: 400,
      body: { description: new RegExp(`^Bad Request: ${description}$`) },
    })
  }
  const unknown = { code: 'task_not_found', description: 'Bad Request: task not found' }
  const open = { title: 'Ours', tasks, others_can_mark_tasks_as_done: true }
  const ours = (await done('sendChecklist', { checklist: open })).message_id
  t.match(await client.ask('PUT', at(ada, ours), { done: [99] }), { status: 400, body: unknown })
  const gone = { code: 'checklist_not_found' }
  t.match(await client.ask('PUT', at(ada, text), { done: [1] }), { status: 400, body: gone })
  t.match((await client.ask('PUT', at(ada, message_id), { done: 'all' })).status, 400)
  t.match((await client.ask('POST', at(ada, message_id), { text: '' })).status, 400)
  const { status } = await fetch(`${client.url}${at(ada, message_id)}`, { method: 'POST' })
  t.equal(status, 401)
  const other = { message_id: text, checklist: { title: 'x', tasks } }
  t.match(
    await call('editMessageChecklist', other),
    bad('there is no checklist in the message to edit'),
  )
})

t.test('what is no checklist is refused', async (t) => {
  const wrong = [
    [undefined, 'parameter "checklist" is required'],
    ['x', "can't parse InputChecklist JSON object"],
    [{ title: 'x' }, 'expected an Array of InputChecklistTask'],
    [{ title: 'x', tasks: [] }, 'a checklist needs at least one task'],
    [{ title: '', tasks }, 'the title of the checklist is empty'],
    [{ title: 'x'.repeat(256), tasks }, 'the title of the checklist is too long'],
    [{ title: 'x', tasks: [{ id: 0, text: 'x' }] }, 'the identifier of a task must be positive'],
    [{ title: 'x', tasks: [{ id: 1, text: '' }] }, 'the text of a task is empty'],
    [
      { title: 'x', tasks: [tasks[0], tasks[0]] },
      'two tasks of the checklist have the same identifier',
    ],
    [
      { title: 'x', tasks: Array.from({ length: 31 }, (_, at) => ({ id: at + 1, text: 'x' })) },
      'the checklist has too many tasks',
    ],
  ] as const
  for (const [checklist, why] of wrong) {
    t.match(await call('sendChecklist', { checklist }), bad(why))
  }
})
