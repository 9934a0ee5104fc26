/** A file in answers under /sandbox, as those who may see it are shown it. */
import { Type } from 'typebox'
import { MEDIA_KINDS } from '../../../machines/model/media.ts'

const optional = Type.Optional

export const Kind = Type.Enum([...MEDIA_KINDS])

const shownFigures = {
  duration: optional(Type.Integer()),
  width: optional(Type.Integer()),
  height: optional(Type.Integer()),
  title: optional(Type.String()),
  performer: optional(Type.String()),
  emoji: optional(Type.String()),
}

const shownFile = {
  type: Kind,
  file: Type.String(),
  url: Type.String({ description: 'Where the bytes are, for whoever may see this' }),
  file_name: optional(Type.String()),
  mime_type: optional(Type.String()),
  file_size: optional(Type.Integer()),
  ...shownFigures,
  set_name: optional(Type.String()),
  custom_emoji_id: optional(Type.String()),
  has_spoiler: optional(Type.Boolean()),
}

export const ShownMedia = Type.Object({
  ...shownFile,
  live: optional(
    Type.Object(shownFile, {
      description: 'Only of a live photo: the video of the seconds around it',
    }),
  ),
})

export const PaidMediaBody = Type.Object({
  star_count: Type.Integer(),
  items: Type.Array(
    Type.Object({
      media: optional(ShownMedia),
      duration: optional(Type.Integer()),
      width: optional(Type.Integer()),
      height: optional(Type.Integer()),
    }),
    { description: 'Without `media` where this person has not paid' },
  ),
})
