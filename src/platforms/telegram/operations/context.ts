/** The context that every operation gets from its session, and the steps that many operations share. */
import { hash } from 'node:crypto'
import { Long, type tl } from '@mtcute/node'
import type { Request } from '../../../../actors/ports/platform.ts'
import type { Message } from '../../../../machines/model/content.ts'
import { failed, RequestFailed } from '../../../../machines/model/failure.ts'
import type { OperationResult } from '../../../../machines/model/operation.ts'
import type { Text } from '../../../../machines/model/text.ts'
import type { MediaService } from '../../../media/media.ts'
import type { AnswerUpdates, CallOptions, Calls } from '../calls.ts'
import { entitiesOf } from '../entities.ts'
import type { ExistingMessage } from '../find-message.ts'
import { messageOf } from '../reading/message.ts'
import type { MessageLocation, MessageLocations } from '../storage/locations.ts'

export interface Context extends Request {
  readonly calls: Calls
  /** The account's own native id. */
  readonly self: string
  readonly locations: MessageLocations
  readonly media: Pick<MediaService, 'open'>
}

export const done: OperationResult = { kind: 'done' }

/** The number by which the network recognizes a repeated send. `place` tells the messages of one request apart. */
export function randomId(requestId: string, place = 0): Long {
  const digest = hash('sha256', `${requestId}:${place}`, 'buffer')
  return new Long(digest.readInt32LE(0), digest.readInt32LE(4))
}

/** Options of a call that changes nothing. */
export const readOptions = ({ signal }: Context): CallOptions => ({ signal, readsOnly: true })

/** Sends to one chat reach it in the order in which they were requested. */
export const sendOptions = ({ signal }: Context, chat: string): CallOptions => ({
  signal,
  sends: true,
  chain: `send:${chat}`,
})

/** Leaves out a person who is unknown or whom the account may not see. Any other failure is thrown. */
export const ignoreUnknownPerson = (cause: unknown): undefined => {
  const code = cause instanceof RequestFailed ? cause.failure.code : undefined
  if (code !== 'bad_request' && code !== 'forbidden') throw cause
}

/** A mention of a person whom the network does not let the account mention stays plain text. */
export function writtenText(context: Context, text: Text): Promise<tl.TypeMessageEntity[]> {
  const { calls, signal } = context
  return entitiesOf(text, (native) => calls.user(native, signal).catch(ignoreUnknownPerson))
}

/** The failure of an operation of which an earlier request was carried out. */
export const doneInPart = (cause: unknown): never => {
  if (!(cause instanceof RequestFailed)) throw cause
  throw new RequestFailed({ ...cause.failure, certain: false }, { cause })
}

/** The failure of an operation that is done, and whose result the network does not tell. */
export const untold = (what: string, cause?: unknown): RequestFailed =>
  failed('timeout', `Telegram has ${what}`, { certain: false }, { cause })

/** The messages in the network's answer, in its order. */
export function messagesIn({ updates, peers }: AnswerUpdates, self: string): Message[] {
  return updates.flatMap((update) => {
    const written = writtenIn(update)
    return written ? [messageOf(written, { self, peers })] : []
  })
}

function writtenIn(update: tl.TypeUpdate): ExistingMessage | undefined {
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

/** Notes the chats of sent messages: a deletion on another device names the message only. */
export const noteLocations = ({ locations }: Context, messages: readonly Message[]): void =>
  locations.note(locationsOf(messages))

/** Stores those of messages that were read, for the same reason. */
export const storeLocations = (
  { locations }: Context,
  messages: readonly Message[],
): Promise<void> => locations.store(locationsOf(messages))

const locationsOf = (messages: readonly Message[]): MessageLocation[] =>
  messages
    .filter(({ chat }) => chat.surface === 'private' || chat.surface === 'group')
    .map(({ native, chat }) => ({ message: Number(native), chat: Number(chat.native) }))
