/** The built-in messenger: a platform towards the gateway, and for each user a network with hands and switches. */
import type { Platform } from '../../actors/ports/platform.ts'
import type { Database } from '../database/database.ts'
import type { Log } from '../database/log.ts'
import type { Range } from '../media/media.ts'
import { capabilities } from '../platforms/sandbox/capabilities.ts'
import { Linking } from '../platforms/sandbox/link.ts'
import { LiveSession } from '../platforms/sandbox/session.ts'
import { Chats } from './chats/chats.ts'
import { Hub } from './delivery/hub.ts'
import { Inboxes } from './delivery/inbox.ts'
import { Watchers } from './delivery/watchers.ts'
import { type Files, openFile } from './files/files.ts'
import { StickerSets } from './files/sticker-sets.ts'
import { Outbox } from './messages/outbox.ts'
import { explainVanished } from './messages/vanished.ts'
import { Controls } from './people/controls.ts'
import { Emptying } from './people/emptying.ts'
import { Hands } from './people/hands.ts'
import { People } from './people/people.ts'
import { Residents } from './people/residents.ts'
import { Room, type RoomLimits } from './people/room.ts'
import { Closing } from './polls/closing.ts'

/** All that one user has of the sandbox. */
export interface Network {
  readonly people: People
  readonly chats: Chats
  readonly hands: Hands
  readonly inboxes: Inboxes
  readonly stickerSets: StickerSets
  readonly controls: Controls
  /** Deletes all of it; resolves with whether nothing is left. */
  empty(): Promise<boolean>
  readonly files: {
    ingest: Files['media']['ingest']
    /** The bytes of a file that was sent at least once. */
    open(native: string, range: Range, signal: AbortSignal): ReturnType<typeof openFile>
  }
}

export interface Sandbox {
  readonly platform: Platform
  /** The network of this user: nothing of another one can be reached through it. */
  network(user: number): Network
  /** Something may have been written that nobody heard of: everyone looks. */
  lookAround(): void
  /** Stores what sessions have confirmed so far. */
  close(): Promise<void>
}

export interface SandboxOptions {
  readonly db: Database
  readonly log: Log
  readonly media: Files['media']
  readonly limits: RoomLimits
  /** Unix milliseconds. */
  readonly clock?: () => number
}

export function createSandbox({
  db: database,
  log,
  media,
  limits,
  clock = Date.now,
}: SandboxOptions): Sandbox {
  const db = explainVanished(database)
  const hub = new Hub<LiveSession>(db, log)
  const watchers = new Watchers()
  const wake = (people: readonly number[]) => {
    hub.wake(people)
    watchers.notify()
  }
  const outbox = new Outbox(db, wake)
  const closing = new Closing({ db, wake, now: clock }, log)
  closing.look()
  const room = new Room(db, limits, clock)
  const world = { db, room, outbox, media, closing, wake, hub, log, now: clock }
  const linking = new Linking(db, outbox, clock)
  const residents = new Residents(db)
  const emptying = new Emptying({ db: database, hub, room, residents, wake })
  return {
    platform: {
      id: 'sandbox',
      name: 'Sandbox',
      linkMethods: [
        { method: 'phone', fields: [{ name: 'phone', label: 'Phone number', required: true }] },
      ],
      capabilities,
      ids: 'integer',
      startLink: (method, fields, _signal, user) => linking.start(user, method, fields),
      resumeLink: (stored) => linking.resume(stored),
      open: (account, report, signal) => {
        const session = new LiveSession(world, report)
        signal.addEventListener('abort', () => session.end(), { once: true })
        void session.open(account)
        return session
      },
    },
    network: (user) => {
      const inside = { ...world, network: user }
      const assertIn = (person: number) => residents.assertIn(user, person)
      return {
        people: new People(inside),
        chats: new Chats(inside),
        hands: new Hands(inside, watchers, assertIn),
        inboxes: new Inboxes({ db, watchers, now: clock, assertIn }),
        stickerSets: new StickerSets(inside),
        controls: new Controls({ db, hub, now: clock, assertIn }),
        empty: () => emptying.empty(user),
        files: {
          ingest: (ingestion, signal) => media.ingest(ingestion, signal),
          open: (native, range, signal) => openFile(inside, native, range, signal),
        },
      }
    },
    lookAround() {
      hub.wakeAll()
      watchers.notify()
    },
    close: async () => {
      await closing.close()
      await hub.acknowledgements.flush()
    },
  }
}
