/** Texts and buttons as the reference's parameters. */
import type { Buttons, Content, Text, TextEntity } from '../../../../machines/model/content.ts'
import { withLinkTargets } from '../../kit/text.ts'
import type { Dialect } from '../dialect.ts'

/** The parameters `name` and `entities` of a call. */
export function textAs(text: Text, name: string, entities: string, dialect: Dialect) {
  if (!dialect.takesEntities) return { [name]: withLinkTargets(text).text }
  return {
    [name]: text.text,
    ...(text.entities.length > 0 && { [entities]: text.entities.map(entityJson) }),
  }
}

const entityJson = ({ person, customEmojiId, unixTime, timeFormat, ...entity }: TextEntity) => ({
  ...entity,
  ...(customEmojiId !== undefined && { custom_emoji_id: customEmojiId }),
  ...(unixTime !== undefined && { unix_time: unixTime }),
  ...(timeFormat !== undefined && { date_time_format: timeFormat }),
  ...(person !== undefined && { user: { id: Number(person), is_bot: false, first_name: '' } }),
})

/** The parameters of a text message. */
export function textMessage(content: Content & { readonly kind: 'text' }, dialect: Dialect) {
  const { isOff, url, size, isAbove } = content.preview ?? {}
  const link_preview_options = {
    is_disabled: isOff,
    url,
    ...(size && { [`prefer_${size}_media`]: true }),
    show_above_text: isAbove,
  }
  return {
    ...textAs(content, 'text', 'entities', dialect),
    ...(dialect.hasPreviews && content.preview && { link_preview_options }),
  }
}

export const markupOf = (buttons: Buttons | undefined) =>
  buttons && {
    reply_markup: {
      inline_keyboard: buttons.map((row) =>
        row.map((button) =>
          'data' in button
            ? { text: button.text, callback_data: button.data }
            : 'url' in button
              ? { text: button.text, url: button.url }
              : { text: button.text, ...button.action },
        ),
      ),
    },
  }
