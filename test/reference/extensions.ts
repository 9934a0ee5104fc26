/** What we add to the reference's shapes, and where its declarations say less than its documentation. */
import { type Shapes, storedShapes } from './shapes.ts'

const withThumb = ['Animation', 'Audio', 'Document', 'Sticker', 'Video', 'VideoNote']
const olderMembers = 'new_chat_participant?:User new_chat_member?:User left_chat_participant?:User'
const olderOrigin =
  'forward_from?:User forward_from_chat?:Chat forward_from_message_id?:number forward_signature?:string forward_sender_name?:string forward_date?:number'

/** What we have beyond the reference; fields of a type that it has are added to its own. */
export const ours: Shapes = {
  objects: new Map([
    [
      'Update',
      'message_delivered?:Receipt message_read?:Receipt deleted_messages?:DeletedMessages',
    ],
    ['DeletedMessages', 'chat:Chat message_ids:number[] date:number'],
    ['Receipt', 'chat:Chat user?:User message_id:number date:number'],
    ['AccountChats', 'chats:AccountChat[] next_offset?:string'],
    ['AccountChat', 'chat:Chat last_message?:Message unread_count?:number'],
    ['PhoneOwner', 'is_registered:boolean user?:User'],
  ]),
  unions: new Map([
    // The documentation says: a String, an Array of RichText, or one of the objects.
    ['RichText', `string|RichText[]|${storedShapes().unions.get('RichText')}`],
  ]),
  results: new Map([
    ['getChats', 'AccountChats'],
    ['getChatHistory', 'Message[]'],
    ['markAsRead', 'true'],
    ['resolvePhone', 'PhoneOwner'],
  ]),
}

/** Those, and the older names that the reference's server still sends, and that its documentation has dropped. */
export const extensions: Shapes = {
  ...ours,
  objects: new Map([
    ...withThumb.map((name) => [name, 'thumb?:PhotoSize'] as const),
    ['StickerSet', 'thumb?:PhotoSize contains_masks?:boolean'],
    ['BusinessConnection', 'can_reply?:boolean'],
    ['Chat', 'all_members_are_administrators?:boolean'],
    ['ChatFullInfo', 'all_members_are_administrators?:boolean'],
    ['ChatMemberAdministrator', 'can_manage_voice_chats?:boolean'],
    ['ChatMemberRestricted', 'can_send_media_messages?:boolean'],
    ['ChatPermissions', 'can_send_media_messages?:boolean'],
    ['Message', `${olderMembers} ${olderOrigin} user_shared?:UserShared`],
    ['UserShared', 'user_id:number request_id:number'],
    ['UsersShared', 'user_ids?:number[]'],
    ['Poll', 'correct_option_id?:number'],
    ...ours.objects,
  ]),
}
