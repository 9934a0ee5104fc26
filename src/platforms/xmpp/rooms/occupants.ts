/** The occupants of a room: their nicks, and their addresses if the room shows them. */
import type { Element } from '@xmpp/client'
import type { Person } from '../../../../machines/model/person.ts'
import { RecentMap } from '../../kit/recent-map.ts'
import { parseAddress, personAt } from '../address.ts'
import { ns } from '../namespaces.ts'

interface Occupant {
  readonly nick: string
  /** How the person stands in the room: `owner`, `admin`, `member`, `none`, `outcast`. */
  readonly affiliation: string
  /** The role of the person during this visit: `moderator`, `participant`, or `visitor`, who may not speak. */
  readonly role: string
}

/** Somebody who has left may have written what is read only now. */
const mostRemembered = 1_000
/** A room may claim to hold as many as it likes; no more than these are told apart. */
const mostPresent = 20_000

export class Occupants {
  readonly #room: string
  /** By nick. */
  readonly #present = new Map<string, Occupant>()
  /** Nicks to bare addresses, also of those who have left. */
  readonly #addresses = new RecentMap<string, string>(mostRemembered)

  constructor(room: string) {
    this.#room = room
  }

  /** People, not the clients that they are there with, where the room shows who they are. */
  get count(): number {
    return new Set(this.all.map(({ nick }) => this.#addresses.get(nick) ?? `/${nick}`)).size
  }

  get all(): Occupant[] {
    return [...this.#present.values()]
  }

  /** Somebody who is there now, by an address or as an occupant. */
  find(native: string): Occupant | undefined {
    return this.all.find(({ nick }) => this.person(nick).native === native)
  }

  /** All that somebody is there under. */
  nicksOf(native: string): string[] {
    return this.all.flatMap(({ nick }) => (this.person(nick).native === native ? [nick] : []))
  }

  /** How somebody who is there stands in the room. */
  standing(native: string): string | undefined {
    return this.find(native)?.affiliation
  }

  /** Somebody who is there now. */
  under(nick: string): Occupant | undefined {
    return this.#present.get(nick)
  }

  clear() {
    this.#present.clear()
  }

  take(nick: string, presence: Element) {
    if (presence.attrs.type === 'unavailable') {
      this.#present.delete(nick)
      return
    }
    if (this.#present.size >= mostPresent && !this.#present.has(nick)) return
    const { affiliation = 'none', role = 'participant' } = itemOf(presence)?.attrs ?? {}
    this.#present.set(nick, { nick, affiliation, role })
    const address = shownAddress(presence)
    this.#addresses.delete(nick)
    if (address) this.#addresses.set(nick, address)
  }

  /** The bare address of who has this nick, where the room shows it. */
  address(nick: string): string | undefined {
    return this.#addresses.get(nick)
  }

  /** `shown`: the address that the room gives along with an archived message. */
  person(nick: string, shown?: string): Person {
    const address = shown ?? this.#addresses.get(nick)
    return address ? personAt(address, nick) : { native: `${this.#room}/${nick}`, firstName: nick }
  }
}

/** `undefined` also where somebody has put in another one: nobody can tell which is the room's. */
export function shownAddress(stanza: Element): string | undefined {
  const [item, ...others] = itemsOf(stanza)
  return others.length === 0 ? parseAddress(item?.attrs.jid)?.bare : undefined
}

const itemOf = (stanza: Element) => itemsOf(stanza).at(0)

const itemsOf = (stanza: Element) =>
  stanza.getChildren('x', ns.mucUser).flatMap((user) => user.getChildren('item'))
