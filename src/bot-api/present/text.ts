/** Entities of a text in the reference's JSON. */
import type { Text } from '../../../machines/model/content.ts'
import { detectEntities } from '../entities/detect.ts'
import { mergeDetected } from '../entities/merge.ts'
import type { MessageEntity } from '../entities/types.ts'
import type { Names } from './names.ts'

/** The entities of the network, and those that every text carries by its words. */
export function entitiesJson(name: string, text: Text, ids: Names): object {
  const merged = mergeDetected(markedJson(text, ids), detectEntities(text.text))
  return merged.length > 0 ? { [name]: merged } : {}
}

/** The entities of the network alone. */
export const markedJson = ({ entities }: Text, ids: Names): MessageEntity[] =>
  entities.map(({ person, customEmojiId, unixTime, timeFormat, ...entity }) => ({
    ...entity,
    ...(customEmojiId && { custom_emoji_id: customEmojiId }),
    ...(unixTime !== undefined && { unix_time: unixTime }),
    ...(timeFormat && { date_time_format: timeFormat }),
    ...(person && { user: { id: ids.chat(person), is_bot: false, first_name: '' } }),
  })) as MessageEntity[]
