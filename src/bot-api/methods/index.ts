/** Every method that is carried out, by its lower-case name. */

import type { Method } from '../method.ts'
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
    ...sessionMethods,
    ...updateMethods,
    ...webhookMethods,
  ].map((method) => [method.name.toLowerCase(), method]),
)
