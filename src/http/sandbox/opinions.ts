/** /sandbox/people/{person}/…: what a person thinks of a message, and how they vote. */
import { Type } from 'typebox'
import { answers, ok } from '../envelope.ts'
import { pollBody } from './content.ts'
import { PollBody, ReactionBody } from './content-schemas.ts'
import { reactionOf } from './given-content.ts'
import { described, MessageParams, type SandboxRoutes } from './route.ts'

const strict = { additionalProperties: false }

const Reactions = Type.Object({ reactions: Type.Array(ReactionBody, { maxItems: 20 }) }, strict)
const Vote = Type.Object(
  { option_ids: Type.Array(Type.Integer({ minimum: 0, maximum: 1000 }), { maxItems: 100 }) },
  strict,
)

export const opinionRoutes: SandboxRoutes = async (app, { network }) => {
  app.put(
    '/people/:person/chats/:chat/messages/:message/reactions',
    {
      schema: {
        ...described('React to a message; with no reactions, take them back'),
        params: MessageParams,
        body: Reactions,
        response: answers(Type.Literal(true)),
      },
    },
    async (request) => {
      const { params, body } = request
      await network(request).hands.react(params.person, params, body.reactions.map(reactionOf))
      return ok(true as const)
    },
  )

  app.put(
    '/people/:person/chats/:chat/messages/:message/vote',
    {
      schema: {
        ...described('Vote in a poll; with no options, take the vote back'),
        params: MessageParams,
        body: Vote,
        response: answers(PollBody),
      },
    },
    async (request) => {
      const { params, body } = request
      const { hands } = network(request)
      return ok(pollBody(await hands.vote(params.person, params, body.option_ids)))
    },
  )

  app.delete(
    '/people/:person/chats/:chat/messages/:message/vote',
    {
      schema: {
        ...described('End the voting of a poll that this person sent'),
        params: MessageParams,
        response: answers(PollBody),
      },
    },
    async (request) => {
      const { params } = request
      return ok(pollBody(await network(request).hands.stopPoll(params.person, params)))
    },
  )
}
