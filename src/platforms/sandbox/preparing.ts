/** Content on its way into a message: files are held, dice thrown, polls opened. */
import type { Content } from '../../../machines/content.ts'
import { thrown } from './dice.ts'
import { checkedContent } from './draft.ts'
import { storedMedia } from './files.ts'
import { holderOf } from './holding.ts'
import type { World } from './operations.ts'
import { openPoll } from './poll.ts'

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
