/** The built-in messenger: for each user a network of people and chats, driven by routes and by linked accounts. */
import type { Logger } from '../../actors/ports/ports.ts'
import { failed } from '../../machines/model/failure.ts'
import type { Gift } from '../../machines/model/gift.ts'
import type { Topic } from '../../machines/model/topic.ts'
import type { Database, Queryable } from '../database/database.ts'
import type { Range } from '../media/media.ts'
import { inRounds, wipeTable } from '../privacy/erase.ts'
import { personalTables } from '../privacy/tables.ts'
import { BotTasks } from './bots/bot-tasks.ts'
import { BusinessConnections } from './business/connections.ts'
import { Chats } from './chats/chats.ts'
import { Communities } from './chats/communities.ts'
import { DueSubscriptions } from './chats/subscriptions.ts'
import { FaultControls } from './delivery/fault-controls.ts'
import { Hub, type HubNews } from './delivery/hub.ts'
import { endSessions } from './delivery/sessions.ts'
import { openFile } from './files/files.ts'
import { availableGifts, makeGift } from './gifts/gifts.ts'
import { InlineMode } from './inline/inline-mode.ts'
import { BatchedOutbox } from './messages/send.ts'
import { DuePosts } from './messages/suggested-posts.ts'
import { Capacity, type CapacityLimits } from './network/capacity.ts'
import type { NetworkContext, Services } from './network/context.ts'
import { NetworkMembers } from './network/members.ts'
import { Checkout } from './payments/checkout.ts'
import { Inboxes } from './people/inbox.ts'
import { People } from './people/people.ts'
import { ProfileAudios } from './people/profile.ts'
import { PersonActions } from './person-actions.ts'
import { DuePolls } from './polls/timer.ts'
import { StickerSets } from './stickers/sticker-sets.ts'
import { listTopics } from './topics/topics.ts'

/** A database whose writes may meet people and chats that were deleted meanwhile: that is a conflict, not a defect. */
const FOREIGN_KEY_VIOLATION = '23503'

function explain(cause: unknown): never {
  if (cause instanceof Error && 'code' in cause && cause.code === FOREIGN_KEY_VIOLATION) {
    throw failed('conflict', 'the sandbox was emptied meanwhile', {}, { cause })
  }
  throw cause
}

const explained = (target: Queryable): Queryable => ({
  query: <Row extends object>(...asked: Parameters<Queryable['query']>) =>
    target.query<Row>(...asked).catch(explain),
})

const explainEmptied = (db: Database): Database => ({
  ...db,
  ...explained(db),
  transaction: (work) => db.transaction((tx) => work(explained(tx))).catch(explain),
})

/** The network of one user. */
export interface Network {
  readonly people: People
  readonly chats: Chats
  /** The topics of a forum, the oldest first. */
  topics(chat: number): Promise<readonly (Topic & { readonly isClosed: boolean })[]>
  readonly actions: PersonActions
  readonly inline: InlineMode
  readonly bots: BotTasks
  readonly communities: Communities
  readonly audios: ProfileAudios
  readonly checkout: Checkout
  readonly inboxes: Inboxes
  readonly stickerSets: StickerSets
  /** The gifts that people of the network can send. */
  readonly gifts: {
    available(): Promise<readonly Gift[]>
    make(gift: Parameters<typeof makeGift>[1]): Promise<Gift>
  }
  readonly faults: FaultControls
  /** Deletes all of it; resolves with whether nothing is left. */
  empty(): Promise<boolean>
  readonly files: {
    readonly ingest: Services['media']['ingest']
    /** The bytes of a file that was sent at least once. */
    open(native: string, range: Range, signal: AbortSignal): ReturnType<typeof openFile>
  }
}

export interface Sandbox {
  readonly services: Services
  readonly hub: Hub
  /** The network of this user. Nothing of another network can be reached through it. */
  network(user: number): Network
  /** Makes sessions and waiting requests look for changes whose wake-up was lost. */
  lookAround(): void
  /** Stores the positions that sessions have acknowledged. */
  close(): Promise<void>
}

export interface SandboxOptions {
  readonly db: Database
  readonly logger: Logger
  readonly media: Services['media']
  readonly limits: CapacityLimits
  /** Unix milliseconds. */
  readonly clock?: () => number
  /** Tells the other nodes of the service. */
  readonly announce?: ((news: HubNews) => void) | undefined
}

export function createSandbox({
  db: database,
  logger,
  media,
  limits,
  clock: now = Date.now,
  announce,
}: SandboxOptions): Sandbox {
  const db = explainEmptied(database)
  const hub = new Hub(db, logger, announce)
  const { wake } = hub
  const pollTimer = new DuePolls({ db, wake, now, logger })
  pollTimer.closeDue()
  const capacity = new Capacity(db, limits, now)
  const outbox = new BatchedOutbox(db, wake)
  const business = new BusinessConnections(db)
  const subscriptions = new DueSubscriptions({ db, outbox, wake, now, logger })
  const signOut = async (person: number) => {
    await endSessions(db, person, 'revoked')
    hub.endSessions(person, 'revoked')
  }
  const common = { db, business, logger, media, capacity, outbox, pollTimer }
  const services = { ...common, wake, signOut, now }
  const posts = new DuePosts(services)
  const members = new NetworkMembers(db)
  const cleaner = new NetworkCleaner({ db: database, hub, capacity, members })
  return {
    services,
    hub,
    network: (user) => networkOf({ ...services, network: user }, { hub, members, cleaner }),
    lookAround: () => hub.wakeAll(),
    close: async () => {
      await pollTimer.close()
      await subscriptions.close()
      await posts.close()
      await hub.flush()
    },
  }
}

interface Shared {
  readonly hub: Hub
  readonly members: NetworkMembers
  readonly cleaner: NetworkCleaner
}

function networkOf(context: NetworkContext, { hub, members, cleaner }: Shared): Network {
  const { db, media, network, now } = context
  const assertIn = (person: number) => members.assertIn(network, person)
  return {
    people: new People(context),
    chats: new Chats(context),
    topics: (chat) => listTopics(context, chat),
    actions: new PersonActions(context, hub, assertIn),
    bots: new BotTasks(context, assertIn),
    communities: new Communities(context, assertIn),
    audios: new ProfileAudios(context, assertIn),
    inline: new InlineMode(context, hub, assertIn),
    checkout: new Checkout(context, hub, assertIn),
    inboxes: new Inboxes({ ...context, hub, assertIn }),
    stickerSets: new StickerSets(context),
    gifts: {
      available: async () => (await availableGifts({ context })).gifts,
      make: (gift) => context.capacity.reserve(network, 1, () => makeGift(context, gift)),
    },
    faults: new FaultControls({ db, hub, now, assertIn }),
    empty: () => cleaner.empty(network),
    files: {
      ingest: (ingestion, signal) => media.ingest(ingestion, signal),
      open: (native, range, signal) => openFile(context, native, range, signal),
    },
  }
}

interface NetworkCleanerOptions {
  readonly db: Database
  readonly hub: Hub
  readonly capacity: Capacity
  readonly members: NetworkMembers
}

const tables = personalTables.filter(({ name }) => name.startsWith('sandbox_'))

const signOut = `
  update sandbox_session set ended = 'revoked' where ended is null
    and person_id in (select id from sandbox_person where user_id = $1)`

/** The media store deletes files that nothing holds. */
const releaseHolds = `
  delete from media_hold where holder like 'sandbox:%'
    and blob in (select blob from media_blob where user_id = $1)`

/** Empties the network of a user: signs linked accounts out, then deletes all people, chats and files. */
class NetworkCleaner {
  readonly #options: NetworkCleanerOptions
  readonly #underWay = new Map<number, Promise<boolean>>()

  constructor(options: NetworkCleanerOptions) {
    this.#options = options
  }

  /** Resolves with false where something is left: people may have written meanwhile. */
  empty(network: number): Promise<boolean> {
    const known = this.#underWay.get(network)
    if (known) return known
    const running = this.#empty(network).finally(() => this.#underWay.delete(network))
    this.#underWay.set(network, running)
    return running
  }

  async #empty(network: number): Promise<boolean> {
    const { db, hub, capacity, members } = this.#options
    const people = await db.query<{ id: number }>(
      'select id from sandbox_person where user_id = $1',
      [network],
    )
    await db.query(signOut, [network])
    for (const { id } of people) hub.endSessions(id, 'revoked')
    await hub.flush()
    const isEmpty = await inRounds(async () => {
      await db.query(releaseHolds, [network])
      for (const table of tables) await wipeTable(db, table, network)
    })
    capacity.forget(network)
    members.forget(network)
    hub.wake(people.map(({ id }) => id))
    return isEmpty
  }
}

/** They stay one more day, so that a late answer is refused as late. */
const deleting = [
  `delete from sandbox_challenge where expires_at < now() - interval '1 day'`,
  `delete from sandbox_callback where expires_at < now() - interval '1 day'`,
  `delete from sandbox_inline_query where asked_at < now() - interval '2 days'`,
  `delete from sandbox_prepared_message where expires_at < now() - interval '1 day'`,
  `delete from sandbox_prepared_key where expires_at < now() - interval '1 day'`,
  `delete from sandbox_web_app where expires_at < now() - interval '1 day'`,
  `delete from sandbox_payment where paid_at is null and asked_at < now() - interval '2 days'`,
  `delete from sandbox_payment where paid_at < now() - interval '400 days'
     and (invoice ->> 'periodSeconds' is null or is_canceled)`,
  `delete from sandbox_star_entry where at < now() - interval '400 days'`,
  `delete from sandbox_suggested_post where settled_at < now() - interval '400 days'`,
  `delete from sandbox_invoice where at < now() - interval '400 days'`,
  `delete from sandbox_ephemeral where at < now() - interval '1 day'`,
  `delete from sandbox_draft where until < now() - interval '1 day'`,
  `delete from sandbox_typing where until < now() - interval '1 day'`,
]

export async function retainSandbox(db: Queryable): Promise<void> {
  for (const statement of deleting) await db.query(statement)
}
