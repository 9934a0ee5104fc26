/** How a room says that the account is no longer in it, and by whose hand (XEP-0045). */
import { randomUUID } from 'node:crypto'
import type { Element } from '@xmpp/client'
import type { Chat, Person } from '../../../../machines/model/content.ts'
import type { Happening } from '../../../../machines/model/happening.ts'
import type { Member } from '../../../../machines/model/membership.ts'
import { parseAddress } from '../address.ts'
import { ns } from '../namespaces.ts'
import { personAt } from '../people.ts'

const BANNED = '301'
/** Kicked; lost the standing that the room asks for; the room takes members only from now on. */
const PUT_OUT = ['307', '321', '322']

export interface Standing {
  readonly chat: Chat
  readonly self: Person
  readonly status: Member['status']
  person(nick: string): Person
}

/** `undefined` when the account left by itself, or the server went away. */
export function puttingOut(presence: Element, standing: Standing): Happening | undefined {
  const user = presence.getChild('x', ns.mucUser)
  const codes = user?.getChildren('status').map(({ attrs }) => attrs.code ?? '') ?? []
  const isBanned = codes.includes(BANNED)
  const isOut = isBanned || PUT_OUT.some((code) => codes.includes(code))
  if (!isOut && !user?.getChild('destroy')) return undefined
  const { chat, self: person, status } = standing
  const actor = user?.getChild('item')?.getChild('actor')?.attrs
  return {
    kind: 'member',
    // The room says it once.
    sourceKey: `out:${chat.native}:${randomUUID()}`,
    direction: 'incoming',
    at: Math.floor(Date.now() / 1000),
    chat,
    by: actor ? actorOf(actor, standing) : theRoom(chat),
    isSelf: true,
    before: { person, status },
    after: { person, status: isBanned ? 'kicked' : 'left' },
  }
}

function actorOf({ jid, nick }: Element['attrs'], { chat, person }: Standing): Person {
  const address = parseAddress(jid)?.bare
  if (address) return personAt(address, nick)
  return nick ? person(nick) : theRoom(chat)
}

const theRoom = ({ native, title = native }: Chat): Person => ({ native, firstName: title })
