/** Methods about the account's own stories. */

import { badRequest } from '../../../machines/model/failure.ts'
import type { Media } from '../../../machines/model/media.ts'
import type { Arguments } from '../arguments.ts'
import { mediaOf, uploadOf } from '../media.ts'
import { type Call, type Method, result } from '../method.ts'
import { businessParameters, captionParameters } from '../sending.ts'
import { storyCaptionOf } from '../text.ts'
import { assertBusiness } from './business.ts'

const HOUR = 3_600
const PERIODS = [6 * HOUR, 12 * HOUR, 24 * HOUR, 48 * HOUR]

const { show_caption_above_media: _, ...caption } = captionParameters

/**
 * The account posts for itself, so that no business connection is needed: `business_connection_id` is left out or
 * empty, and one that is named is not found, as everywhere.
 */
const postStory: Method = {
  name: 'postStory',
  summary: 'Posts a story of the account itself; business_connection_id is left out or empty',
  scope: 'bot:send',
  operation: 'post_story',
  parameters: {
    ...businessParameters,
    content: 'json',
    active_period: 'integer',
    ...caption,
    areas: 'json',
    post_to_chat_page: 'boolean',
    protect_content: 'boolean',
  },
  required: ['content', 'active_period'],
  once: true,
  run: async (call) => {
    const { args, perform } = call
    const [kind, item] = contentOf(call)
    const activeSeconds = args.integer('active_period', { min: 0, max: 2 ** 31 - 1 })
    if (!PERIODS.includes(activeSeconds)) throw badRequest('invalid story active period specified')
    assertNoAreas(call)
    const words = storyCaptionOf(args)
    const media = await fileOf(call, kind, item)
    return result(
      await perform({
        kind: 'post_story',
        media,
        caption: words,
        activeSeconds,
        isKept: args.boolean('post_to_chat_page'),
        isProtected: args.boolean('protect_content'),
      }),
    )
  },
}

const deleteStory: Method = {
  name: 'deleteStory',
  summary: 'Deletes a story of the account; business_connection_id is left out or empty',
  scope: 'bot:send',
  operation: 'delete_story',
  parameters: { ...businessParameters, story_id: 'integer' },
  required: ['story_id'],
  run: async ({ args, perform }) =>
    result(await perform({ kind: 'delete_story', story: args.messageId('story_id') })),
}

type StoryKind = 'photo' | 'video'

/** An InputStoryContent: its file comes along with the call. */
function contentOf({ args }: Call): readonly [kind: StoryKind, item: Arguments] {
  if (!args.has('content')) throw badRequest("story content isn't specified")
  const item = args.members('content', 'story content')
  const kind = (['photo', 'video'] as const).find((known) => known === item.text('type'))
  if (!kind) throw badRequest('invalid story content type specified')
  return [kind, item]
}

/** A video without sound is an animation in other methods. */
function fileOf(call: Call, kind: StoryKind, item: Arguments): Promise<Media> {
  if (!uploadOf(call, item, kind)) throw badRequest(`story ${kind} must be uploaded as a file`)
  const isSilent = kind === 'video' && item.boolean('is_animation')
  return mediaOf(call, isSilent ? 'animation' : kind, kind, item)
}

function assertNoAreas({ args, platform }: Call): void {
  if (!args.has('areas')) return
  const areas = args.list('areas', 'story areas', 'InputStoryArea')
  if (areas.length > 0) throw badRequest(`areas of stories are not supported on ${platform.name}`)
}

const editStory: Method = {
  name: 'editStory',
  summary: 'Replaces the content of a story',
  scope: 'bot:send',
  operation: 'edit_story',
  parameters: {
    ...businessParameters,
    story_id: 'integer',
    content: 'json',
    ...caption,
    areas: 'json',
  },
  required: ['story_id', 'content'],
  run: async (call) => {
    const { args, perform } = call
    const [kind, item] = contentOf(call)
    assertNoAreas(call)
    const words = storyCaptionOf(args)
    const media = await fileOf(call, kind, item)
    const story = args.messageId('story_id')
    return result(await perform({ kind: 'edit_story', story, media, caption: words }))
  },
}

const repostStory: Method = {
  name: 'repostStory',
  summary: 'Posts a story of another business that the same account acts for',
  scope: 'bot:send',
  operation: 'repost_story',
  parameters: {
    ...businessParameters,
    from_chat_id: 'integer',
    from_story_id: 'integer',
    active_period: 'integer',
    post_to_chat_page: 'boolean',
    protect_content: 'boolean',
  },
  required: ['from_chat_id', 'from_story_id', 'active_period'],
  once: true,
  run: async (call) => {
    const { args, perform } = call
    if (!args.has('from_chat_id')) throw badRequest('parameter "from_chat_id" is required')
    assertBusiness(call)
    const activeSeconds = args.integer('active_period', { min: 0, max: 2 ** 31 - 1 })
    if (!PERIODS.includes(activeSeconds)) throw badRequest('invalid story active period specified')
    return result(
      await perform({
        kind: 'repost_story',
        from: args.chat('from_chat_id'),
        story: args.messageId('from_story_id'),
        activeSeconds,
        isKept: args.boolean('post_to_chat_page'),
        isProtected: args.boolean('protect_content'),
      }),
    )
  },
}

export const storyMethods = [postStory, deleteStory, editStory, repostStory]
