/** The account's own stories: posted for everybody, and deleted. */
import type { tl } from '@mtcute/node'
import type { Handlers } from '../../../../actors/ports/handlers.ts'
import { failed } from '../../../../machines/model/failure.ts'
import { chatOf } from '../reading/peers.ts'
import { inputMediaOf } from '../writing/media.ts'
import { type Context, done, looking, randomId, writtenText } from './context.ts'
import { isRepeated } from './repeated.ts'

const self: tl.RawInputPeerSelf = { _: 'inputPeerSelf' }

export const stories: Handlers<Context> = {
  async post_story(context, operation) {
    const { caption, activeSeconds, isKept, isProtected } = operation
    const { calls, signal, requestId } = context
    const { media } = await inputMediaOf(context, { ...operation, kind: 'media' })
    const entities = await writtenText(context, caption)
    const result = await calls
      .call(
        {
          _: 'stories.sendStory',
          peer: self,
          media,
          caption: caption.text,
          privacyRules: [{ _: 'inputPrivacyValueAllowAll' }],
          randomId: randomId(requestId),
          period: activeSeconds,
          ...(entities.length > 0 && { entities }),
          ...(isKept && { pinned: true }),
          ...(isProtected && { noforwards: true }),
        },
        { signal },
      )
      .catch((cause) => {
        if (!isRepeated(cause)) throw cause
      })
    const id = result
      ? calls.take(result).updates.find((update) => update._ === 'updateStoryID')?.id
      : await postedBefore(context, caption.text)
    if (id !== undefined) return { kind: 'story', story: { chat: await ownChat(context), id } }
    throw failed('timeout', 'Telegram has posted the story and does not say which it is', {
      certain: false,
    })
  },

  async delete_story({ calls, signal }, { story }) {
    const request = { _: 'stories.deleteStories', peer: self, id: [story] } as const
    const deleted = await calls.call({ ...request, id: [story] }, { signal })
    if (deleted.includes(story)) return done
    throw failed('bad_request', 'story not found')
  },
}

/** The network does not say which story used a number: take the newest one with the same caption. */
async function postedBefore(context: Context, caption: string): Promise<number | undefined> {
  const request = { _: 'stories.getPeerStories', peer: self } as const
  const { stories } = await context.calls.call(request, looking(context))
  const same = stories.stories.filter((story) => story._ === 'storyItem')
  return same.findLast((story) => (story.caption ?? '') === caption)?.id
}

async function ownChat({ calls, self: native }: Context) {
  const peer = { _: 'peerUser', userId: Number(native) } as const
  return chatOf(peer, { self: native, peers: await calls.known([peer]) })
}
