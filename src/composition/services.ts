/** Builds what routes and webhooks call: services over the actors and the storage. */
import type { ApiKeyActor } from '../../actors/api-key/actor.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { IdempotentCalls } from '../bot-api/idempotency.ts'
import type { CallServices } from '../bot-api/method.ts'
import { profileStore, profiles } from '../bot-api/methods/profile.ts'
import { RelinkPages } from '../bulk/relinks.ts'
import { SavedViews } from '../bulk/views.ts'
import type { Config } from '../config/config.ts'
import { AccountNames } from '../credentials/identity.ts'
import { ReceiveSettingsService } from '../credentials/receive-settings.ts'
import type { RecordSource } from '../credentials/records.ts'
import { createDiagnoses } from '../diagnosis/diagnoses.ts'
import type { PassFile } from '../http/files.ts'
import { KeyService } from '../keys/service.ts'
import { droppedUpdates, messagesSkipped, pendingUpdates } from '../keys/waiting.ts'
import { LinkPages } from '../links/flows.ts'
import { Downloads } from '../media/downloads.ts'
import type { Logger } from '../observability/log.ts'
import { Eraser } from '../privacy/erase.ts'
import { exportUser } from '../privacy/export.ts'
import type { Core } from './core.ts'
import type { Storage } from './storage.ts'

/** Time for signing out an account that is deleted with its user. */
const DELETE_MS = 25_000

interface ServicesOptions {
  readonly config: Config
  readonly storage: Storage
  readonly accounts: Accounts
  readonly core: Core
  readonly logger: Logger
}

export type Services = ReturnType<typeof createServices>

export function createServices(options: ServicesOptions) {
  const { config, storage, accounts, core, logger } = options
  const { db, journal, media } = storage
  const { supervisor: credentials, webhooks } = core
  /** Writes all that is buffered, so that the tables are complete. */
  const flush = async () => {
    await Promise.all([core.store.flush(), core.keyStore.flush(), webhooks.flush()])
    await journal.flush()
  }
  const accountId = (credentialId: number, native: string) =>
    core.translator.idOf(credentialId, native, credentials.factsOf(credentialId))
  const source: RecordSource = {
    db,
    flush: () => core.store.flush(),
    accountId,
    identity: (row) => core.store.identityOf(row),
    names: new AccountNames(db, (row) => core.store.identityOf(row)),
  }
  const keyService = new KeyService({
    downOf: (id) => core.keys.downOf(id),
    db,
    store: core.keyStore,
    live: (id) => core.keys.awake(id),
    gate: core.gate,
    limits: config.limits.keys,
    wake: (id) => core.roster.wake(id),
    whyOut: (credentialId) => credentials.whyOut(credentialId),
    wantedChanged: (credentialId) => storage.wanted.changed(credentialId),
    now: () => core.clock.now(),
  })
  const downloads = new Downloads({
    rows: media.paths,
    service: media.service,
    limit: media.limits.downloadBytes,
    download: async (credentialId, native, offset, signal) =>
      (await credentials.find(credentialId)).effects.download(native, offset, signal),
  })
  /** A file of a network that calls are passed on to; undefined on other networks. */
  const passFile: PassFile = async (credentialId, ...asked) => {
    const { capabilities } = await credentials.platformOf(credentialId)
    if (!capabilities.passesThrough) return undefined
    return (await credentials.find(credentialId)).effects.passFile(...asked)
  }
  const calls: CallServices = {
    profile: profiles(core.store, core.translator, credentials),
    profileStore: profileStore(db),
    media: media.service,
    paths: downloads,
    fileIds: core.fileIds,
    pendingUpdates: (key: ApiKeyActor) => pendingUpdates(db, core.updates, key),
    dropped: (apiKeyId) => droppedUpdates(db, apiKeyId),
    whyOut: (credentialId) => credentials.whyOut(credentialId),
    skipped: (apiKeyId) => messagesSkipped(db, apiKeyId),
    webhooks: webhooks.calls,
    delivered: ({ facts: { userId, credentialId, apiKeyId } }, updatesDelivered) => {
      if (updatesDelivered > 0) {
        journal.count({ userId, credentialId, apiKeyId }, { updatesDelivered })
      }
    },
  }
  const phone = async (userId: number) => (await accounts.user(userId)).phone
  return {
    source,
    keyService,
    downloads,
    passFile,
    downloadBytes: media.limits.downloadBytes,
    flush,
    /** How calls of bots are executed, over HTTP and in answers to webhooks. */
    execution: {
      credentials,
      world: calls,
      idempotentCalls: new IdempotentCalls(db, logger),
    },
    uploads: { media: media.service, uploadBytes: media.limits.uploadBytes },
    pages: new LinkPages(db),
    views: new SavedViews(db, storage.vault),
    relinks: new RelinkPages({
      db,
      vault: storage.vault,
      platforms: core.platforms,
      identity: source.identity,
    }),
    settings: new ReceiveSettingsService({ db, credentials }),
    diagnoses: createDiagnoses({
      core,
      db,
      logger,
      config,
      keyService,
      source,
      journal,
      profile: calls.profile,
    }),
    exportUser: (userId: number) =>
      exportUser({ db, phone, identity: source.identity, flush }, userId),
    eraser: eraserOf(options, flush),
  }
}

function eraserOf(
  { storage, accounts, core, logger }: ServicesOptions,
  flush: () => Promise<void>,
) {
  const { db, vault, media } = storage
  return new Eraser({
    db,
    vault,
    logger,
    deleteAccount: async (credentialId) => {
      const actor = await core.supervisor.find(credentialId)
      await actor.ask({ type: 'credential.delete' }, AbortSignal.timeout(DELETE_MS))
    },
    signOut: (userId) => accounts.signOut(userId),
    endLinks: (userId) => core.links.endAll(userId),
    forgetKeys: async (userId) => {
      const keys = [...core.keys.live()].map(([, key]) => key)
      const theirs = keys.filter(({ facts }) => facts.userId === userId)
      for (const key of theirs) key.stop()
      await Promise.all(theirs.map(({ closed }) => closed))
    },
    flush,
    sweepFiles: () => media.sweep(),
  })
}
