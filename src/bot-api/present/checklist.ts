/** Checklists in the reference's JSON. */
import type { Checklist, ChecklistTask } from '../../../machines/model/checklist.ts'
import { type Names, present, userJson } from './chat.ts'
import { markedJson } from './content.ts'

export const taskJson = ({ id, text, doneBy, doneAt }: ChecklistTask, ids: Names) => ({
  id,
  text: text.text,
  ...markedJson('text_entities', text, ids),
  ...present({
    completed_by_user: doneBy && userJson(doneBy, ids),
    completion_date: doneAt,
  }),
})

export const checklistJson = (checklist: Checklist, ids: Names) => ({
  title: checklist.title.text,
  ...markedJson('title_entities', checklist.title, ids),
  tasks: checklist.tasks.map((task) => taskJson(task, ids)),
  ...(checklist.othersMayAdd && { others_can_add_tasks: true }),
  ...(checklist.othersMayMark && { others_can_mark_tasks_as_done: true }),
})
