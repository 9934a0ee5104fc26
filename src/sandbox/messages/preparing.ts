/** Content on its way into a message: files are held, dice thrown, polls opened. */
import type { Content } from '../../../machines/model/content.ts'
import type { World } from '../../platforms/sandbox/operations.ts'
import { storedMedia } from '../files/files.ts'
import { holderOf } from '../files/holding.ts'
import { openPoll } from '../polls/poll.ts'
import { thrown } from './dice.ts'
import { checkedContent } from './draft.ts'

export async function preparedContent(
  world: World,
  sender: number,
  request: string,
  given: Content,
): Promise<Content> {
  const content = checkedContent(given)
  switch (content.kind) {
    case 'media':
      return {
        ...content,
        media: await storedMedia(world, content.media, holderOf(sender, request)),
      }
    case 'dice':
      return { ...content, value: thrown(content.emoji) }
    case 'poll':
      return { kind: 'poll', poll: await openPoll(world, sender, request, content.poll) }
    default:
      return content
  }
}
