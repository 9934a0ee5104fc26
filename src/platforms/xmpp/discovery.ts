/** Service discovery (XEP-0030): the identities and features of an address, with their forms, and the facts of a room. */
import { type Element, xml } from '@xmpp/client'
import { RequestFailed } from '../../../machines/model/failure.ts'
import { serverAway, unreachable } from './failures.ts'
import { ns } from './namespaces.ts'
import { RequestRefused, type Requests } from './requests.ts'

const ASK_MS = 8_000

/** Undefined if the address does not exist or does not answer. */
export async function discover(
  requests: Requests,
  to: string,
  signal: AbortSignal,
): Promise<Element | undefined> {
  return known(inquire(requests, to, ns.discovery, signal))
}

/** The same for who must not take an address whose server cannot be reached now for one that does not exist. */
async function discoverSurely(
  requests: Requests,
  to: string,
  signal: AbortSignal,
): Promise<Element | undefined> {
  try {
    return await inquire(requests, to, ns.discovery, signal)
  } catch (cause) {
    if (!(cause instanceof RequestRefused)) throw cause
    if (unreachable.has(cause.condition)) throw serverAway(cause)
    return undefined
  }
}

/** The addresses of a server's services. */
export async function discoverItems(
  requests: Requests,
  to: string,
  signal: AbortSignal,
): Promise<string[]> {
  const answer = await known(inquire(requests, to, ns.discoveryItems, signal))
  return (answer?.getChildren('item') ?? []).flatMap(({ attrs }) => attrs.jid ?? [])
}

export function formField(info: Element, name: string): string | undefined {
  const fields = info.getChildren('x', ns.form).flatMap((form) => form.getChildren('field'))
  return fields.find(({ attrs }) => attrs.var === name)?.getChildText('value') || undefined
}

export const hasFeature = (info: Element, feature: string): boolean =>
  info.getChildren('feature').some(({ attrs }) => attrs.var === feature)

async function inquire(requests: Requests, to: string, xmlns: string, signal: AbortSignal) {
  const query = xml('query', xmlns)
  const answer = await requests.ask('get', query, { to, signal, milliseconds: ASK_MS })
  return answer.getChild('query', xmlns)
}

const known = (asked: Promise<Element | undefined>): Promise<Element | undefined> =>
  asked.catch((cause) => {
    if (cause instanceof RequestRefused) return undefined
    throw cause
  })

export interface RoomFacts {
  readonly title?: string
  readonly description?: string
  readonly hasArchive: boolean
  /** Whether it gives each message an id, and removes those that others made up in its name (XEP-0359). */
  readonly givesIds?: boolean
  /** The same for ids of those who write, which outlast a visit and a nick (XEP-0421). */
  readonly givesOccupantIds?: boolean
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
    givesIds: hasFeature(info, ns.ids),
    givesOccupantIds: hasFeature(info, ns.occupantIds),
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
