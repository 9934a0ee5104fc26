/** The facts about a room, by service discovery. */
import type { Element } from '@xmpp/client'
import { RequestFailed } from '../../../../machines/model/failure.ts'
import { discoverSurely, formField, hasFeature } from '../discovery.ts'
import { ns } from '../namespaces.ts'
import type { Requests } from '../requests.ts'

export interface RoomFacts {
  readonly title?: string
  readonly description?: string
  readonly hasArchive: boolean
  /** Whether the room shows the addresses of its occupants to everybody. */
  readonly showsAddresses: boolean
}

/** `undefined`: there is no such room, or it does not show itself. */
export async function roomFacts(
  requests: Requests,
  room: string,
  signal: AbortSignal,
): Promise<RoomFacts | undefined> {
  const info = await discoverSurely(requests, room, signal)
  if (!info || !isConference(info)) return undefined
  const identity = info.getChildren('identity').find(({ attrs }) => attrs.category === 'conference')
  const description = formField(info, 'muc#roominfo_description')
  return {
    ...(identity?.attrs.name && { title: identity.attrs.name }),
    ...(description && { description }),
    hasArchive: hasFeature(info, ns.archive),
    showsAddresses: hasFeature(info, 'muc_nonanonymous'),
  }
}

/** Whether the addresses of a domain are rooms; undefined while its server cannot be reached. */
export async function hostsRooms(
  requests: Requests,
  domain: string,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  try {
    const info = await discoverSurely(requests, domain, signal)
    return info !== undefined && isConference(info)
  } catch (cause) {
    if (cause instanceof RequestFailed && cause.failure.code === 'unavailable') return undefined
    throw cause
  }
}

function isConference(info: Element): boolean {
  const identities = info.getChildren('identity')
  return hasFeature(info, ns.muc) && identities.some(({ attrs }) => attrs.category === 'conference')
}
