/** Small parts that go over the wire in both directions under /sandbox. */
import type { Static } from 'typebox'
import type { Buttons, TextEntity } from '../../../machines/model/content.ts'
import type * as wire from './schemas.ts'

type Entity = Static<typeof wire.Entity>
type Keyboard = Static<typeof wire.Keyboard>

/** Leaves out what is not there. */
export const present = <Fields extends object>(fields: Fields) =>
  Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null),
  ) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> }

export const entityBody = ({
  customEmojiId,
  person,
  unixTime,
  timeFormat,
  ...entity
}: TextEntity): Entity => ({
  ...entity,
  ...present({
    custom_emoji_id: customEmojiId,
    user_id: person === undefined ? null : Number(person),
    unix_time: unixTime,
    date_time_format: timeFormat,
  }),
})

export const entityOf = ({
  custom_emoji_id,
  user_id,
  unix_time,
  date_time_format,
  ...entity
}: Entity): TextEntity => ({
  ...entity,
  ...present({
    customEmojiId: custom_emoji_id,
    person: user_id === undefined ? null : String(user_id),
    unixTime: unix_time,
    timeFormat: date_time_format,
  }),
})

export const keyboardBody = (buttons: Buttons): Keyboard =>
  buttons.map((row) =>
    row.map((button) =>
      'url' in button
        ? { text: button.text, url: button.url }
        : { text: button.text, ...('data' in button && { callback_data: button.data }) },
    ),
  )

/** A button with neither address nor data would do nothing: it carries its own text. */
export const buttonsOf = (keyboard: Keyboard): Buttons =>
  keyboard.map((row) =>
    row.map(({ text, callback_data, url }) =>
      url !== undefined ? { text, url } : { text, data: callback_data ?? text },
    ),
  )
