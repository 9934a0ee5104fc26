/** /sandbox/people/{person}/inbox and /stories: what a person sees, the one-time codes included. */

import { hash } from 'node:crypto'
import { type Static, Type } from 'typebox'
import type { Reaction } from '../../../machines/model/content.ts'
import { personOf } from '../../sandbox/delivery/mapping.ts'
import type { ShownKeyboard } from '../../sandbox/messages/reply-keyboards.ts'
import type { Received } from '../../sandbox/people/inbox.ts'
import type { Network } from '../../sandbox/sandbox.ts'
import type { SeenStory } from '../../sandbox/stories/stories.ts'
import { answers, ok } from '../envelope.ts'
import { replyKeyboardJson } from './keyboard-schemas.ts'
import { chatBody, contentBody, entityBody, messageBody, nameBody } from './present.ts'
import { Story } from './profile-schemas.ts'
import { deadline, described, PersonParams, type SandboxRoutes } from './route.ts'
import { ChatId, Inbox, type ReactionBody } from './schemas.ts'

const receivedBody = (received: Received) => ({
  ...messageBody(received),
  ...(received.isPinned && { is_pinned: true }),
  ...(received.keyboard && { keyboard: replyKeyboardJson(received.keyboard) }),
  ...(received.reactions.length > 0 && {
    reactions: received.reactions.flatMap(({ person, reactions }) =>
      reactions.map((reaction) => ({
        person: nameBody(personOf(person)),
        ...reactionBody(reaction),
      })),
    ),
  }),
})

const shownKeyboardBody = ({ chat, person, message, keyboard, isUsed }: ShownKeyboard) => ({
  chat: chatBody(chat),
  person: nameBody(personOf(person)),
  message_id: message,
  ...replyKeyboardJson(keyboard),
  used: isUsed,
})

const reactionBody = (reaction: Reaction): Static<typeof ReactionBody> =>
  'emoji' in reaction ? { emoji: reaction.emoji } : { custom_emoji_id: reaction.customEmojiId }

const storyBody = (story: SeenStory) => ({
  person: nameBody(story.person),
  story_id: story.id,
  ...contentBody({ kind: 'media', media: story.media, caption: story.caption }),
  posted_at: story.at.toISOString(),
  expires_at: story.expiresAt.toISOString(),
  is_kept: story.isKept,
  has_protected_content: story.isProtected,
})

export const inboxRoutes: SandboxRoutes = async (app, { network }) => {
  app.get(
    '/people/:person/inbox',
    {
      schema: {
        ...described('Messages, newest first, in one chat or all; can wait for one'),
        params: PersonParams,
        querystring: Type.Object({
          chat: Type.Optional(ChatId),
          after: Type.Integer({
            minimum: 0,
            default: 0,
            description: 'With `chat`: only messages with a greater id',
          }),
          limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
          wait_seconds: Type.Number({ minimum: 0, maximum: 50, default: 0 }),
          known: Type.Optional(
            Type.String({
              maxLength: 64,
              description: 'The tag of an earlier answer: waits for any change, not for a message',
            }),
          ),
        }),
        response: answers(Inbox),
      },
    },
    async (request) => {
      const { query, signal } = request
      const { person } = request.params
      const { people, inboxes } = network(request)
      await people.get(person)
      const { chat, after, limit, wait_seconds, known } = query
      const wanted = { limit, ...(chat !== undefined && { chat, after }) }
      const over = deadline(wait_seconds, signal)
      if (known === undefined) {
        const messages = await inboxes.awaitMessages(person, wanted, over)
        return ok(await inboxBody(inboxes, person, messages))
      }
      return ok(
        await inboxes.awaitChange(
          async () => inboxBody(inboxes, person, await inboxes.messages(person, wanted)),
          ({ tag }) => tag !== known,
          over,
        ),
      )
    },
  )
}

export const storyRoutes: SandboxRoutes = async (app, { network }) => {
  app.get(
    '/people/:person/stories',
    {
      schema: {
        ...described(
          'Stories, newest first: for their time those of whom this person has talked to, and all of their own',
        ),
        params: PersonParams,
        querystring: Type.Object({
          limit: Type.Integer({ minimum: 1, maximum: 1000, default: 100 }),
        }),
        response: answers(Type.Array(Story)),
      },
    },
    async (request) => {
      const { params, query } = request
      const stories = await network(request).people.stories(params.person, query.limit)
      return ok(stories.map(storyBody))
    },
  )
}

async function inboxBody(
  inboxes: Network['inboxes'],
  person: number,
  messages: readonly Received[],
) {
  const [ephemeral, typing, drafts, keyboards, codes] = await Promise.all([
    inboxes.ephemeral(person),
    inboxes.typing(person),
    inboxes.drafts(person),
    inboxes.keyboards(person),
    inboxes.codes(person),
  ])
  const seen = {
    messages: messages.map(receivedBody),
    ephemeral: ephemeral.map(messageBody),
    typing: typing.map((shown) => ({
      chat: chatBody(shown.chat),
      person: nameBody(personOf(shown.person)),
      action: shown.action,
      ...(shown.topic !== null && { message_thread_id: shown.topic }),
    })),
    drafts: drafts.map(({ chat, person, draft, text, can_stop }) => ({
      chat: chatBody(chat),
      person: nameBody(personOf(person)),
      draft_id: draft,
      text: text.text,
      ...(text.entities.length > 0 && { entities: text.entities.map(entityBody) }),
      can_stop,
    })),
    keyboards: keyboards.map(shownKeyboardBody),
    codes: codes.map(({ code, sent_at, expires_at }) => ({
      code,
      sent_at: sent_at.toISOString(),
      expires_at: expires_at.toISOString(),
    })),
  }
  return { tag: hash('sha256', JSON.stringify(seen), 'base64url'), ...seen }
}
