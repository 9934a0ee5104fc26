/** /sandbox/…/tasks: a person marks the tasks of a checklist as done, and adds tasks. */
import { Type } from 'typebox'
import { answers, ok } from '../envelope.ts'
import { described, MessageParams, type SandboxRoutes } from './route.ts'
import { Id } from './schemas.ts'

const strict = { additionalProperties: false }
const Ids = Type.Array(Id, { maxItems: 30, default: [] })
const Marks = Type.Object({ done: Ids, undone: Ids }, strict)
const NewTask = Type.Object({ text: Type.String({ minLength: 1, maxLength: 100 }) }, strict)

export const checklistRoutes: SandboxRoutes = async (app, { network }) => {
  app.put(
    '/people/:person/chats/:chat/messages/:message/tasks',
    {
      schema: {
        ...described('Mark tasks of a checklist as done, and others as not done'),
        params: MessageParams,
        body: Marks,
        response: answers(Type.Literal(true)),
      },
    },
    async (request) => {
      const { params, body } = request
      await network(request).actions.markTasks(params.person, params, body)
      return ok(true as const)
    },
  )

  app.post(
    '/people/:person/chats/:chat/messages/:message/tasks',
    {
      schema: {
        ...described('Add a task to a checklist'),
        params: MessageParams,
        body: NewTask,
        response: answers(Type.Literal(true)),
      },
    },
    async (request) => {
      const { params, body } = request
      await network(request).actions.addTask(params.person, params, body.text)
      return ok(true as const)
    },
  )
}
