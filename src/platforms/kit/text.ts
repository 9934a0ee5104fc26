/** Formatted texts on networks that cannot show all formatting. Offsets and lengths count UTF-16 units. */
import type { Text, TextEntity } from '../../../machines/model/text.ts'

/** The entities of networks that know all formatting of the reference. */
export const ALL_ENTITIES = [
  'mention',
  'hashtag',
  'cashtag',
  'bot_command',
  'url',
  'email',
  'phone_number',
  'bold',
  'italic',
  'underline',
  'strikethrough',
  'spoiler',
  'blockquote',
  'expandable_blockquote',
  'code',
  'pre',
  'text_link',
  'text_mention',
  'custom_emoji',
  'date_time',
] as const

/** Plain text cannot contain the target of a link, so the target is written beside the linked words. */
export function withLinkTargets(source: Text): Text {
  const links = source.entities.filter(({ type, url }) => type === 'text_link' && url)
  // The last link first: text inserted there does not move the ends of earlier ones.
  const endOf = ({ offset, length }: TextEntity) => offset + length
  return links
    .toReversed()
    .toSorted((one, other) => endOf(other) - endOf(one))
    .reduce(({ text, entities }: Text, link) => {
      const [end, target] = [endOf(link), ` (${link.url})`]
      return {
        text: text.slice(0, end) + target + text.slice(end),
        entities: entities.map((entity) => shifted(entity, end, target.length)),
      }
    }, source)
}

/** The entity in a text into which `by` units were inserted at `from`. */
function shifted(entity: TextEntity, from: number, by: number): TextEntity {
  if (entity.offset >= from) return { ...entity, offset: entity.offset + by }
  return entity.offset + entity.length > from ? { ...entity, length: entity.length + by } : entity
}

/** Appends entities of a text that is placed at `by` in another one. One by one: a call takes only so many arguments. */
export function appendMoved(to: TextEntity[], entities: readonly TextEntity[], by: number): void {
  for (const entity of entities) to.push({ ...entity, offset: entity.offset + by })
}
