/** GET /sandbox/people/{person}/stories: the stories that a person sees. */
import { Type } from 'typebox'
import type { SeenStory } from '../../sandbox/stories/stories.ts'
import { answers, ok } from '../envelope.ts'
import { contentBody } from './content.ts'
import { shownContent } from './content-schemas.ts'
import { nameBody } from './present.ts'
import { described, PersonParams, type SandboxRoutes } from './route.ts'
import { PersonName, Time } from './schemas.ts'

const { media, caption, caption_entities } = shownContent

const Story = Type.Object({
  person: PersonName,
  story_id: Type.Integer(),
  media,
  caption,
  caption_entities,
  posted_at: Time,
  expires_at: Time,
  is_kept: Type.Boolean({ description: 'Still shown when its time is over' }),
  has_protected_content: Type.Boolean(),
})

const body = (story: SeenStory) => ({
  person: nameBody(story.person),
  story_id: story.id,
  ...contentBody({ kind: 'media', media: story.media, caption: story.caption }),
  posted_at: story.at.toISOString(),
  expires_at: story.expiresAt.toISOString(),
  is_kept: story.isKept,
  has_protected_content: story.isProtected,
})

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
      return ok(stories.map(body))
    },
  )
}
