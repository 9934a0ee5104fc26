/** Every method that is carried out, by its lower-case name. */
import type { Method } from '../method.ts'
import { administrationMethods } from './administration.ts'
import { albumMethods } from './albums.ts'
import { emptyMethods } from './always-empty.ts'
import { businessMethods } from './business.ts'
import { chatSettingMethods } from './chat-settings.ts'
import { chatMethods } from './chats.ts'
import { checklistMethods } from './checklists.ts'
import { commandMethods } from './commands.ts'
import { editMethods } from './edits.ts'
import { ephemeralMethods } from './ephemeral.ts'
import { fileMethods } from './files.ts'
import { forumTopicMethods } from './forum-topics.ts'
import { passingOnMethods } from './forwarding.ts'
import { giftMethods } from './gifts.ts'
import { inlineMethods } from './inline.ts'
import { inviteMethods } from './invites.ts'
import { mediaMethods } from './media.ts'
import { memberMethods } from './members.ts'
import { draftMethods, messageMethods } from './messages.ts'
import { paymentMethods } from './payments.ts'
import { pollMethods } from './polls.ts'
import { profileMethods } from './profile.ts'
import { reactionMethods } from './reactions.ts'
import { readingMethods } from './reading.ts'
import { sessionMethods, updateMethods, webhookMethods } from './receiving.ts'
import { richMethods } from './rich.ts'
import { stickerSetMethods } from './sticker-sets.ts'
import { storyMethods } from './stories.ts'
import { structuredMethods } from './structured.ts'

export const methods: ReadonlyMap<string, Method> = new Map(
  [
    ...messageMethods,
    ...richMethods,
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
    ...chatSettingMethods,
    ...inlineMethods,
    ...paymentMethods,
    ...memberMethods,
    ...inviteMethods,
    ...forumTopicMethods,
    ...administrationMethods,
    ...giftMethods,
    ...businessMethods,
    ...stickerSetMethods,
    ...draftMethods,
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
