/** A chat as getChat shows it. */
import type { Chat, Media } from '../../../../machines/model/content.ts'
import { fields, maybe, maybeText, number, present, text } from './fields.ts'
import { permissionsOf } from './membership.ts'
import { messageOf } from './message.ts'
import { chatOf } from './people.ts'

/** What getChat tells beyond what every message tells of its chat. */
export function fullChatOf(value: unknown): Chat {
  const chat = fields(value)
  return present({
    ...chatOf(chat),
    description: maybeText(chat.description) ?? maybeText(chat.bio),
    memberCount: number(chat.member_count),
    photo: maybe(chat.photo, chatPhotoOf),
    inviteLink: maybeText(chat.invite_link),
    pinned: maybe(chat.pinned_message, messageOf),
    permissions: maybe(chat.permissions, permissionsOf),
    needsApproval: chat.join_by_request === true ? true : undefined,
  })
}

function chatPhotoOf(value: unknown): Media {
  const photo = fields(value)
  const size = (name: string): Media =>
    present({
      kind: 'photo' as const,
      file: { native: text(photo[`${name}_file_id`]) },
      unique: maybeText(photo[`${name}_file_unique_id`]),
    })
  return { ...size('big'), sizes: [size('small')] }
}
