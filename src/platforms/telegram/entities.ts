/** Formatted texts of the network, read into neutral terms and written back. Both sides count in UTF-16 units. */
import { Long, type tl } from '@mtcute/node'
import type { Text, TextEntity } from '../../../machines/model/text.ts'

type Kind = tl.TypeMessageEntity['_']

/** Formatting that a writer chooses. */
const chosen: readonly (readonly [type: string, kind: Kind])[] = [
  ['bold', 'messageEntityBold'],
  ['italic', 'messageEntityItalic'],
  ['underline', 'messageEntityUnderline'],
  ['strikethrough', 'messageEntityStrike'],
  ['spoiler', 'messageEntitySpoiler'],
  ['code', 'messageEntityCode'],
]
/** Formatting that the network detects by itself: it is not sent. */
const found: typeof chosen = [
  ['mention', 'messageEntityMention'],
  ['hashtag', 'messageEntityHashtag'],
  ['cashtag', 'messageEntityCashtag'],
  ['bot_command', 'messageEntityBotCommand'],
  ['url', 'messageEntityUrl'],
  ['email', 'messageEntityEmail'],
  ['phone_number', 'messageEntityPhone'],
]
const kindOf: ReadonlyMap<string, Kind> = new Map(chosen)
const typeOf: ReadonlyMap<string, string> = new Map(
  [...chosen, ...found].map(([type, kind]) => [kind, type]),
)

/** The reference's letters for how a time is shown. */
const timeFormats = {
  r: 'relative',
  w: 'dayOfWeek',
  d: 'shortDate',
  D: 'longDate',
  t: 'shortTime',
  T: 'longTime',
} as const

export const textOf = (text: string, entities: readonly tl.TypeMessageEntity[] = []): Text => ({
  text,
  entities: entities.filter((entity) => isWithin(text, entity)).flatMap(read),
})

/** Libraries that cut a character of two code units in half throw. */
const isWithin = (text: string, { offset, length }: tl.TypeMessageEntity): boolean =>
  offset >= 0 &&
  length > 0 &&
  offset + length <= text.length &&
  [offset, offset + length].every((place) => !halves.test(text.slice(place - 1, place + 1)))

const halves = /^[\ud800-\udbff][\udc00-\udfff]$/

/** `user` resolves a person to the network's form, if the network permits it. */
export async function entitiesOf(
  { entities }: Text,
  user: (native: string) => Promise<tl.TypeInputUser | undefined>,
): Promise<tl.TypeMessageEntity[]> {
  const written: tl.TypeMessageEntity[] = []
  for (const entity of entities) {
    const person = entity.person === undefined ? undefined : await user(entity.person)
    const one = write(entity, person)
    if (one) written.push(one)
  }
  return written
}

/** The same without mentions of people. */
export const plainEntitiesOf = ({ entities }: Text): tl.TypeMessageEntity[] =>
  entities.flatMap((entity) => write(entity, undefined) ?? [])

function read(entity: tl.TypeMessageEntity): TextEntity[] {
  const { offset, length } = entity
  switch (entity._) {
    case 'messageEntityBlockquote':
      return [{ type: entity.collapsed ? 'expandable_blockquote' : 'blockquote', offset, length }]
    case 'messageEntityPre':
      return [
        { type: 'pre', offset, length, ...(entity.language && { language: entity.language }) },
      ]
    case 'messageEntityTextUrl':
      return [{ type: 'text_link', offset, length, url: entity.url }]
    case 'messageEntityMentionName':
      return [{ type: 'text_mention', offset, length, person: `${entity.userId}` }]
    case 'messageEntityCustomEmoji':
      return [{ type: 'custom_emoji', offset, length, customEmojiId: entity.documentId.toString() }]
    case 'messageEntityFormattedDate': {
      const timeFormat = timeFormatOf(entity)
      const shown = timeFormat && { timeFormat }
      return [{ type: 'date_time', offset, length, unixTime: entity.date, ...shown }]
    }
    default: {
      const type = typeOf.get(entity._)
      return type === undefined ? [] : [{ type, offset, length }]
    }
  }
}

function write(
  { type, offset, length, ...rest }: TextEntity,
  user: tl.TypeInputUser | undefined,
): tl.TypeMessageEntity | undefined {
  const range = { offset, length }
  switch (type) {
    case 'pre':
      return { _: 'messageEntityPre', ...range, language: rest.language ?? '' }
    case 'blockquote':
      return { _: 'messageEntityBlockquote', ...range }
    case 'expandable_blockquote':
      return { _: 'messageEntityBlockquote', ...range, collapsed: true }
    case 'text_link':
      return { _: 'messageEntityTextUrl', ...range, url: rest.url ?? '' }
    case 'text_mention':
      return user && { _: 'inputMessageEntityMentionName', ...range, userId: user }
    case 'custom_emoji': {
      const documentId = Long.fromString(rest.customEmojiId ?? '0')
      return { _: 'messageEntityCustomEmoji', ...range, documentId }
    }
    case 'date_time':
      return { _: 'messageEntityFormattedDate', ...range, ...shownAs(rest) }
    default: {
      const kind = kindOf.get(type)
      return kind === undefined ? undefined : ({ _: kind, ...range } as tl.TypeMessageEntity)
    }
  }
}

export function timeFormatOf(
  entity: Omit<tl.RawMessageEntityFormattedDate, '_' | 'offset' | 'length'>,
): string {
  if (entity.relative) return 'r'
  const date = entity.longDate ? 'D' : entity.shortDate ? 'd' : ''
  const time = entity.longTime ? 'T' : entity.shortTime ? 't' : ''
  return `${entity.dayOfWeek ? 'w' : ''}${date}${time}`
}

function shownAs({ unixTime: date = 0, timeFormat = '' }: Partial<TextEntity>) {
  const shown = Object.entries(timeFormats).filter(([letter]) => timeFormat.includes(letter))
  return { date, ...Object.fromEntries(shown.map(([, name]) => [name, true])) }
}
