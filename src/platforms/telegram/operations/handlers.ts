/** The operations of Telegram accounts, by area. */
import type { Handlers } from '../../../../actors/ports/platform.ts'
import { administration } from './administration.ts'
import { albums } from './album.ts'
import { chats } from './chats.ts'
import type { Context } from './context.ts'
import { descriptions } from './describe.ts'
import { gifts } from './gifts.ts'
import { invites, members } from './members.ts'
import { messages } from './messages.ts'
import { profile, stories } from './profile.ts'
import { readings } from './reading.ts'
import { sends } from './send.ts'
import { stars } from './stars.ts'
import { stickers } from './stickers.ts'
import { topics } from './topics.ts'

export const handlers: Handlers<Context> = {
  ...sends,
  ...albums,
  ...messages,
  ...descriptions,
  ...chats,
  ...members,
  ...administration,
  ...invites,
  ...topics,
  ...stickers,
  ...readings,
  ...profile,
  ...stories,
  ...gifts,
  ...stars,
}
