/** What may become of a message that was sent: its text, file, caption, buttons and place. */

import type { Content, Location, MediaKind, Message } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Operation } from '../../../machines/model/operation.ts'
import type { Doer, World } from '../../platforms/sandbox/operations.ts'
import type { Target } from '../chats/look.ts'
import { storedMedia } from '../files/files.ts'
import { holderOf } from '../files/holding.ts'
import { checkedCaption, checkedContent, takesCaption } from './draft.ts'
import { type Place, revise } from './revise.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

const bad = (description: string) => failed('bad_request', description)

/** A live location that is shared until it is stopped. */
const FOREVER = 0x7fffffff

const EXCHANGEABLE: readonly MediaKind[] = ['photo', 'video', 'animation', 'audio', 'document']
const TOGETHER: readonly MediaKind[] = ['photo', 'video']

export function edit(world: World, doer: Doer, place: Place, operation: Edit): Promise<Message> {
  return revise(world, doer, place, async (target, now) => ({
    content: await contentAfter(world, target, operation, now),
    ...(operation.buttons && { buttons: operation.buttons }),
  }))
}

export type Edit = Of<'edit' | 'edit_caption' | 'edit_buttons' | 'edit_location'>

async function contentAfter(
  world: World,
  target: Target,
  operation: Edit,
  now: number,
): Promise<Content> {
  switch (operation.kind) {
    case 'edit':
      return replaced(world, target, checkedContent(operation.content))
    case 'edit_caption': {
      const { content } = target
      if (content.kind !== 'media' || !takesCaption(content.media.kind)) {
        throw bad('there is no caption in the message to edit')
      }
      const { captionAbove: _, ...rest } = content
      const above = operation.captionAbove && { captionAbove: true }
      return { ...rest, caption: checkedCaption(operation.caption), ...above }
    }
    case 'edit_buttons':
      return target.content
    case 'edit_location':
      return moved(target, operation.location, now)
  }
}

async function replaced(world: World, target: Target, content: Content): Promise<Content> {
  const before = target.content
  if (content.kind === 'text') {
    if (before.kind !== 'text') throw bad('there is no text in the message to edit')
    return content
  }
  const isMedia = before.kind === 'media' && EXCHANGEABLE.includes(before.media.kind)
  if (content.kind !== 'media' || !(isMedia || before.kind === 'text')) {
    throw bad("message media can't be edited")
  }
  if (target.album !== null && before.kind === 'media') {
    const [old, given] = [before.media.kind, content.media.kind]
    const mayMix = TOGETHER.includes(old) && TOGETHER.includes(given)
    if (old !== given && !mayMix) throw bad("can't change media type in the album")
  }
  const holder = holderOf(target.sender, target.request)
  return { ...content, media: await storedMedia(world, content.media, holder) }
}

/** Without a location it stays where it is and is no longer live. */
function moved({ content, at }: Target, location: Location | undefined, now: number): Content {
  if (content.kind !== 'location' || content.venue) {
    throw bad('there is no live location in the message to edit')
  }
  const { liveSeconds = 0, latitude, longitude, accuracy } = content
  const isOver = liveSeconds !== FOREVER && at.getTime() + liveSeconds * 1000 <= now
  if (liveSeconds === 0 || isOver) throw bad("message can't be edited")
  if (location) return { kind: 'location', liveSeconds, ...location }
  return { kind: 'location', latitude, longitude, ...(accuracy !== undefined && { accuracy }) }
}
