/** Invitations to rooms: by the room (XEP-0045) or directly by a person (XEP-0249). */
import type { Element } from '@xmpp/client'
import type { Json } from '../../../machines/model/protocol.ts'
import { fieldsOf } from '../kit/platform.ts'
import { parseAddress } from './address.ts'
import { ns } from './namespaces.ts'

export interface Invitation {
  /** Equal whenever the same invitation is read. */
  readonly key: string
  readonly room: string
  /** The inviting person: an address, or an occupant of the room. */
  readonly by: string
  readonly password?: string
  /** Unix time in seconds. */
  readonly at: number
}

/** The inviting person is not verified. */
export function readInvitation(message: Element): Omit<Invitation, 'key' | 'at'> | undefined {
  if (message.attrs.type === 'error') return undefined
  const from = parseAddress(message.attrs.from)
  const user = message.getChild('x', ns.mucUser)
  const mediated = user?.getChild('invite')
  const direct = message.getChild('x', ns.conference)?.attrs
  const room = mediated ? from : parseAddress(direct?.jid)
  const by = mediated ? (parseAddress(mediated.attrs.from) ?? from) : from
  if (!room?.local || !by || (!mediated && !direct)) return undefined
  const password = mediated ? user?.getChildText('password') : direct?.password
  const isOccupant = by.bare === room.bare && by.resource !== undefined
  return {
    room: room.bare,
    by: isOccupant ? `${by.bare}/${by.resource}` : by.bare,
    ...(password && { password }),
  }
}

/** Reads the unanswered invitations that were stored with the checkpoint. */
export function parseInvited(stored: Json): Invitation[] {
  const { invited } = fieldsOf(stored)
  return (Array.isArray(invited) ? invited : []).flatMap((each: Json): Invitation[] => {
    const { key, room, by, password, at } = fieldsOf(each)
    if (typeof key !== 'string' || typeof room !== 'string' || typeof by !== 'string') return []
    const since = typeof at === 'number' ? at : 0
    return [{ key, room, by, at: since, ...(typeof password === 'string' && { password }) }]
  })
}
