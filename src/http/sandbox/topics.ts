/** /sandbox/…/topics: the topics of a forum, and what a person does with them. */
import { Type } from 'typebox'
import { failed } from '../../../machines/model/failure.ts'
import { answers, Done, done, ok } from '../envelope.ts'
import { lookBody, present } from './present.ts'
import { Topic } from './profile-schemas.ts'
import { ChatParams, described, type SandboxRoutes } from './route.ts'
import { ChatId, Id } from './schemas.ts'

const strict = { additionalProperties: false }
const Name = Type.String({ minLength: 1, maxLength: 128 })
const Icon = Type.String({ pattern: '^\\d{1,19}$' })

const NewTopic = Type.Object(
  {
    name: Name,
    icon_color: Type.Optional(Type.Integer({ minimum: 0, maximum: 0xffffff })),
    icon_custom_emoji_id: Type.Optional(Icon),
  },
  strict,
)

const TopicChange = Type.Object(
  {
    name: Type.Optional(Name),
    icon_custom_emoji_id: Type.Optional(
      Type.String({ pattern: '^\\d{0,19}$', description: 'Empty: without an icon' }),
    ),
    is_closed: Type.Optional(Type.Boolean()),
  },
  strict,
)

const TopicParams = Type.Object({ person: Id, chat: ChatId, topic: Id })

export const topicRoutes: SandboxRoutes = async (app, { network }) => {
  app.get(
    '/chats/:chat/topics',
    {
      schema: {
        ...described('The topics of a forum, the oldest first'),
        params: Type.Object({ chat: ChatId }),
        response: answers(Type.Array(Topic)),
      },
    },
    async (request) =>
      ok(
        (await network(request).topics(request.params.chat)).map(
          ({ native, isClosed, ...look }) => ({
            message_thread_id: Number(native),
            ...lookBody(look),
            is_closed: isClosed,
          }),
        ),
      ),
  )

  app.post(
    '/people/:person/chats/:chat/topics',
    {
      schema: {
        ...described('Begin a topic in a forum'),
        params: ChatParams,
        body: NewTopic,
        response: answers(Topic),
      },
    },
    async (request) => {
      const { params, body } = request
      const { name, icon_color, icon_custom_emoji_id } = body
      const { actions } = network(request)
      const look = { name, ...present({ iconColor: icon_color, icon: icon_custom_emoji_id }) }
      const { native, ...shown } = await actions.createTopic(params.person, params.chat, look)
      return ok({ message_thread_id: Number(native), ...lookBody(shown), is_closed: false })
    },
  )
}

export const topicChangeRoutes: SandboxRoutes = async (app, { network }) => {
  app.patch(
    '/people/:person/chats/:chat/topics/:topic',
    {
      schema: {
        ...described('Change how a topic looks, or close it and open it again'),
        params: TopicParams,
        body: TopicChange,
        response: answers(Done),
      },
    },
    async (request) => {
      const { params, body } = request
      const { name, icon_custom_emoji_id: icon, is_closed: closes } = body
      const place = { chat: String(params.chat), topic: String(params.topic) }
      const isEdited = name !== undefined || icon !== undefined
      if (isEdited === (closes !== undefined)) {
        throw failed('bad_request', 'a topic is edited, closed or opened: one at a time')
      }
      await network(request).actions.changeTopic(
        params.person,
        isEdited
          ? { kind: 'edit_topic', ...place, ...present({ name, icon }) }
          : { kind: closes ? 'close_topic' : 'reopen_topic', ...place },
      )
      return done
    },
  )

  app.delete(
    '/people/:person/chats/:chat/topics/:topic',
    {
      schema: {
        ...described('Delete a topic with all its messages'),
        params: TopicParams,
        response: answers(Done),
      },
    },
    async (request) => {
      const { person, chat, topic } = request.params
      const place = { chat: String(chat), topic: String(topic) }
      await network(request).actions.changeTopic(person, { kind: 'delete_topic', ...place })
      return done
    },
  )
}
