/** The credentials of this node: all are started with the service, and each is let go once another node has claimed it. */
import type { CredentialSupervisor, Lease } from '../../actors/credential/supervisor.ts'
import type { CredentialStore, Logger, Owned } from '../../actors/ports/ports.ts'
import type { PostgresUpdateLog } from '../updates/log.ts'
import type { PostgresCredentialStore } from './store.ts'

interface OwnershipOptions {
  readonly store: Pick<CredentialStore, 'fenced'>
  readonly supervisor: Pick<CredentialSupervisor, 'owned' | 'lose'>
  readonly lease: Lease
  readonly logger: Logger
  /** Ends everything else that this process runs for these. Their actors have ended. */
  lost(credentialIds: ReadonlySet<number>): void
}

/** Without events, only this check shows that another node has taken an account over. */
const CHECK_MS = 1_000

export class Ownership {
  readonly #options: OwnershipOptions
  #timer: NodeJS.Timeout | undefined
  #checking: Promise<void> | undefined

  constructor(options: OwnershipOptions) {
    this.#options = options
  }

  /** Each is let go of once, however often and by whomever it is found to be lost. */
  lost(credentials: readonly Owned[]): void {
    const { supervisor, logger, lost } = this.#options
    const gone = credentials.filter((owned) => supervisor.lose(owned))
    if (gone.length === 0) return
    const ids = gone.map(({ credentialId }) => credentialId)
    lost(new Set(ids))
    const some = { credentials: ids.length, first: ids.slice(0, 20) }
    logger.warn(some, 'another node took credentials over')
  }

  watch(): void {
    this.#timer = setInterval(() => void this.check(), CHECK_MS)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** One statement for all that is owned; one at a time. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  async #check(): Promise<void> {
    const { store, supervisor, lease, logger } = this.#options
    const askedAt = lease.now()
    try {
      const owned = [...supervisor.owned()]
      if (owned.length > 0) this.lost(await store.fenced(owned))
      lease.renew(askedAt)
    } catch (err) {
      if (lease.isValid) return
      logger.warn({ err }, 'nothing is sent before the database says what this node owns')
    }
  }
}

const PAGE = 500

/** Claims page by page; the start budget limits how many connect at once. Resolves with their number. */
export async function startAll(
  store: PostgresCredentialStore,
  updates: PostgresUpdateLog,
  supervisor: CredentialSupervisor,
): Promise<number> {
  let started = 0
  let after = 0
  for (;;) {
    const page = await store.claimPage(after, PAGE)
    for (const facts of page) {
      updates.opened(facts.credentialId, facts.epoch, facts.next)
      supervisor.adopt(facts)
    }
    started += page.length
    after = page.at(-1)?.credentialId ?? after
    if (page.length < PAGE) return started
  }
}
