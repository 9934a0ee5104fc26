/** Creates the parts of a session and connects them: updates of the library go to the intake, gaps are filled. */
import type { LinkedAccount, SessionReport } from '../../../actors/ports/platform.ts'
import type { Logger } from '../../../actors/ports/ports.ts'
import type { Queryable } from '../../database/database.ts'
import type { MediaService } from '../../media/media.ts'
import { NOT_STORED } from '../kit/event-line.ts'
import type { SessionLife } from '../kit/session-life.ts'
import { reportRestriction } from '../kit/steadily.ts'
import { Calls } from './calls.ts'
import {
  type Application,
  createClient,
  type DataCentreAddress,
  type TelegramClient,
} from './client.ts'
import { UNKNOWN_KEY, Unreadable } from './failures.ts'
import type { RecoveryBounds } from './history.ts'
import { Inquiries } from './inquiries.ts'
import { Intake, processEach, recognizeOwnActions, throttled } from './intake.ts'
import { OwnMemberships } from './own-memberships.ts'
import { OpinionReader } from './reading/opinions.ts'
import { KnownPolls } from './reading/polls.ts'
import { Recovery } from './recovery.ts'
import { type LocationWrites, MessageLocations } from './storage/locations.ts'
import { namePeopleRightly, type PeerWrites, PostgresPeers } from './storage/peers.ts'
import { SessionStorage, type TelegramSecrets } from './storage/session-storage.ts'
import { UpdateState } from './storage/update-state.ts'

export interface SessionOptions {
  readonly application: Application
  readonly entrance?: DataCentreAddress
  readonly db: Queryable
  readonly locationWrites: LocationWrites
  readonly peerWrites: PeerWrites
  readonly media: Pick<MediaService, 'open'>
  readonly logger: Logger
  /** For how long a broken connection is reconnected before it is reported as lost; 0: not at all. */
  readonly resumeMilliseconds: number
  /** For how long a request waits for its answer. */
  readonly answerMilliseconds: number
  /** How much is read from the chats after a gap that is too long for the network. */
  readonly recovery: RecoveryBounds
}

type Skipped = Parameters<SessionReport['skipped']>[0]

/** Reading many chats after a long gap takes time. */
const ONE_GAP_MS = 10 * 60_000

export interface Parts {
  readonly client: TelegramClient
  readonly calls: Calls
  readonly intake: Intake
  readonly locations: MessageLocations
  readonly state: UpdateState
  readonly recovery: Recovery
}

export function assemble(
  account: LinkedAccount,
  secrets: TelegramSecrets,
  report: SessionReport,
  options: SessionOptions,
  life: SessionLife,
  defect: (cause: unknown) => void,
): Parts {
  const { answerMilliseconds, recovery: bounds, logger } = options
  const { checkpoint, identity } = account
  const self = identity.native
  const ending = life.signal
  const locations = new MessageLocations(account, { ...options, unnoted: defect })
  const state = new UpdateState(checkpoint)
  const since = () => recovery.since
  const polls = new KnownPolls()
  const notStored = (cause: unknown) => life.end(NOT_STORED, cause)
  const intake = new Intake({
    self,
    opinions: new OpinionReader(since),
    polls,
    state,
    locations,
    report,
    known: (peers) => calls.known(peers),
    failed: notStored,
  })
  const client = connectLibrary(account, options, {
    secrets,
    state,
    keysChanged: ({ keys, home }) => report.secrets({ keys, ...(home !== undefined && { home }) }),
    saved: () => intake.save(),
    ended: (found) => life.end(found),
    defect: (cause) => (cause instanceof Unreadable ? unread(cause) : defect(cause)),
  })
  recognizeOwnActions(client)
  processEach(client, { failed: notStored, leftOut: defect })
  const calls = new Calls({
    client,
    milliseconds: answerMilliseconds,
    ending,
    ended: (found) => life.end(found),
    acted: (updates) => intake.acted(updates),
    limited: (seconds) => reportRestriction(report, seconds),
  })
  const found = (happenings: Parameters<Intake['add']>[0]) => intake.add(happenings)
  const memberships = new OwnMemberships(since)
  const inquiries = new Inquiries({ calls, self, polls, memberships, logger, ending, found })
  client.onRawUpdate.add((info) => {
    if (!inquiries.take(info)) intake.take(info)
  })
  const skipped = throttled(ONE_GAP_MS, (what: Skipped) => report.skipped(what))
  const unread = tellingUnread(logger, self, skipped)
  const parts = { client, calls, state, account, bounds, logger, skipped, ending }
  const recovery = new Recovery(parts)
  return { client, calls, intake, locations, state, recovery }
}

/** Tells the operator what cannot be read. Only a request hears of it by itself: it is refused. */
function tellingUnread(logger: Logger, account: string, skipped: (what: Skipped) => void) {
  const said = throttled(ONE_GAP_MS, (method: string) =>
    logger.warn({ account, method }, 'what the network says cannot be read'),
  )
  return ({ method }: Unreadable) => {
    said(method ?? 'update')
    // What has no count is not listed among what was missed.
    if (method === undefined) skipped('changes')
  }
}

interface Stored {
  readonly secrets: TelegramSecrets
  readonly state: UpdateState
  keysChanged(secrets: TelegramSecrets): Promise<void>
  saved(): Promise<void>
  ended(found: typeof UNKNOWN_KEY): void
  defect(cause: unknown): void
}

/** The library's client, with what it keeps in the database and in the account's secrets. */
function connectLibrary(
  account: LinkedAccount,
  { db, peerWrites, application, entrance }: SessionOptions,
  { ended, defect, ...stored }: Stored,
): TelegramClient {
  const storage = new SessionStorage({
    ...stored,
    peers: new PostgresPeers(db, account, peerWrites),
    // The network may know it again later, and another one would be nobody's.
    keepsKey(centre) {
      if (centre !== client.mt.network.getPrimaryDcId()) return false
      ended(UNKNOWN_KEY)
      return true
    },
    unsaved: defect,
  })
  const { permit } = account
  const client = createClient({
    application,
    storage,
    updates: true,
    defect,
    ...(permit && { permit }),
    ...(entrance && { entrance }),
  })
  namePeopleRightly(client, storage.peers)
  return client
}
