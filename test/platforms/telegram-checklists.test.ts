/** Checklists of an account of Telegram: sent, changed, marked by others, and heard. */
import type { tl } from '@mtcute/core'
import t from 'tap'
import { until } from '../support/client.ts'
import { startService } from '../support/service.ts'
import { nativeOfPlace } from '../support/telegram-dc/channel.ts'
import { linkOver } from './telegram/over-http.ts'
import { Stage } from './telegram/stage.ts'

t.test('checklists', async (t) => {
  const stage = await Stage.start(t)
  const { network } = stage
  const service = await startService(t, { platforms: [stage.platform()] })
  const client = await service.client()
  const [person, friend] = [network.person(), network.person()]
  const { key } = await linkOver(client, person)
  const group = network.channel(person, [friend], false)
  network.delivery.send(friend, group, { message: 'hello' })
  const chat_id = Number(nativeOfPlace(group))
  const call = async (method: string, parameters: object) => {
    const { body } = await client.bot(key, method, { chat_id, ...parameters })
    if (!body.ok) throw new Error(`${method}: ${body.description}`)
    return body.result
  }
  let offset = 0
  const heard = (kind: string, has: string) =>
    until(async () => {
      const { body } = await client.bot(key, 'getUpdates', { offset, timeout: 5, limit: 1 })
      const [update] = body.result
      if (!update) return undefined
      offset = update.update_id + 1
      return update[kind]?.[has] && update[kind]
    }, 30_000)
  // Until then the account does not know the group.
  await heard('message', 'text')

  const tasks = [
    { id: 1, text: '<b>Tea</b>', parse_mode: 'HTML' },
    { id: 2, text: 'Cups' },
  ]
  const checklist = { title: 'Buy', tasks, others_can_mark_tasks_as_done: true }
  const shown = {
    title: 'Buy',
    tasks: [
      { id: 1, text: 'Tea', text_entities: [{ type: 'bold', offset: 0, length: 3 }] },
      { id: 2, text: 'Cups', completed_by_user: undefined },
    ],
    others_can_mark_tasks_as_done: true,
    others_can_add_tasks: undefined,
  }
  await t.test('one is sent and changed', async (t) => {
    const sent = await call('sendChecklist', { checklist })
    t.match(sent, { checklist: shown })
    t.match(group.messages.get(sent.message_id), {
      media: { _: 'messageMediaToDo', todo: { othersCanComplete: true, list: [{ id: 1 }, {}] } },
    })
    const { message_id } = sent
    const changed = { title: 'Buy soon', tasks: [...tasks, { id: 3, text: 'Milk' }] }
    t.match(await call('editMessageChecklist', { message_id, checklist: changed }), {
      message_id,
      edit_date: Number,
      checklist: { title: 'Buy soon', tasks: [{}, {}, { id: 3, text: 'Milk' }] },
    })
  })

  await t.test('the account hears what others write, mark and add', async (t) => {
    const withText = (text: string): tl.RawTextWithEntities => ({
      _: 'textWithEntities',
      text,
      entities: [],
    })
    const item = (id: number, text: string): tl.RawTodoItem => ({
      _: 'todoItem',
      id,
      title: withText(text),
    })
    const todo: tl.RawTodoList = {
      _: 'todoList',
      title: withText('Theirs'),
      list: [item(5, 'Sweep'), item(6, 'Mop')],
      othersCanAppend: true,
    }
    const completedBy = { _: 'peerUser', userId: friend.id } as const
    const media: tl.RawMessageMediaToDo = {
      _: 'messageMediaToDo',
      todo,
      completions: [{ _: 'todoCompletion', id: 6, completedBy, date: 1_700_000_000 }],
    }
    const id = network.delivery.send(friend, group, { message: '', media })
    t.match(await heard('message', 'checklist'), {
      checklist: {
        title: 'Theirs',
        others_can_add_tasks: true,
        tasks: [
          { id: 5, text: 'Sweep', completed_by_user: undefined },
          { id: 6, completed_by_user: { id: friend.id }, completion_date: 1_700_000_000 },
        ],
      },
    })
    const replyTo = { _: 'messageReplyHeader', replyToMsgId: id } as const
    const marked = { completed: [5], incompleted: [6] }
    const action = { _: 'messageActionTodoCompletions', ...marked } as const
    network.delivery.announce(friend, group, action, { replyTo })
    t.match(await heard('message', 'checklist_tasks_done'), {
      from: { id: friend.id },
      checklist_tasks_done: {
        checklist_message: { message_id: id },
        marked_as_done_task_ids: [5],
        marked_as_not_done_task_ids: [6],
      },
    })
    const list = [item(7, 'Dust')]
    const adding = { _: 'messageActionTodoAppendTasks', list } as const
    network.delivery.announce(friend, group, adding, { replyTo })
    t.match(await heard('message', 'checklist_tasks_added'), {
      checklist_tasks_added: { tasks: [{ id: 7, text: 'Dust' }] },
    })
  })
})
