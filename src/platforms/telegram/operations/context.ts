/** What every operation needs of its session. */
import type { tl } from '@mtcute/node'
import type { Message, Text } from '../../../../machines/model/content.ts'
import type { OperationResult } from '../../../../machines/model/operation.ts'
import type { MediaDesk } from '../../../media/media.ts'
import type { CallOptions, Calls, Done } from '../calls.ts'
import { messageOf, type Written } from '../reading/message.ts'
import type { Places } from '../storage/places.ts'
import { entitiesOf } from '../writing/entities.ts'

export interface Context {
  readonly calls: Calls
  readonly self: string
  readonly places: Places
  readonly media: Pick<MediaDesk, 'open'>
  readonly requestId: string
  readonly signal: AbortSignal
}

export const done: OperationResult = { kind: 'done' }

export const looking = ({ signal }: Context): CallOptions => ({ signal, looks: true })

/** Sends into one chat reach it in the order in which they were asked for. */
export const sending = ({ signal }: Context, chat: string): CallOptions => ({
  signal,
  sends: true,
  chain: `send:${chat}`,
})

/** Entities that name somebody whom the network does not let the account name stay plain text. */
export function writtenText(context: Context, text: Text): Promise<tl.TypeMessageEntity[]> {
  const { calls, signal } = context
  return entitiesOf(text, (native) => calls.user(native, signal).catch(() => undefined))
}

/** The messages that the network wrote down, in its order. */
export function messagesIn({ updates, peers }: Done, self: string): Message[] {
  return updates.flatMap((update) => {
    const written = writtenIn(update)
    return written ? [messageOf(written, { self, peers })] : []
  })
}

function writtenIn(update: tl.TypeUpdate): Written | undefined {
  switch (update._) {
    case 'updateNewMessage':
    case 'updateNewChannelMessage':
    case 'updateEditMessage':
    case 'updateEditChannelMessage':
      return update.message._ === 'messageEmpty' ? undefined : update.message
    default:
      return undefined
  }
}

/** What was sent is known again when it is deleted elsewhere. */
export async function keepPlaces({ places }: Context, messages: readonly Message[]): Promise<void> {
  const known = messages.filter(({ chat }) => ['private', 'group'].includes(chat.surface))
  await places.note(
    known.map(({ native, chat }) => ({ message: Number(native), chat: Number(chat.native) })),
  )
}
