/** Every method that is carried out, by its lower-case name. */

import type { Json } from '../../../machines/model/protocol.ts'
import { type Method, type ParameterType, result } from '../method.ts'
import { administrationMethods } from './administration.ts'
import { botTaskMethods } from './bot-tasks.ts'
import { businessMethods } from './business.ts'
import { chatMethods } from './chats.ts'
import { commandMethods } from './commands.ts'
import { editMethods } from './edits.ts'
import { ephemeralMethods } from './ephemeral.ts'
import { fileMethods } from './files.ts'
import { forumTopicMethods } from './forum-topics.ts'
import { passingOnMethods } from './forwarding.ts'
import { gameMethods } from './games.ts'
import { giftMethods } from './gifts.ts'
import { inlineMethods } from './inline.ts'
import { inviteMethods } from './invites.ts'
import { memberMethods } from './members.ts'
import { messageMethods } from './messages.ts'
import { paymentMethods } from './payments.ts'
import { pollMethods } from './polls.ts'
import { profileMethods } from './profile.ts'
import { reactionMethods } from './reactions.ts'
import { readingMethods } from './reading.ts'
import { sessionMethods, updateMethods, webhookMethods } from './receiving.ts'
import { albumMethods, mediaMethods } from './send-media.ts'
import { stickerSetMethods } from './sticker-sets.ts'
import { storyMethods } from './stories.ts'
import { checklistMethods, structuredMethods } from './structured.ts'

/** Methods whose true answer is always "none": no network behind the gateway has these things. */
const none = (
  name: string,
  summary: string,
  parameters: Readonly<Record<string, ParameterType>>,
  value: Json,
): Method => ({
  name,
  summary,
  scope: undefined,
  operation: undefined,
  parameters,
  required: Object.keys(parameters).filter((parameter) => parameter.endsWith('_id')),
  run: async ({ args }) => {
    if ('user_id' in parameters) args.userId()
    if ('chat_id' in parameters) args.chat()
    return result(value)
  },
})

const emptyMethods: readonly Method[] = [
  none(
    'getUserProfileAudios',
    'The music of a profile',
    { user_id: 'integer', offset: 'integer', limit: 'integer' },
    { total_count: 0, audios: [] },
  ),
]

export const methods: ReadonlyMap<string, Method> = new Map(
  [
    ...messageMethods,
    ...checklistMethods,
    ...structuredMethods,
    ...mediaMethods,
    ...albumMethods,
    ...pollMethods,
    ...editMethods,
    ...ephemeralMethods,
    ...passingOnMethods,
    ...reactionMethods,
    ...chatMethods,
    ...readingMethods,
    ...inlineMethods,
    ...botTaskMethods,
    ...paymentMethods,
    ...gameMethods,
    ...memberMethods,
    ...inviteMethods,
    ...forumTopicMethods,
    ...administrationMethods,
    ...giftMethods,
    ...businessMethods,
    ...stickerSetMethods,
    ...fileMethods,
    ...commandMethods,
    ...profileMethods,
    ...storyMethods,
    ...emptyMethods,
    ...sessionMethods,
    ...updateMethods,
    ...webhookMethods,
  ].map((method) => [method.name.toLowerCase(), method]),
)
