/** Several media as one album: all of them are sent or none. */
import { randomInt } from 'node:crypto'
import type { Content, MediaKind, Message } from '../../../machines/model/content.ts'
import { failed, RequestFailed } from '../../../machines/model/failure.ts'
import type { World } from '../../platforms/sandbox/operations.ts'
import { messageOf } from '../delivery/neutral.ts'
import { holderOf, holdingWhile } from '../files/holding.ts'
import type { Draft } from './outbox.ts'
import { preparedContent } from './preparing.ts'
import { sendTogether, sentBefore } from './send.ts'

type MediaContent = Content & { readonly kind: 'media' }

const MOST = 10
/** Each of these goes with its own kind alone, but for the first two. */
const GROUPS: readonly (readonly MediaKind[])[] = [['photo', 'video'], ['audio'], ['document']]

const bad = (description: string) => failed('bad_request', description)

export async function sendAlbum(
  world: World,
  draft: Omit<Draft, 'content'>,
  contents: readonly MediaContent[],
): Promise<Message[]> {
  assertAlbum(contents.map(({ media }) => media.kind))
  const drafts = contents.map((_, place) => ({
    ...draft,
    request: place === 0 ? draft.request : `${draft.request}#${place}`,
  }))
  const before = await Promise.all(drafts.map((each) => sentBefore(world.db, each)))
  const known = before.filter((view) => view !== undefined)
  if (known.length === contents.length) return known.map(messageOf)

  const holders = drafts.map(({ sender, request }) => holderOf(sender, request))
  return holdingWhile(world, holders, async () => {
    const album = contents.length > 1 ? { album: newAlbum() } : {}
    const ready: Draft[] = []
    for (const [place, content] of contents.entries()) {
      const { sender, request } = drafts[place]!
      const item = await preparedContent(world, sender, request, content).catch(inItem(place))
      ready.push({ ...drafts[place]!, ...album, content: item })
    }
    assertAlbum(ready.map(({ content }) => (content as MediaContent).media.kind))
    return sendTogether(world.db, world.outbox, ready)
  })
}

function assertAlbum(kinds: readonly MediaKind[]): void {
  if (kinds.length === 0) throw bad('there are no messages to send')
  if (kinds.length > MOST) throw bad('too many messages to send as an album')
  const fits = GROUPS.some((group) => kinds.every((kind) => group.includes(kind)))
  if (!fits) throw bad("can't use the media of the specified type in the album")
}

const inItem = (place: number) => (cause: unknown) => {
  const isRefused = cause instanceof RequestFailed && cause.failure.code === 'bad_request'
  if (!isRefused) throw cause
  const { description } = cause.failure
  const text = `failed to send message #${place + 1} with the error message "${description}"`
  throw failed('bad_request', text, {}, { cause })
}

/** A number of fifteen digits, as text. */
const newAlbum = () => `${randomInt(1e14, 2 ** 48 - 1)}`
