/** Formatted texts of the network in neutral terms. */
import type { tl } from '@mtcute/node'
import type { Text, TextEntity } from '../../../../machines/model/content.ts'

type Kinds = Readonly<Partial<Record<tl.TypeMessageEntity['_'], string>>>

const kinds: Kinds = {
  messageEntityMention: 'mention',
  messageEntityHashtag: 'hashtag',
  messageEntityCashtag: 'cashtag',
  messageEntityBotCommand: 'bot_command',
  messageEntityUrl: 'url',
  messageEntityEmail: 'email',
  messageEntityPhone: 'phone_number',
  messageEntityBold: 'bold',
  messageEntityItalic: 'italic',
  messageEntityUnderline: 'underline',
  messageEntityStrike: 'strikethrough',
  messageEntitySpoiler: 'spoiler',
  messageEntityCode: 'code',
  messageEntityPre: 'pre',
  messageEntityTextUrl: 'text_link',
  messageEntityMentionName: 'text_mention',
  messageEntityCustomEmoji: 'custom_emoji',
}

export const textOf = (text: string, entities: readonly tl.TypeMessageEntity[] = []): Text => ({
  text,
  entities: entities.flatMap(entityOf),
})

function entityOf(entity: tl.TypeMessageEntity): TextEntity[] {
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
      return [
        {
          type: 'date_time',
          offset,
          length,
          unixTime: entity.date,
          ...(timeFormat && { timeFormat }),
        },
      ]
    }
    default: {
      const type = kinds[entity._]
      return type === undefined ? [] : [{ type, offset, length }]
    }
  }
}

/** In the reference's letters. */
function timeFormatOf(entity: tl.RawMessageEntityFormattedDate): string {
  if (entity.relative) return 'r'
  const date = entity.longDate ? 'D' : entity.shortDate ? 'd' : ''
  const time = entity.longTime ? 'T' : entity.shortTime ? 't' : ''
  return `${entity.dayOfWeek ? 'w' : ''}${date}${time}`
}
