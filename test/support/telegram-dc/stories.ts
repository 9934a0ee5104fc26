/** Stories of the test network's people. */
import type { tl } from '@mtcute/core'
import { type Handlers, RpcRefusal } from './data-centre.ts'
import { now } from './delivery.ts'
import { targetOf } from './lookup.ts'
import { mediaOf } from './media.ts'
import type { TelegramNetwork } from './network.ts'

export function storyHandlers(network: TelegramNetwork): Handlers {
  return {
    'stories.sendStory': (request, origin) => {
      const person = network.asker(origin)
      const { caption, entities, randomId, period = 86_400, pinned, noforwards } = request
      const { fwdFromId, fwdFromStory } = request
      const random = randomId.toString()
      if (person.sent.has(random)) throw new RpcRefusal(500, 'RANDOM_ID_DUPLICATE')
      const id = person.nextMessage++
      person.sent.set(random, id)
      const story: tl.RawStoryItem = {
        _: 'storyItem',
        id,
        date: now(),
        expireDate: now() + period,
        media: mediaOf(network.files, request.media),
        ...(caption && { caption }),
        ...(entities && { entities }),
        ...(pinned && { pinned }),
        ...(noforwards && { noforwards }),
        ...(fwdFromId?._ === 'inputPeerUser' && {
          fwdFrom: {
            _: 'storyFwdHeader' as const,
            from: { _: 'peerUser' as const, userId: fwdFromId.userId },
            ...(fwdFromStory !== undefined && { storyId: fwdFromStory }),
          },
        }),
      }
      person.stories.set(id, story)
      const peer = { _: 'peerUser', userId: person.id } as const
      return network.delivery.answer(person, [
        { _: 'updateStoryID', id, randomId },
        { _: 'updateStory', peer, story },
      ])
    },
    'stories.editStory': ({ id, media, caption, entities }, origin) => {
      const person = network.asker(origin)
      const before = person.stories.get(id)
      if (!before) throw new RpcRefusal(400, 'STORY_ID_INVALID')
      const story: tl.RawStoryItem = {
        ...before,
        edited: true,
        ...(media && { media: mediaOf(network.files, media) }),
        ...(caption !== undefined && { caption }),
        ...(entities && { entities }),
      }
      person.stories.set(id, story)
      const peer = { _: 'peerUser', userId: person.id } as const
      return network.delivery.answer(person, [{ _: 'updateStory', peer, story }])
    },
    'stories.deleteStories': ({ id }, origin) => {
      const { stories } = network.asker(origin)
      return id.filter((one) => stories.delete(one))
    },
    'stories.getStoriesByID': ({ peer, id }, origin) => {
      const owner = targetOf(network, origin, peer)
      const found = 'kind' in owner ? [] : id.flatMap((one) => owner.stories.get(one) ?? [])
      return { _: 'stories.stories', count: found.length, stories: found, chats: [], users: [] }
    },
    'stories.getPeerStories': (_, origin) => {
      const { id, stories } = network.asker(origin)
      const peer = { _: 'peerUser', userId: id } as const
      const shown = { _: 'peerStories', peer, stories: [...stories.values()] } as const
      return {
        _: 'stories.peerStories',
        stories: { ...shown, stories: [...shown.stories] },
        chats: [],
        users: [],
      }
    },
  }
}
