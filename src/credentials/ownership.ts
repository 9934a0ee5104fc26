/** The credentials of this node: claims and starts them all, warns if the heap or the number of open files is too small, drops those claimed by other nodes. */
import { readFileSync } from 'node:fs'
import { getHeapStatistics } from 'node:v8'
import type { CredentialSupervisor } from '../../actors/credential/supervisor.ts'
import type { Lease } from '../../actors/node/lease.ts'
import type { CredentialStore, Logger, LostCredential, Owned } from '../../actors/ports/ports.ts'
import type { Queryable } from '../database/database.ts'
import { readTwice } from '../database/failures.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { Metrics } from '../observability/metrics.ts'
import type { PostgresUpdateLog } from '../updates/log.ts'
import type { PostgresCredentialStore } from './store.ts'

interface OwnershipOptions {
  readonly store: Pick<CredentialStore, 'fenced'>
  readonly supervisor: Pick<CredentialSupervisor, 'owned' | 'lose' | 'factsOf'>
  readonly lease: Lease
  readonly logger: Logger
  /** Ends everything else that this process runs for these credentials. Their actors have ended already. */
  lost(credentialIds: ReadonlySet<number>): void
}

/** Without events, only this check shows that another node has taken an account over. */
const CHECK_MS = 1_000

export class Ownership {
  readonly #options: OwnershipOptions
  #timer: NodeJS.Timeout | undefined
  #checking: Promise<void> | undefined
  #isStopped = false

  constructor(options: OwnershipOptions) {
    this.#options = options
  }

  /** The account was linked again at another node, which owns it from this epoch on: the session here is signed out. */
  relinked(credentialId: number, epoch: number): void {
    const held = this.#options.supervisor.factsOf(credentialId)
    if (held && held.epoch < epoch) {
      this.letGo([{ credentialId, epoch: held.epoch, signsOut: true }])
    }
  }

  /** Drops each of them once, however often it is found to be lost. */
  lost(credentials: readonly LostCredential[]): void {
    const ids = this.letGo(credentials)
    if (ids.length === 0) return
    const { logger } = this.#options
    logger.warn(someOf(ids), 'another node took credentials over')
  }

  /**
   * Ends everything of them here; returns those that were here. Whoever finds a loss may not know why, so the database is
   * asked how their sessions end. `handsOver`: they are given away, and nobody has claimed them yet.
   */
  letGo(credentials: readonly LostCredential[], handsOver = false): number[] {
    const { supervisor, lost } = this.#options
    const here = credentials.filter(
      ({ credentialId, epoch }) => supervisor.factsOf(credentialId)?.epoch === epoch,
    )
    const answer = this.#signedOut(here.filter(({ signsOut }) => signsOut === undefined))
    const isOver = ({ credentialId }: Owned) => answer.then((ids) => ids.has(credentialId))
    const gone = here.filter((one) => supervisor.lose(one, one.signsOut ?? isOver(one), handsOver))
    const ids = gone.map(({ credentialId }) => credentialId)
    if (ids.length > 0) lost(new Set(ids))
    return ids
  }

  /** Which of them were linked again, or deleted. */
  async #signedOut(lost: readonly Owned[]): Promise<ReadonlySet<number>> {
    if (lost.length === 0) return new Set()
    const { store, logger } = this.#options
    try {
      const over = (await store.fenced(lost)).filter(({ signsOut }) => signsOut)
      return new Set(over.map(({ credentialId }) => credentialId))
    } catch (err) {
      const facts = { err, credentials: lost.length }
      logger.warn(
        facts,
        'sessions of earlier links may stay signed in: the database did not answer',
      )
      return new Set()
    }
  }

  watch(): void {
    this.#isStopped = false
    this.#timer = setInterval(() => void this.check(), CHECK_MS)
  }

  stop(): void {
    this.#isStopped = true
    clearInterval(this.#timer)
  }

  /** Asks for all owned credentials in one statement, and runs one check at a time. */
  check(): Promise<void> {
    this.#checking ??= this.#check().finally(() => {
      this.#checking = undefined
    })
    return this.#checking
  }

  async #check(): Promise<void> {
    const { lease } = this.#options
    // An answer that took long, as in a process that stood still, says too little of how things are now.
    for (let isLate = true; isLate && !this.#isStopped; ) {
      const askedAt = lease.now()
      await this.#ask(askedAt)
      isLate = lease.now() - askedAt >= CHECK_MS
    }
  }

  async #ask(askedAt: number): Promise<void> {
    const { store, supervisor, lease, logger } = this.#options
    try {
      const owned = [...supervisor.owned()]
      if (owned.length > 0) this.lost(await readTwice(() => store.fenced(owned)))
      lease.confirmed(askedAt)
    } catch (err) {
      if (lease.isValid) return
      logger.warn({ err }, 'nothing is sent before the database says what this node owns')
    }
  }
}

const PAGE = 500

/** Parts needed to claim accounts without an owner, at the start and after another node has ended. */
interface Claiming {
  readonly store: Pick<PostgresCredentialStore, 'unowned' | 'claimAll'>
  readonly updates: Pick<PostgresUpdateLog, 'opened'>
  readonly supervisor: Pick<CredentialSupervisor, 'adopt' | 'factsOf'>
  readonly nodes: Pick<Nodes, 'isPlacedHere' | 'refreshPins'>
  readonly ownership: Pick<Ownership, 'lost'>
  readonly metrics: Pick<Metrics, 'unowned'>
  readonly logger: Logger
  /** Looks for their webhooks. */
  claimed(credentialIds: readonly number[]): Promise<unknown>
}

const LOCKED =
  'credentials could not be claimed yet: something else has locked their rows, or the database failed'

const someOf = (ids: readonly number[]) => ({ credentials: ids.length, first: ids.slice(0, 20) })

type Facts = Awaited<ReturnType<Claiming['store']['claimAll']>>[number]

/** Adds their ids to `adopted`. */
function adoptAll(parts: Claiming, some: readonly Facts[], adopted: number[]): void {
  const { updates, supervisor, ownership } = parts
  for (const facts of some) {
    // A call may have claimed it once more before this answer came.
    const held = supervisor.factsOf(facts.credentialId)
    if (held && held.epoch > facts.epoch) continue
    // It had another owner meanwhile, which this node has not noticed: what runs here would never write again.
    if (held && held.epoch < facts.epoch) ownership.lost([held])
    updates.opened(facts.credentialId, facts.epoch, facts.next)
    supervisor.adopt(facts)
    adopted.push(facts.credentialId)
  }
}

async function wake({ claimed, logger }: Claiming, asleep: number[]): Promise<void> {
  const ids = [...asleep]
  if (ids.length === 0) return
  logger.info({ credentials: ids.length }, 'credentials that belonged to no node are taken over')
  await claimed(ids)
  asleep.splice(0, ids.length)
}

/** Those of one page that a claim has left out. */
interface Missed {
  /** Where the page begins. */
  readonly after: number
  readonly ids: readonly number[]
}

/**
 * Claims page by page those that belong to no living node and are placed here; the start budget limits how many connect
 * at once. Those whose rows somebody has locked keep no others waiting, nor their webhooks. `asleep`: those whose webhooks were
 * not looked for yet, also after a failure.
 */
export async function claimUnowned(parts: Claiming, asleep: number[] = []): Promise<void> {
  const { store, nodes, metrics, logger } = parts
  await nodes.refreshPins()
  const missed: Missed[] = []
  /** Resolves with those that it has left out. */
  const claim = async (ids: readonly number[], waits: boolean) => {
    if (ids.length === 0) return []
    const some = await store.claimAll(ids, waits)
    adoptAll(parts, some, asleep)
    const done = new Set(some.map(({ credentialId }) => credentialId))
    return ids.filter((id) => !done.has(id))
  }
  let left = 0
  let after = 0
  for (let isMore = true; isMore; ) {
    const page = await store.unowned(after, PAGE)
    const here = page.filter(nodes.isPlacedHere)
    left += page.length - here.length
    const ids = await claim(here, false)
    if (ids.length > 0) missed.push({ after, ids })
    after = page.at(-1) ?? after
    isMore = page.length === PAGE
  }
  // If it fails, it is tried again below.
  if (missed.length > 0) await wake(parts, asleep).catch(() => undefined)
  for (const { after, ids } of missed) {
    const late = await claim(ids, true)
    if (late.length === 0) continue
    // Another node may have claimed some of them.
    const unowned = new Set(await store.unowned(after, PAGE))
    const locked = late.filter((id) => unowned.has(id))
    left += locked.length
    if (locked.length > 0) logger.warn(someOf(locked), LOCKED)
  }
  metrics.unowned(left)
  await wake(parts, asleep)
}

/** Claims are repeated at this interval, in case a change of the nodes was missed or a claim failed. */
const LOOK_AGAIN_MS = 30_000

interface Following extends Claiming {
  readonly db: Queryable
  readonly store: Claiming['store'] & Pick<PostgresCredentialStore, 'release'>
  readonly nodes: Claiming['nodes'] & Pick<Nodes, 'view' | 'onMembersChanged' | 'onDeclaredGone'>
  readonly owned: () => Iterable<Owned>
  /** Calls back once another node has given credentials away. */
  released?(look: () => void): void
  /** Tells the other nodes that there is something to claim. */
  announce(): void
}

/**
 * What belongs to this node by the table and does not run here: the answer to a claim was lost, or an account that is given
 * away could not be released. Nobody else may claim these. Without those whose rows somebody has locked now: claims wait for
 * this look, so it waits for nobody.
 */
const straysOf = (db: Queryable, incarnation: number | undefined, held: Iterable<Owned>) =>
  db.query<Owned>(
    `select l.credential_id as "credentialId", l.epoch
       from credential_log l join credential c on c.id = l.credential_id
       left join unnest($2::bigint[]) as h (id) on h.id = l.credential_id
      where l.owner = $1 and c.deactivated_at is null and h.id is null
        for no key update of l, c skip locked`,
    [incarnation, Array.from(held, ({ credentialId }) => credentialId)],
  )

type StrayParts = Pick<Following, 'db' | 'owned' | 'announce' | 'logger'> & {
  readonly store: Pick<Following['store'], 'release'>
  readonly nodes: Pick<Nodes, 'view'>
}

/**
 * Releases strays, so that they can be claimed again: those that two looks in a row have found, because a claim may be under
 * way. Returns how to look.
 */
export function strayReleaser({
  db,
  store,
  nodes,
  owned,
  announce,
  logger,
}: StrayParts): () => Promise<void> {
  let before = new Set<string>()
  const textOf = ({ credentialId, epoch }: Owned) => `${credentialId} ${epoch}`
  return async () => {
    const strays = await straysOf(db, nodes.view().incarnation, owned())
    const lasting = strays.filter((one) => before.has(textOf(one)))
    before = new Set(strays.map(textOf))
    if (lasting.length === 0) return
    const released = await store.release(lasting)
    if (released.length === 0) return
    announce()
    const facts = { credentials: released.length }
    logger.warn(facts, 'credentials that belonged to this node did not run: released')
  }
}

const NOT_RELEASED = 'credentials that belong to this node and do not run were not released'

/** Claims accounts of ended nodes, and drops all accounts if this node was declared gone. Returns how to stop. */
export function followNodes(parts: Following): () => void {
  const { nodes, ownership, owned, logger, released } = parts
  let isStopped = false
  let claiming = Promise.resolve()
  /** They are claimed, but their webhooks are not looked for yet: a failure must not leave them asleep. */
  const asleep: number[] = []
  const releaseStrays = strayReleaser(parts)
  const claim = async (isRegular: boolean) => {
    if (isStopped) return
    if (isRegular) {
      await releaseStrays().catch((err) => logger.warn({ err }, NOT_RELEASED))
    }
    await claimUnowned(parts, asleep)
  }
  const look = (isRegular = false) => {
    claiming = claiming
      .then(() => claim(isRegular))
      .catch((err) => {
        logger.warn({ err }, 'credentials that belong to no node could not be claimed')
      })
  }
  nodes.onMembersChanged(() => look())
  released?.(() => look())
  // The nodes may have changed while the start claimed its accounts.
  look()
  nodes.onDeclaredGone(() => ownership.lost([...owned()]))
  const timer = setInterval(() => look(true), LOOK_AGAIN_MS)
  return () => {
    isStopped = true
    clearInterval(timer)
  }
}

const KILOBYTE = 2 ** 10
const MEGABYTE = 2 ** 20

/** Measured heap of an idle account, by platform. */
const ACCOUNT_BYTES: Readonly<Record<string, number>> = {
  telegram: 185 * KILOBYTE,
  xmpp: 48 * KILOBYTE,
}
const OTHER_ACCOUNT_BYTES = 28 * KILOBYTE
/** The share of the heap for idle accounts: the rest is for their events and operations. */
const SHARE = 3 / 4

interface Heap {
  readonly most: number
  readonly used: number
}

/** Writes one line that says what to do, if the heap is too small. */
export async function warnOfMemory(
  db: Queryable,
  logger: Pick<Logger, 'warn'>,
  heap = heapNow(),
): Promise<void> {
  const platforms = await db.query<{ platform: string; accounts: number }>(
    `select platform, count(*) as accounts from credential
      where deactivated_at is null group by platform`,
  )
  let accounts = 0
  let needed = heap.used
  for (const { platform, accounts: some } of platforms) {
    accounts += some
    needed += some * (ACCOUNT_BYTES[platform] ?? OTHER_ACCOUNT_BYTES)
  }
  if (needed <= heap.most * SHARE) return
  const least = Math.ceil(needed / SHARE / MEGABYTE)
  const remedy = `give it more: NODE_OPTIONS=--max-old-space-size=${least}, and the container as much again`
  const heapMegabytes = Math.floor(heap.most / MEGABYTE)
  logger.warn({ accounts, heapMegabytes, remedy }, 'the heap is too small for so many accounts')
}

/** Files, the database, and as many callers as a small service has. */
const OTHER_FILES = 1_000

/**
 * Each account of a network keeps a connection, and what the system refuses is told as a failure of the network. Writes one line,
 * if there are too many for the process.
 */
export async function warnOfFiles(
  db: Queryable,
  logger: Pick<Logger, 'warn'>,
  most: number | undefined = mostFiles(),
): Promise<void> {
  if (most === undefined) return
  const [row] = await db.query<{ accounts: number }>(
    `select count(*) as accounts from credential
      where deactivated_at is null and platform <> 'sandbox'`,
  )
  const accounts = row?.accounts ?? 0
  if (accounts + OTHER_FILES <= most) return
  const least = accounts + OTHER_FILES
  const remedy = `raise the limit to ${least} and one for each connection of a bot: LimitNOFILE= of systemd, --ulimit nofile= of a container, ulimit -n of a shell`
  logger.warn({ accounts, openFiles: most, remedy }, 'so many connections cannot be open at once')
}

const OPEN_FILES = 'Max open files'

/** Undefined where the system does not tell. Node has raised the soft limit to the hard one by now. */
function mostFiles(): number | undefined {
  try {
    const lines = readFileSync('/proc/self/limits', 'utf8').split('\n')
    const limit = lines.find((line) => line.startsWith(OPEN_FILES))?.slice(OPEN_FILES.length)
    const most = Number.parseInt(limit ?? '', 10)
    return Number.isNaN(most) ? undefined : most
  } catch {
    return undefined
  }
}

function heapNow(): Heap {
  const { heap_size_limit: most, used_heap_size: used } = getHeapStatistics()
  return { most, used }
}
