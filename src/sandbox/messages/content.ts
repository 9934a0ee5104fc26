/** The content of a message before it is stored: checked, prepared, and the permission that it needs. */
import { randomInt } from 'node:crypto'
import type { Button, Buttons } from '../../../machines/model/buttons.ts'
import { type Content, type ContentName, contentName } from '../../../machines/model/content.ts'
import {
  badRequest,
  failed,
  messageNotAllowed,
  messageTooLong,
} from '../../../machines/model/failure.ts'
import type { Game } from '../../../machines/model/game.ts'
import type { Media, MediaKind } from '../../../machines/model/media.ts'
import type { Poll, PollMedia } from '../../../machines/model/poll.ts'
import type { RichBlock, RichListItem } from '../../../machines/model/rich.ts'
import type { Permission } from '../../../machines/model/rights.ts'
import type { Text } from '../../../machines/model/text.ts'
import { accessOf } from '../chats/access.ts'
import { isMedia, soldFiles } from '../delivery/paid-media.ts'
import { holderOf, storedMedia, withCover } from '../files/files.ts'

import type { NetworkContext, OutgoingMessage } from '../network/context.ts'
import { openPoll } from '../polls/polls.ts'

export const TEXT_LENGTH = 4096
export const CAPTION_LENGTH = 1024

/** Media that cannot have a caption. */
const WITHOUT_CAPTION: readonly MediaKind[] = ['video_note', 'sticker']

export const takesCaption = (kind: MediaKind) => !WITHOUT_CAPTION.includes(kind)

/** Returns storable content, without what its kind cannot carry. Throws `bad_request` where it is empty or too long. */
export function checkedContent(given: Content): Content {
  const content = storable(given) as Content
  switch (content.kind) {
    case 'text':
      if (content.text.trim() === '') throw failed('bad_request', 'message text is empty')
      assertLength(content, TEXT_LENGTH)
      return content
    case 'media': {
      const { caption, captionAbove: _, ...rest } = content
      if (!takesCaption(content.media.kind)) return { ...rest, caption: { text: '', entities: [] } }
      checkCaption(caption)
      return content
    }
    case 'paid_media':
      checkCaption(content.caption)
      return content
    case 'contact':
      return { ...content, phone: digitsOf(content.phone) }
    case 'story':
    case 'unsupported': {
      const kind = contentName(content)
      throw failed(
        'bad_request',
        `sending content of the kind ${kind} is not supported on the sandbox`,
      )
    }
    default:
      return content
  }
}

/** A phone number as the network shows it. One without digits stays as it is. */
const digitsOf = (phone: string) =>
  /\d/.test(phone) ? phone.trim().replaceAll(/(?!^\+)\D/g, '') : phone

export function checkedCaption(caption: Text, limit: number = CAPTION_LENGTH): Text {
  const stored = storable(caption) as Text
  checkCaption(stored, limit)
  return stored
}

/** A draft may be empty. */
export function checkedDraft(text: Text): Text {
  const stored = storable(text) as Text
  assertLength(stored, TEXT_LENGTH)
  return stored
}

const checkCaption = (caption: Text, limit: number = CAPTION_LENGTH) =>
  assertLength(caption, limit, 'message caption is too long')

function assertLength({ text }: Text, limit: number, refusal?: string): void {
  if (text.length > limit && [...text].length > limit) throw messageTooLong(refusal)
}

/** Replaces NUL and half surrogate pairs, which the database refuses. Offsets of entities stay right. */
export function storable(value: unknown): unknown {
  // Almost all are: these are not copied.
  if (isStorable(value)) return value
  if (typeof value === 'string') return value.replaceAll('\0', ' ').toWellFormed()
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, storable(part)]))
}

function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
  if (typeof value !== 'object' || value === null) return true
  for (const name in value) {
    if (!isStorable((value as Readonly<Record<string, unknown>>)[name])) return false
  }
  return true
}

/** Stores the files of a content, throws its dice and opens its poll. */
export async function prepareContent(
  context: NetworkContext,
  sender: number,
  request: string,
  given: Content,
): Promise<Content> {
  const checked = checkedContent(given)
  const whole = checked.kind === 'game' ? await withCover(context, checked) : checked
  const content = await withHeldFiles(context, whole, holderOf(sender, request))
  switch (content.kind) {
    case 'dice':
      return { ...content, value: rollDice(content.emoji) }
    case 'poll':
      return { kind: 'poll', poll: await openPoll(context, sender, request, content.poll) }
    default:
      return content
  }
}

/** The same content with the native names of its files, which are held. */
export async function withHeldFiles(
  context: NetworkContext,
  content: Content,
  holder: string,
): Promise<Content> {
  switch (content.kind) {
    case 'media':
      return { ...content, media: await storedMedia(context, content.media, holder) }
    case 'paid_media':
      return withPaidFiles(context, content, holder)
    case 'rich':
      return { ...content, blocks: await withStoredFiles(context, content.blocks, holder) }
    case 'poll':
      return { ...content, poll: await withPollFiles(context, content.poll, holder) }
    case 'game':
      return { ...content, game: await withGameFiles(context, content.game, holder) }
    default:
      return content
  }
}

async function withGameFiles(context: NetworkContext, game: Game, holder: string): Promise<Game> {
  const { photo } = game
  return photo ? { ...game, photo: await storedMedia(context, photo, holder) } : game
}

/** The same poll with the native names of its files, which are held. */
async function withPollFiles(context: NetworkContext, poll: Poll, holder: string): Promise<Poll> {
  const stored = async (media: PollMedia): Promise<PollMedia> =>
    media.kind === 'media'
      ? { ...media, media: await storedMedia(context, media.media, holder) }
      : media
  const { media, explanationMedia } = poll
  const options: Poll['options'][number][] = []
  for (const option of poll.options) {
    options.push(option.media ? { ...option, media: await stored(option.media) } : option)
  }
  return {
    ...poll,
    options,
    ...(media && { media: await stored(media) }),
    ...(explanationMedia && { explanationMedia: await stored(explanationMedia) }),
  }
}

/** The same blocks with the native names of their files, which are held. */
export async function withStoredFiles(
  context: NetworkContext,
  blocks: readonly RichBlock[],
  holder: string,
): Promise<readonly RichBlock[]> {
  const stored: RichBlock[] = []
  for (const block of blocks) {
    const { media, blocks: inner, items } = block
    stored.push({
      ...block,
      ...(media && { media: await storedMedia(context, media, holder) }),
      ...(inner && { blocks: await withStoredFiles(context, inner, holder) }),
      ...(items && { items: await Promise.all(items.map(storedItem)) }),
    })
  }
  return stored

  async function storedItem(item: RichListItem): Promise<RichListItem> {
    return { ...item, blocks: await withStoredFiles(context, item.blocks, holder) }
  }
}

export type PaidContent = Content & { readonly kind: 'paid_media' }

/** Holds the files for `holder`, also those that an earlier message has sold. */
async function withPaidFiles(
  context: NetworkContext,
  content: PaidContent,
  holder: string,
): Promise<PaidContent> {
  const { paid } = content
  const isNew = paid.id === undefined
  const files = isNew ? paid.items.filter(isMedia) : await soldFiles(context.db, paid.id)
  const items: Media[] = []
  for (const media of files) items.push(await storedMedia(context, media, holder))
  if (!isNew) return content
  if (items.some(({ kind }) => kind !== 'photo' && kind !== 'video')) {
    throw failed('bad_request', 'paid media must be a photo or a video')
  }
  return { ...content, paid: { ...paid, items } }
}

/** Dice have as many sides as in the reference. */
const SIDES: Readonly<Record<string, number>> = {
  '🎲': 6,
  '🎯': 6,
  '🎳': 6,
  '🏀': 5,
  '⚽': 5,
  '🎰': 64,
}

function rollDice(emoji: string): number {
  const sides = SIDES[emoji]
  if (sides === undefined) throw failed('bad_request', 'wrong dice emoji specified')
  return randomInt(1, sides + 1)
}

/** The first button of an invoice pays it, that of a game starts it; no other message has such buttons. */
export function buttonsFor(content: Content, buttons: Buttons = []): Buttons | undefined {
  const own = ownButton(content)
  if (own && buttons.length === 0) return [[own]]
  const first = buttons[0]?.[0]
  const special = buttons.flat().filter((button) => OWN_ACTIONS.some((name) => does(button, name)))
  const isRight = own
    ? special.length === 1 && special[0] === first && does(first, Object.keys(own.action)[0]!)
    : special.length === 0
  if (!isRight) throw failed('bad_request', 'BUTTON_TYPE_INVALID')
  return buttons.length > 0 ? buttons : undefined
}

const OWN_ACTIONS = ['pay', 'callback_game'] as const

/** A query that is empty is asked for, too. */
const does = (button: Button | undefined, name: string): boolean =>
  button !== undefined && 'action' in button && (button.action[name] ?? false) !== false

function ownButton(content: Content) {
  if (content.kind === 'game') {
    return { text: `Play ${content.game.title}`, action: { callback_game: {} } }
  }
  if (content.kind !== 'invoice') return undefined
  const { total, currency } = content.invoice
  return { text: `Pay ${total} ${currency}`, action: { pay: true } }
}

/** By content: the permission, and its name in a refusal. */
const NEEDED: Readonly<Record<ContentName, readonly [needs: Permission, words: string]>> = {
  text: ['send_messages', 'text messages'],
  checklist: ['send_messages', 'checklists'],
  rich: ['send_messages', 'rich messages'],
  contact: ['send_messages', 'contacts'],
  location: ['send_messages', 'locations'],
  venue: ['send_messages', 'venues'],
  photo: ['send_photos', 'photos'],
  live_photo: ['send_photos', 'photos'],
  video: ['send_videos', 'videos'],
  video_note: ['send_video_notes', 'video notes'],
  voice: ['send_voice_notes', 'voice notes'],
  document: ['send_documents', 'documents'],
  audio: ['send_audios', 'music'],
  animation: ['send_other_messages', 'animations'],
  sticker: ['send_other_messages', 'stickers'],
  dice: ['send_other_messages', 'dice'],
  poll: ['send_polls', 'polls'],
  invoice: ['send_messages', 'invoices'],
  paid_media: ['send_photos', 'paid media'],
  game: ['send_other_messages', 'games'],
}

/** A message before it is sent, as far as the permission to send it depends on it. */
interface Sendable {
  readonly content: Content
  readonly attributes?: object
  readonly forward?: unknown
}

const isInline = ({ attributes = {}, forward }: Sendable) => 'via' in attributes && !forward

const isPaidVideo = (content: Content) =>
  content.kind === 'paid_media' &&
  content.paid.items.some(({ durationSeconds }) => durationSeconds !== undefined)

/** The permission that a member needs to send it. Service messages need none. */
export function neededPermission(message: Sendable): Permission | undefined {
  const name = contentName(message.content)
  if (isInline(message)) return 'send_other_messages'
  if (isPaidVideo(message.content)) return 'send_videos'
  return termsOf(name)?.[0]
}

/** Undefined for content that people cannot send. */
const termsOf = (name: ReturnType<typeof contentName>) =>
  name === 'story' || name === 'service' || name === 'unsupported' ? undefined : NEEDED[name]

/** Whether each of these lists of permissions allows the message; null allows everything. */
export function allows(
  limits: readonly (readonly Permission[] | null)[],
  message: Sendable,
): boolean {
  const needed = neededPermission(message)
  return needed === undefined || limits.every((allowed) => allowed?.includes(needed) ?? true)
}

/** Completes the refusal `not enough rights to …`. */
export function sendingWords(message: Sendable): string {
  if (isInline(message)) return 'send inline results to the chat'
  const name = contentName(message.content)
  return `send ${termsOf(name)?.[1] ?? 'messages'} to the chat`
}

/** Only private chats show effects. */
export function effectFor({ effect }: { readonly effect?: string }, native: number) {
  if (effect === undefined) return {}
  if (native < 0) throw badRequest('message effects can be used only in private chats')
  return { effect }
}

/** Web apps open only in the private chat with the bot. */
export function assertButtons(buttons: Buttons = [], chat: number): void {
  for (const button of buttons.flat()) {
    if ('action' in button && button.action.web_app && chat < 0)
      throw badRequest('BUTTON_TYPE_INVALID')
  }
}

const SWITCHING = [
  'switch_inline_query',
  'switch_inline_query_chosen_chat',
  'switch_inline_query_current_chat',
] as const

type Addressed = Pick<Partial<OutgoingMessage>, 'buttons'> &
  Pick<OutgoingMessage, 'sender' | 'native'>

/** Games go anywhere but to channels; polls that only some people may vote in go to channels alone. */
export async function assertTakes({ db }: NetworkContext, to: Addressed, content: Content) {
  const isGame = content.kind === 'game'
  const isNarrow = content.kind === 'poll' && (content.poll.isForMembers || content.poll.countries)
  const buttons = to.native > 0 ? [] : ((to.buttons as Buttons | undefined) ?? []).flat()
  const switching = SWITCHING.find((name) => buttons.some((one) => does(one, name)))
  if (!isGame && !isNarrow && !switching) return
  const kind = to.native > 0 ? 'private' : (await accessOf(db, to.sender, to.native)).chat.kind
  if (switching && kind === 'channel') {
    const button = switching.replace('_chosen_chat', '')
    const why = "users will not be able to use the button without knowing bot's username"
    throw badRequest(`can't use ${button} button in a channel chat, because ${why}`)
  }
  if (isGame && kind === 'channel') throw badRequest("games can't be sent to channel chats")
  if (isNarrow && kind !== 'channel')
    throw messageNotAllowed('voting can be limited only in channel chats')
}
