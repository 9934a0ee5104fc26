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

/** One who is present, as a session leaves it to the next. */
export type KnownOccupant = readonly [
  nick: string,
  affiliation: string,
  role: string,
  address?: string,
]

/** An occupant who has left may have written a message that is read only now. */
const MOST_REMEMBERED = 1_000
/** A room may claim any number of occupants; only this many are distinguished. */
const MOST_PRESENT = 20_000

export class Occupants {
  readonly #room: string
  /** By nick. */
  readonly #present = new Map<string, Occupant>()
  /** Until somebody comes or goes: rooms have thousands of people, and each message tells how many. */
  #count: number | undefined
  /** Nicks to bare addresses, also of those who have left. */
  readonly #addresses = new RecentMap<string, string>(MOST_REMEMBERED)

  constructor(room: string) {
    this.#room = room
  }

  /** People instead of their clients, if the room shows the addresses. */
  get count(): number {
    this.#count ??= new Set(
      this.all.map(({ nick }) => this.#addresses.get(nick) ?? `/${nick}`),
    ).size
    return this.#count
  }

  get presentCount(): number {
    return this.#present.size
  }

  get all(): Occupant[] {
    return [...this.#present.values()]
  }

  /** A present occupant, by address or by nick. */
  find(native: string): Occupant | undefined {
    return this.all.find(({ nick }) => this.person(nick).native === native)
  }

  /** All nicknames of a person in the room. */
  nicksOf(native: string): string[] {
    return this.all.flatMap(({ nick }) => (this.person(nick).native === native ? [nick] : []))
  }

  /** The affiliation and role of an occupant. */
  standing(native: string): string | undefined {
    return this.find(native)?.affiliation
  }

  /** Somebody who is there now. */
  under(nick: string): Occupant | undefined {
    return this.#present.get(nick)
  }

  clear() {
    this.#count = undefined
    this.#present.clear()
  }

  get known(): KnownOccupant[] {
    return this.all.map(({ nick, affiliation, role }) => {
      const address = this.#addresses.get(nick)
      return address === undefined ? [nick, affiliation, role] : [nick, affiliation, role, address]
    })
  }

  restore(known: readonly KnownOccupant[]) {
    this.#count = undefined
    for (const [nick, affiliation, role, address] of known) {
      this.#present.set(nick, { nick, affiliation, role })
      if (address !== undefined) this.#addresses.set(nick, address)
    }
  }

  take(nick: string, presence: Element) {
    this.#count = undefined
    if (presence.attrs.type === 'unavailable') {
      this.#present.delete(nick)
      return
    }
    if (this.#present.size >= MOST_PRESENT && !this.#present.has(nick)) return
    const { affiliation = 'none', role = 'participant' } = itemOf(presence)?.attrs ?? {}
    this.#present.set(nick, { nick, affiliation, role })
    const address = shownAddress(presence)
    this.#addresses.delete(nick)
    if (address) this.#addresses.set(nick, address)
  }

  /** The bare address of the occupant with this nick, if the room shows it. */
  address(nick: string): string | undefined {
    return this.#addresses.get(nick)
  }

  /** `shown`: the address that the room gives along with an archived message. */
  person(nick: string, shown?: string): Person {
    const address = shown ?? this.#addresses.get(nick)
    return address ? personAt(address, nick) : { native: `${this.#room}/${nick}`, firstName: nick }
  }
}

/** `undefined` also if a person has inserted a second one, because the room's own cannot be identified. */
export function shownAddress(stanza: Element): string | undefined {
  const [item, ...others] = itemsOf(stanza)
  return others.length === 0 ? parseAddress(item?.attrs.jid)?.bare : undefined
}

const itemOf = (stanza: Element) => itemsOf(stanza).at(0)

const itemsOf = (stanza: Element) =>
  stanza.getChildren('x', ns.mucUser).flatMap((user) => user.getChildren('item'))
