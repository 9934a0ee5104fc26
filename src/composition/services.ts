/** Builds what routes and webhooks call: services over the actors and the storage. */
import { setTimeout as pause } from 'node:timers/promises'
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import { within } from '../../actors/host/time.ts'
import { failed, OwnershipLost } from '../../machines/model/failure.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { Staff, StaffUsers } from '../accounts/staff.ts'
import { IdempotentCalls } from '../bot-api/idempotency.ts'
import type { CallServices } from '../bot-api/method.ts'
import { profileStore, profiles } from '../bot-api/methods/profile.ts'
import { RelinkPages } from '../bulk/relinks.ts'
import { SavedViews } from '../bulk/views.ts'
import type { Config } from '../config/config.ts'
import { HeldShares } from '../credentials/held-shares.ts'
import { AccountNames } from '../credentials/identity.ts'
import { ReceiveSettingsService } from '../credentials/receive-settings.ts'
import type { RecordSource } from '../credentials/records.ts'
import { Shares } from '../credentials/shares.ts'
import type { Database } from '../database/database.ts'
import { createDiagnoses } from '../diagnosis/diagnoses.ts'
import type { PassFile } from '../http/files.ts'
import { KeyService } from '../keys/service.ts'
import { droppedUpdates, messagesSkipped, pendingUpdates } from '../keys/waiting.ts'
import { LinkPages } from '../links/flows.ts'
import { Downloads } from '../media/downloads.ts'
import type { Bus } from '../nodes/bus.ts'
import type { Nodes } from '../nodes/nodes.ts'
import type { Logger } from '../observability/logger.ts'
import { Eraser } from '../privacy/erase.ts'
import { exportUser } from '../privacy/export.ts'
import type { Core } from './core.ts'
import type { Storage } from './storage.ts'

/** The time limit for signing out an account that is deleted with its user. */
const DELETE_MS = 25_000
/** How often this node looks whether another one has done its part. */
const LOOK_MS = 200
/** Other nodes write what they have buffered. */
const FLUSH_TAKES_MS = 300
/** Other nodes end the links of a user who is erased, and write what they still hold of them. */
const OTHERS_TAKE_MS = 1_000
/** A flow that ends asks its network once. */
const LEAVES_MS = 8_000

interface ServicesOptions {
  readonly config: Config
  readonly storage: Storage
  readonly accounts: Accounts
  readonly core: Core
  readonly nodes: Pick<Nodes, 'isAlone'>
  readonly bus: Pick<Bus, 'tell' | 'on' | 'onGap'>
  readonly logger: Logger
}

export type Services = ReturnType<typeof createServices>

export function createServices(options: ServicesOptions) {
  const { config, storage, accounts, core, logger } = options
  const { db, vault, journal, media } = storage
  const { supervisor: credentials } = core
  const { flush, flushEverywhere } = flushes(options)
  const source: RecordSource = {
    db,
    flush: (credentialId) => core.store.flush(credentialId),
    accountId: (credentialId, native) =>
      core.translator.idOf(credentialId, native, credentials.factsOf(credentialId)),
    identity: (row) => core.store.identityOf(row),
    names: new AccountNames(db, (row) => core.store.identityOf(row)),
  }
  const { identity } = source
  const keyService = keyServiceOf(options, source)
  const downloads = new Downloads({
    rows: media.paths,
    service: media.service,
    limit: media.limits.downloadBytes,
    download: async (credentialId, native, offset, signal) =>
      (await credentials.find(credentialId)).effects.download(native, offset, signal),
  })
  const world = callServicesOf(options, downloads)
  const { profile } = world
  const { suspensions } = accounts
  const diagnosing = { core, db, logger, config, keyService, source, journal, profile, suspensions }
  const phone = async (userId: number) => (await accounts.user(userId)).phone
  return {
    source,
    keyService,
    downloads,
    passFile: filePasser(credentials),
    downloadBytes: media.limits.downloadBytes,
    flush,
    /** How calls of bots are executed, over HTTP and in answers to webhooks. */
    execution: { credentials, world, idempotentCalls: new IdempotentCalls(db, logger) },
    uploads: { media: media.service, uploadBytes: media.limits.uploadBytes },
    pages: new LinkPages(db),
    views: new SavedViews(db, vault),
    users: new StaffUsers(db, vault),
    staff: new Staff({ db, vault, phones: config.staffPhones }),
    ...sharesOf(options, keyService),
    relinks: new RelinkPages({ db, vault, platforms: core.platforms, identity }),
    settings: new ReceiveSettingsService({ db, credentials }),
    diagnoses: createDiagnoses(diagnosing),
    exportUser: (userId: number) =>
      exportUser({ db, phone, identity, flush: flushEverywhere }, userId),
    eraser: eraserOf(options, flush),
  }
}

/** `heldShares` judges each access to an account of somebody else. */
function sharesOf({ storage: { db, vault }, bus }: ServicesOptions, keyService: KeyService) {
  const heldShares = new HeldShares({ db, vault, bus })
  const shares = new Shares({
    db,
    vault,
    changed: (credentialId) => heldShares.changed(credentialId),
    revoked: (credentialId, ids) => keyService.revoked(credentialId, ids),
  })
  return { heldShares, shares }
}

/** Write all that is buffered by this node, or by every node, so that the tables are complete. */
function flushes({ storage, core, nodes, bus, logger }: ServicesOptions) {
  const flush = async () => {
    await Promise.all([core.store.flush(), core.keyStore.flush(), core.webhooks.flush()])
    await Promise.all([storage.journal.flush(), storage.callLog?.flush()])
  }
  bus.on('flush', () => {
    flush().catch((err) => logger.warn({ err }, 'what another node asks for was not written'))
  })
  const flushEverywhere = async () => {
    if (!nodes.isAlone()) {
      bus.tell('flush', null)
      await pause(FLUSH_TAKES_MS)
    }
    await flush()
  }
  return { flush, flushEverywhere }
}

function keyServiceOf({ config, storage, core, accounts }: ServicesOptions, source: RecordSource) {
  return new KeyService({
    isSuspended: (userId) => accounts.suspensions.whyOf(userId) !== undefined,
    downOf: (id) => core.keys.downOf(id),
    db: storage.db,
    source,
    store: core.keyStore,
    live: (id) => core.keys.awake(id),
    gate: core.gate,
    limits: config.limits.keys,
    wake: (id) => core.webhookWaker.wake(id),
    whyOut: (credentialId) => core.supervisor.whyOut(credentialId),
    wantedChanged: (credentialId) => storage.wanted.changed(credentialId),
    now: () => core.clock.now(),
  })
}

/** Passes a file on from networks that calls are passed on to; undefined on other networks. */
const filePasser =
  (credentials: Core['supervisor']): PassFile =>
  async (credentialId, ...asked) => {
    const { capabilities } = await credentials.platformOf(credentialId)
    if (!capabilities.passesThrough) return undefined
    return (await credentials.find(credentialId)).effects.passFile(...asked)
  }

function callServicesOf({ storage, core }: ServicesOptions, downloads: Downloads): CallServices {
  const { db, journal, media } = storage
  const { supervisor: credentials } = core
  return {
    profile: profiles(core.store, core.translator, credentials),
    profileStore: profileStore(db),
    media: media.service,
    paths: downloads,
    fileIds: core.fileIds,
    pendingUpdates: (key: ApiKeyActor) => pendingUpdates(db, core.updates, key),
    dropped: (apiKeyId) => droppedUpdates(db, apiKeyId),
    whyOut: (credentialId) => credentials.whyOut(credentialId),
    skipped: (apiKeyId) => messagesSkipped(db, apiKeyId),
    webhooks: core.webhooks.calls,
    delivered: ({ facts: { userId, credentialId, apiKeyId } }, updatesDelivered) => {
      if (updatesDelivered > 0) {
        journal.count({ userId, credentialId, apiKeyId }, { updatesDelivered })
      }
    },
  }
}

/** Resolves once the owner has deleted the account. */
async function endedElsewhere(db: Database, credentialId: number): Promise<void> {
  const until = performance.now() + DELETE_MS
  while (performance.now() < until) {
    const rows = await db.query('select from credential where id = $1 and deactivated_at is null', [
      credentialId,
    ])
    if (rows.length === 0) return
    await pause(LOOK_MS)
  }
  throw failed('timeout', 'its owner did not delete the account in time')
}

function eraserOf(
  { storage, accounts, core, nodes, bus, logger }: ServicesOptions,
  flush: () => Promise<void>,
) {
  const { db, vault, media } = storage
  const eraser = new Eraser({
    db,
    vault,
    logger,
    deleteAccount: async (credentialId) => {
      try {
        const actor = await core.supervisor.find(credentialId)
        await actor.ask({ type: 'credential.delete' }, AbortSignal.timeout(DELETE_MS))
      } catch (cause) {
        if (!(cause instanceof OwnershipLost)) throw cause
        // The owner was notified.
        await endedElsewhere(db, credentialId)
      }
    },
    owns: (credentialId) => core.supervisor.factsOf(credentialId) !== undefined,
    tellOthers: async (userId) => {
      if (nodes.isAlone()) return
      bus.tell('erasing', userId)
      await pause(OTHERS_TAKE_MS)
    },
    signOut: (userId) => accounts.signOut(userId),
    endLinks: async (userId) => {
      await core.links.endAll(userId)
      // What a network does not end in this time is signed out later.
      await within(LEAVES_MS, undefined, () => core.links.signedOut(userId)).catch(() => undefined)
    },
    forgetKeys: async (userId) => {
      const keys = [...core.keys.live()].map(([, key]) => key)
      const theirs = keys.filter(({ facts }) => facts.userId === userId)
      for (const key of theirs) key.stop()
      await Promise.all(theirs.map(({ closed }) => closed))
    },
    flush,
    sweepFiles: () => media.sweep(),
  })
  bus.on('erasing', (userId) => eraser.assist(Number(userId)))
  core.links.onErased((userId) => {
    eraser
      .goOn(userId)
      .catch((err) => logger.warn({ err, userId }, 'an erasure did not go on after a sign-out'))
  })
  return eraser
}
