/** The members of a room and their affiliations (XEP-0045): from the room's lists, otherwise from its occupants. */
import { type Element, xml } from '@xmpp/client'
import type { Member } from '../../../../machines/model/membership.ts'
import type { Person } from '../../../../machines/model/person.ts'
import type { Right } from '../../../../machines/model/rights.ts'
import { nameOf, parseAddress, personAt } from '../address.ts'
import { ns } from '../namespaces.ts'
import { RequestRefused, type Requests } from '../requests.ts'
import type { Occupants } from './occupants.ts'

const statusOf = {
  owner: 'creator',
  admin: 'administrator',
  member: 'member',
  outcast: 'kicked',
} as const

type Affiliation = keyof typeof statusOf

/** There is one kind of administrator, who can remove people, let them speak and make them members. */
export const ADMINISTRATOR_RIGHTS: readonly Right[] = [
  'manage_chat',
  'restrict_members',
  'invite_users',
]

export class Members {
  readonly #room: string
  readonly #occupants: Occupants
  readonly #requests: Requests

  constructor(room: string, occupants: Occupants, requests: Requests) {
    this.#room = room
    this.#occupants = occupants
    this.#requests = requests
  }

  async administrators(signal: AbortSignal): Promise<Member[]> {
    const owners = await this.#with('owner', signal)
    return [...owners, ...(await this.#with('admin', signal))]
  }

  /** `native`: an address, or an occupant of a room that does not show them. */
  async member(native: string, signal: AbortSignal): Promise<Member> {
    const present = this.present(native)
    if (present) return present
    for (const affiliation of Object.keys(statusOf) as Affiliation[]) {
      const found = (await this.#with(affiliation, signal)).find(
        ({ person }) => person.native === native,
      )
      if (found) return found
    }
    return { person: personAt(native, nameOf(native)), status: 'left' }
  }

  /** The member record of a present occupant. */
  present(native: string): Member | undefined {
    const occupant = this.#occupants.find(native)
    if (!occupant) return undefined
    const { nick, affiliation, role } = occupant
    const person = this.#occupants.person(nick)
    if (role === 'visitor') return { person, status: 'restricted', permissions: [] }
    return memberAs(person, isAffiliation(affiliation) ? affiliation : 'member')
  }

  async #with(affiliation: Affiliation, signal: AbortSignal): Promise<Member[]> {
    const listed = await this.#listed(affiliation, signal)
    if (listed) {
      return listed.map((address) => {
        const nick = this.#occupants.find(address)?.nick
        return memberAs(personAt(address, nick ?? nameOf(address)), affiliation)
      })
    }
    return this.#occupants.all
      .filter((occupant) => occupant.affiliation === affiliation)
      .map(({ nick }) => memberAs(this.#occupants.person(nick), affiliation))
  }

  /** `undefined` when the room does not show it to this account. */
  async #listed(affiliation: Affiliation, signal: AbortSignal): Promise<string[] | undefined> {
    const query = xml('query', ns.mucAdmin, xml('item', { affiliation }))
    try {
      const answer = await this.#requests.ask('get', query, { to: this.#room, signal })
      return addressesIn(answer.getChild('query', ns.mucAdmin))
    } catch (cause) {
      if (cause instanceof RequestRefused) return undefined
      throw cause
    }
  }
}

function memberAs(person: Person, affiliation: Affiliation): Member {
  const rights = affiliation === 'admin' && { rights: ADMINISTRATOR_RIGHTS }
  return { person, status: statusOf[affiliation], ...rights }
}

const addressesIn = (query: Element | undefined) =>
  (query?.getChildren('item') ?? []).flatMap(({ attrs }) => parseAddress(attrs.jid)?.bare ?? [])

const isAffiliation = (value: string): value is Affiliation => Object.hasOwn(statusOf, value)
