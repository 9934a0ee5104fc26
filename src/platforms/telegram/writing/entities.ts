/** Formatted texts in the network's terms. */
import { Long, type tl } from '@mtcute/node'
import type { Text, TextEntity } from '../../../../machines/model/content.ts'

type Plain = tl.TypeMessageEntity['_']

const kinds: Readonly<Record<string, Plain>> = {
  bold: 'messageEntityBold',
  italic: 'messageEntityItalic',
  underline: 'messageEntityUnderline',
  strikethrough: 'messageEntityStrike',
  spoiler: 'messageEntitySpoiler',
  code: 'messageEntityCode',
}

/** `user` names a person to the network, where it lets itself name them. */
export async function entitiesOf(
  { entities }: Text,
  user: (native: string) => Promise<tl.TypeInputUser | undefined>,
): Promise<tl.TypeMessageEntity[]> {
  const written: tl.TypeMessageEntity[] = []
  for (const entity of entities) {
    const found = entity.person === undefined ? undefined : await user(entity.person)
    const one = entityOf(entity, found)
    if (one) written.push(one)
  }
  return written
}

/** Where nobody can be mentioned. */
export const plainEntitiesOf = ({ entities }: Text): tl.TypeMessageEntity[] =>
  entities.flatMap((entity) => entityOf(entity, undefined) ?? [])

/** Links, names and the like are found by the network itself. */
function entityOf(
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
      const plain = kinds[type]
      return plain === undefined ? undefined : ({ _: plain, ...range } as tl.TypeMessageEntity)
    }
  }
}

const letters = {
  r: 'relative',
  w: 'dayOfWeek',
  d: 'shortDate',
  D: 'longDate',
  t: 'shortTime',
  T: 'longTime',
} as const

function shownAs({ unixTime: date = 0, timeFormat = '' }: Partial<TextEntity>) {
  const shown = Object.entries(letters).filter(([letter]) => timeFormat.includes(letter))
  return { date, ...Object.fromEntries(shown.map(([, name]) => [name, true])) }
}
