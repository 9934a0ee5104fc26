/** Joins the rooms that the account is invited to, one after the other, and reports each once it is joined. */

import type { Logger } from '../../../../actors/ports/ports.ts'
import { RequestFailed } from '../../../../machines/model/failure.ts'
import type { Happening } from '../../../../machines/model/happening.ts'
import type { Person } from '../../../../machines/model/person.ts'
import { SparseMap } from '../../kit/recent-map.ts'
import { parseAddress, personAt } from '../address.ts'
import type { Invitation } from '../invitation.ts'
import type { Ledger } from '../ledger.ts'
import type { Room } from './room.ts'

/** How long an unreachable room is tried again. */
const MOST_SECONDS = 86_400

interface InvitationsParts {
  readonly ledger: Pick<Ledger, 'invited' | 'answered'>
  readonly logger: Logger
  /** Joins the room; `undefined` when the account is there already. */
  enter(invitation: Invitation, signal: AbortSignal): Promise<Room | undefined>
  failed(cause: unknown): void
}

export class Invitations {
  readonly #parts: InvitationsParts
  readonly #tried = new SparseMap<string, true>()
  #signal: AbortSignal | undefined
  #working: Promise<void> | undefined

  constructor(parts: InvitationsParts) {
    this.#parts = parts
  }

  /** From now on, until `signal` aborts; first those that are left of before. */
  begin(signal: AbortSignal) {
    this.#signal = signal
    this.#tried.clear()
    this.wake()
  }

  /** Whether one is being answered. */
  get isBusy(): boolean {
    return this.#working !== undefined
  }

  wake() {
    this.#working ??= this.#work()
      .catch((cause) => this.#parts.failed(cause))
      .finally(() => {
        this.#working = undefined
        if (this.#next()) this.wake()
      })
  }

  #next(): Invitation | undefined {
    if (!this.#signal || this.#signal.aborted) return undefined
    return this.#parts.ledger.invited.find(({ key }) => !this.#tried.has(key))
  }

  async #work(): Promise<void> {
    for (let next = this.#next(); next && this.#signal; next = this.#next()) {
      this.#tried.set(next.key, true)
      await this.#answer(next, this.#signal)
    }
  }

  async #answer(invitation: Invitation, signal: AbortSignal): Promise<void> {
    const { ledger, logger } = this.#parts
    const { room, at } = invitation
    let joined: Happening | undefined
    try {
      joined = await this.#join(invitation, signal)
    } catch (err) {
      // An unreachable room is tried again by the next session, for a while.
      const isOver = isRefusal(err) || at < Date.now() / 1000 - MOST_SECONDS
      logger.info({ err, room, isOver }, 'an invitation led nowhere')
      if (!isOver) return
    }
    await ledger.answered(invitation, joined)
  }

  async #join(invitation: Invitation, signal: AbortSignal): Promise<Happening | undefined> {
    const room = await this.#parts.enter(invitation, signal)
    if (!room) return undefined
    const { self: person } = room
    return {
      kind: 'member',
      sourceKey: `invited:${invitation.key}`,
      direction: 'incoming',
      at: invitation.at,
      chat: room.chat,
      by: inviter(invitation),
      isSelf: true,
      before: { person, status: 'left' },
      after: { ...(await room.members.member(person.native, signal)), person },
    }
  }
}

const isRefusal = (cause: unknown) =>
  cause instanceof RequestFailed && ['bad_request', 'forbidden'].includes(cause.failure.code)

function inviter({ by }: Invitation): Person {
  const nick = parseAddress(by)?.resource
  return nick === undefined ? personAt(by) : { native: by, firstName: nick }
}
