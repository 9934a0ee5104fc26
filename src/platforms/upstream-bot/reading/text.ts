/** Texts of the reference with their entities. */
import type { Text, TextEntity } from '../../../../machines/model/content.ts'
import {
  array,
  type Fields,
  fields,
  integer,
  maybe,
  maybeText,
  native,
  present,
  text,
} from './fields.ts'

/** The text of this field, and the entities of the field that goes with it. */
export function textOf(holder: Fields, name: string, entities: string): Text {
  return {
    text: maybeText(holder[name]) ?? '',
    entities: (maybe(holder[entities], (list) => array(list, entityOf)) ?? []).flat(),
  }
}

function entityOf(value: unknown): TextEntity[] {
  const entity = fields(value)
  return [
    present({
      type: text(entity.type),
      offset: integer(entity.offset),
      length: integer(entity.length),
      url: maybeText(entity.url),
      language: maybeText(entity.language),
      customEmojiId: maybeText(entity.custom_emoji_id),
      person: maybe(entity.user, (user) => native(fields(user).id)),
      unixTime: maybe(entity.unix_time, integer),
      timeFormat: maybeText(entity.date_time_format),
    }),
  ]
}
