/** Moderation of a room (XEP-0045): affiliations are permanent, roles end with the visit. */
import { xml } from '@xmpp/client'
import { badRequest, failed, notFound } from '../../../../machines/model/failure.ts'
import type { Member } from '../../../../machines/model/membership.ts'
import type { Operation } from '../../../../machines/model/operation.ts'
import { PERMISSIONS } from '../../../../machines/model/rights.ts'
import { parseAddress } from '../address.ts'
import { doneInPart, serverAway, unreachable } from '../failures.ts'
import { ns } from '../namespaces.ts'
import { RequestRefused, type Requests } from '../requests.ts'
import { ADMINISTRATOR_RIGHTS, type Members } from './members.ts'
import type { Occupants } from './occupants.ts'

type Of<Kind extends Operation['kind']> = Extract<Operation, { kind: Kind }>
export type Moderating = Of<'ban' | 'unban' | 'restrict' | 'promote'>

/** A room controls who may speak, but no kinds of content. */
const SPEAKING = PERMISSIONS.filter((name) => name.startsWith('send_'))

/** Limits the time of a request that no caller waits for. */
const BAN_MS = 15_000

const unknownHere = (what: string) => badRequest(`${what} is not supported on XMPP`)

type Item = Readonly<Record<string, string | undefined>>
/** Sets one thing of one person. */
type Change = (item: Item) => Promise<void>

interface ModerationParts {
  readonly room: string
  readonly own: string
  readonly members: Members
  readonly occupants: Occupants
  readonly requests: Requests
}

export class Moderation {
  readonly #parts: ModerationParts

  constructor(parts: ModerationParts) {
    this.#parts = parts
  }

  async execute(operation: Moderating, signal: AbortSignal): Promise<void> {
    assertExpressible(operation)
    const { person } = operation
    const { own, members } = this.#parts
    const isPromotion = operation.kind === 'promote'
    if (person === own) throw badRequest(isPromotion ? "can't promote self" : "can't restrict self")
    const member = await members.member(person, signal)
    if (member.status === 'creator') throw badRequest("can't remove chat owner")
    if (member.status === 'administrator' && !isPromotion) {
      throw badRequest('user is an administrator of the chat')
    }
    const purpose = isPromotion ? 'promote/demote' : 'restrict/unrestrict'
    let isInPart = false
    const set: Change = async (item) => {
      try {
        await this.#set(item, signal)
      } catch (cause) {
        const failure = cause instanceof RequestRefused ? refusal(cause, purpose) : cause
        throw isInPart ? doneInPart(failure) : failure
      }
      isInPart = true
    }
    await this.#change(operation, member, set)
  }

  /** A room that admits a person whom it shows as banned, as ejabberd 23.01 does, does not enforce its own ban. */
  async keepBanOf(nick: string): Promise<void> {
    await this.#set({ nick, role: 'none' }, AbortSignal.timeout(BAN_MS))
  }

  async #change(operation: Moderating, { status }: Member, set: Change): Promise<void> {
    const { person } = operation
    switch (operation.kind) {
      case 'ban':
        return this.#affiliate(person, 'outcast', set)
      case 'unban':
        if (status === 'kicked') return this.#affiliate(person, 'none', set)
        return operation.onlyIfBanned ? undefined : this.#putOut(person, set)
      case 'restrict': {
        const role = operation.permissions.includes('send_messages') ? 'participant' : 'visitor'
        if (!(await this.#give(person, role, set))) throw badRequest('USER_NOT_PARTICIPANT')
        return
      }
      case 'promote':
        return this.#affiliate(person, operation.rights.length > 0 ? 'admin' : 'member', set)
    }
  }

  /** The person may come back, but not as a member. */
  async #putOut(person: string, set: Change): Promise<void> {
    if (this.#parts.occupants.standing(person) === 'member') {
      await this.#affiliate(person, 'none', set)
    }
    await this.#give(person, 'none', set)
  }

  /** Occupants without a visible address are named by their nick. */
  async #affiliate(person: string, affiliation: string, set: Change): Promise<void> {
    const { room } = this.#parts
    const address = parseAddress(person)
    const whom = address?.bare === room ? { nick: address.resource } : { jid: person }
    await set({ ...whom, affiliation })
  }

  /** Applied to each client of the person in the room; returns whether there was one. */
  async #give(person: string, role: string, set: Change): Promise<boolean> {
    const nicks = this.#parts.occupants.nicksOf(person)
    for (const nick of nicks) await set({ nick, role })
    return nicks.length > 0
  }

  async #set(item: Item, signal: AbortSignal): Promise<void> {
    const query = xml('query', ns.mucAdmin, xml('item', item))
    await this.#parts.requests.change(query, { to: this.#parts.room, signal })
  }
}

function assertExpressible(operation: Moderating): void {
  if ('until' in operation && operation.until !== undefined) {
    throw unknownHere(operation.kind === 'ban' ? 'a ban for a time' : 'a restriction for a time')
  }
  if (operation.kind === 'ban' && operation.deletesMessages) {
    throw unknownHere('deleting the messages of others')
  }
  if (operation.kind === 'restrict') {
    const may = SPEAKING.filter((name) => operation.permissions.includes(name))
    if (may.length > 0 && may.length < SPEAKING.length) {
      throw unknownHere('letting a member send some things only')
    }
  }
  if (operation.kind === 'promote') {
    if (operation.isAnonymous) throw unknownHere('an anonymous administrator')
    const missing = operation.rights.filter((right) => !ADMINISTRATOR_RIGHTS.includes(right))
    if (missing.length > 0) throw unknownHere(`the right to ${missing.join(', ')}`)
  }
}

function refusal(cause: RequestRefused, purpose: string) {
  if (unreachable.has(cause.condition)) return serverAway(cause)
  switch (cause.condition) {
    case 'item-not-found':
    case 'jid-malformed':
      return notFound('user', { cause })
    default:
      return failed('bad_request', `not enough rights to ${purpose} chat member`, {}, { cause })
  }
}
