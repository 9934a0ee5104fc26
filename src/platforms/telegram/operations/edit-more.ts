/** Moves and ends live locations, and ends polls. */
import { failed } from '../../../../machines/model/failure.ts'
import type { Operation, OperationResult } from '../../../../machines/model/operation.ts'
import { messageId } from '../natives.ts'
import { locationOf } from '../writing/media.ts'
import { inputPollOf } from '../writing/poll.ts'
import { change, missing, shown } from './change.ts'
import type { Context } from './context.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>

export async function editLocation(
  context: Context,
  { chat, message, location }: Of<'edit_location'>,
): Promise<OperationResult> {
  const { content } = await found(context, chat, message, 'message to edit')
  if (content.kind !== 'location' || content.liveSeconds === undefined) {
    throw failed('bad_request', "message can't be edited")
  }
  if (!location) {
    const { latitude: lat, longitude: long } = content
    const geoPoint = { _: 'inputGeoPoint', lat, long } as const
    const media = { _: 'inputMediaGeoLive', geoPoint, stopped: true } as const
    return change(context, chat, message, { media })
  }
  const liveSeconds = location.liveSeconds ?? content.liveSeconds
  const media = locationOf({ kind: 'location', ...location, liveSeconds })
  return change(context, chat, message, { media })
}

export async function stopPoll(
  context: Context,
  { chat, message }: Of<'stop_poll'>,
): Promise<OperationResult> {
  const purpose = 'message with poll to stop'
  const { content } = await found(context, chat, message, purpose)
  if (content.kind !== 'poll') throw failed('bad_request', `${purpose} not found`)
  const media = inputPollOf({ ...content.poll, isClosed: true })
  const edited = await change(context, chat, message, { media })
  if (edited.kind !== 'message' || edited.message.content.kind !== 'poll') {
    throw failed('bad_gateway', 'Telegram did not end the poll')
  }
  return { kind: 'poll', poll: edited.message.content.poll }
}

const found = (context: Context, chat: string, message: string, purpose: string) =>
  shown(context, chat, messageId(message, purpose)).catch(missing(`${purpose} not found`))
