/** The account's own stories: posted for all to see, and taken away. */
import type { tl } from '@mtcute/node'
import { failed, RequestFailed } from '../../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../../machines/model/operation.ts'
import { chatOf } from '../reading/peers.ts'
import { inputMediaOf } from '../writing/media.ts'
import { type Context, done, looking, writtenText } from './context.ts'
import { randomId } from './random-id.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

const self: tl.RawInputPeerSelf = { _: 'inputPeerSelf' }

export async function postStory(
  context: Context,
  operation: Of<'post_story'>,
): Promise<OperationResult> {
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
}

export async function deleteStory(
  { calls, signal }: Context,
  { story }: Of<'delete_story'>,
): Promise<OperationResult> {
  const request = { _: 'stories.deleteStories', peer: self, id: [story] } as const
  const deleted = await calls.call({ ...request, id: [story] }, { signal })
  if (deleted.includes(story)) return done
  throw failed('bad_request', 'story not found')
}

const isRepeated = (cause: unknown) =>
  cause instanceof RequestFailed && /RANDOM_ID_DUPLICATE/.test(cause.failure.description)

/** The network does not tell which story a number was used for; the newest that says the same is it. */
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
