/** Users whom an operator has suspended: stored with them, and in the memory of each node, which looks again at every hint. */
import type { Logger } from '../../actors/ports/ports.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Failure } from '../../machines/model/protocol.ts'
import { noteChange } from '../audit/log.ts'
import type { Database, Queryable } from '../database/database.ts'
import type { Bus } from '../nodes/bus.ts'
import type { Clock } from './clock.ts'

/** A change at another node counts here after at most this time, where its hint is lost. */
const LOOK_EVERY_MS = 5_000

interface SuspensionsOptions {
  readonly db: Database
  readonly clock: Clock
  readonly logger: Logger
  /** Absent: there are no other nodes. */
  readonly bus?: Pick<Bus, 'tell' | 'on' | 'onGap'> | undefined
}

type Listener = (userId: number, isSuspended: boolean) => void

/** A key may be in the hands of others, so it does not tell why. */
const ofKeys: Failure = {
  code: 'forbidden',
  description: 'the user of this key is suspended; they read the reason when they sign in',
  reason: 'user_suspended',
}

const suspended =
  'select id, suspended_reason as reason from app_user where suspended_at is not null'

const hold = `
  select suspended_reason as reason from app_user where id = $1 and erasing_at is null for no key update`

const store = `
  update app_user set suspended_at = coalesce(suspended_at, $2), suspended_reason = $3 where id = $1`

const end = 'update app_user set suspended_at = null, suspended_reason = null where id = $1'

export class Suspensions {
  readonly #options: SuspensionsOptions
  readonly #listeners: Listener[] = []
  #reasons: ReadonlyMap<number, string> = new Map()
  #timer: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()
  /** A look that has not begun. */
  #next: Promise<void> | undefined

  constructor(options: SuspensionsOptions) {
    this.#options = options
    const { bus } = options
    bus?.on('suspended', () => void this.#look())
    bus?.onGap(() => void this.#look())
  }

  /** Resolves once it is known who is suspended. */
  async start(): Promise<void> {
    await this.#read()
    this.#timer = setInterval(() => void this.#look(), LOOK_EVERY_MS).unref()
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#looking
  }

  /** Called for each user who was suspended, or may go on, at whatever node an operator has said so. */
  onChange(listener: Listener): void {
    this.#listeners.push(listener)
  }

  /** The reason that the operator gave; undefined: the user is not suspended. */
  whyOf(userId: number): string | undefined {
    return this.#reasons.get(userId)
  }

  /** How calls of this user are refused; undefined: they are not. */
  ofUser(userId: number): Failure | undefined {
    const why = this.#reasons.get(userId)
    return why === undefined ? undefined : refusal(why)
  }

  /** How calls with the API keys of this user are refused. */
  ofKeys(userId: number): Failure | undefined {
    return this.#reasons.has(userId) ? ofKeys : undefined
  }

  /** The same as `ofUser`, as the table has it now. */
  async storedOf(db: Queryable, userId: number): Promise<Failure | undefined> {
    const [found] = await db.query<{ reason: string }>(`${suspended} and id = $1`, [userId])
    return found && refusal(found.reason)
  }

  /** Again with another reason: it takes the place of the first. Rejects with `not_found`. */
  async suspend(userId: number, reason: string): Promise<void> {
    const { db, clock } = this.#options
    await db.transaction(async (tx) => {
      const before = await held(tx, userId)
      await tx.query(store, [userId, clock(), reason])
      const details = before.reason === null ? {} : { before }
      await noteChange(tx, { userId, target: ['user', userId], ...details, after: { reason } })
    })
    await this.#tell()
  }

  /** Resolves with whether the user was suspended. Rejects with `not_found`. */
  async end(userId: number): Promise<boolean> {
    const wasSuspended = await this.#options.db.transaction(async (tx) => {
      const before = await held(tx, userId)
      if (before.reason === null) return false
      await tx.query(end, [userId])
      await noteChange(tx, { userId, target: ['user', userId], before })
      return true
    })
    if (wasSuspended) await this.#tell()
    return wasSuspended
  }

  /** It counts here before the operator gets the answer. */
  async #tell(): Promise<void> {
    this.#options.bus?.tell('suspended', null)
    await this.#look()
  }

  /**
   * One at a time, so that an older answer of the database does not come last. Whoever asks meanwhile shares the next one:
   * it sees all that was stored before it begins.
   */
  #look(): Promise<void> {
    this.#next ??= this.#looking.then(async () => {
      this.#next = undefined
      await this.#read().catch((err) =>
        this.#options.logger.warn({ err }, 'who is suspended was not looked for'),
      )
    })
    this.#looking = this.#next
    return this.#next
  }

  async #read(): Promise<void> {
    const rows = await this.#options.db.query<{ id: number; reason: string }>(suspended)
    const before = this.#reasons
    const now = new Map(rows.map(({ id, reason }) => [id, reason]))
    this.#reasons = now
    const begun = [...now.keys()].filter((id) => !before.has(id))
    const ended = [...before.keys()].filter((id) => !now.has(id))
    for (const listener of this.#listeners) {
      for (const id of begun) listener(id, true)
      for (const id of ended) listener(id, false)
    }
  }
}

const refusal = (why: string): Failure => ({
  code: 'forbidden',
  description: `an operator has suspended you: ${why}`,
  reason: 'user_suspended',
  params: { why },
})

/** Two operators at once: the second one sees what the first has done. */
async function held(tx: Queryable, userId: number): Promise<{ readonly reason: string | null }> {
  const [found] = await tx.query<{ reason: string | null }>(hold, [userId])
  if (!found) throw failed('not_found')
  return found
}
