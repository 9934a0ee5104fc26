/** Changes receive settings: first in the table, one by one, then in the live actor. */
import type { CredentialActor } from '../../actors/credential/actor.ts'
import type { Owned } from '../../actors/ports/ports.ts'
import { failed, OwnershipLost } from '../../machines/model/failure.ts'
import type { ReceiveSettings } from '../../machines/model/happening.ts'
import { noteChange } from '../audit/log.ts'
import type { Database } from '../database/database.ts'
import { Credential } from '../database/entities.ts'
import type { CredentialRecord } from '../records/credential.ts'

type Settings = CredentialRecord['settings']
type SettingsChange = { readonly [Name in keyof Settings]?: Settings[Name] | undefined }

interface ReceiveSettingsOptions {
  readonly db: Database
  readonly credentials: {
    /** Claims it, unless it is owned already. */
    start(credentialId: number): Promise<void>
    factsOf(credentialId: number): Owned | undefined
    find(credentialId: number): Promise<CredentialActor>
    keepSettings(credentialId: number, settings: ReceiveSettings): void
  }
}

/** Concurrent changes of different settings do not overwrite each other. */
const change = `
  update credential set
    include_self_updates = coalesce($2, include_self_updates),
    include_channel_updates = coalesce($3, include_channel_updates),
    include_channel_update_recovery = coalesce($4, include_channel_update_recovery),
    include_deleted_updates = coalesce($5, include_deleted_updates)
  where id = $1 and epoch = $6 and deleting_at is null
  returning include_self_updates, include_channel_updates, include_channel_update_recovery,
            include_deleted_updates`

export class ReceiveSettingsService {
  readonly #options: ReceiveSettingsOptions
  readonly #last = new Map<number, Promise<void>>()

  constructor(options: ReceiveSettingsOptions) {
    this.#options = options
  }

  /** One after another, so that the first change in the table does not reach the actor last. */
  change(credentialId: number, wanted: SettingsChange): Promise<void> {
    const before = this.#last.get(credentialId) ?? Promise.resolve()
    const changing = before.then(
      () => this.#changeNow(credentialId, wanted),
      () => this.#changeNow(credentialId, wanted),
    )
    this.#last.set(credentialId, changing)
    return changing.finally(() => {
      if (this.#last.get(credentialId) === changing) this.#last.delete(credentialId)
    })
  }

  async #changeNow(credentialId: number, wanted: SettingsChange): Promise<void> {
    const { db, credentials } = this.#options
    await credentials.start(credentialId)
    const owned = credentials.factsOf(credentialId)
    if (!owned) throw new OwnershipLost()
    const row = await db.transaction(async (tx) => {
      const [changed] = await tx.query<Settings>(change, [
        credentialId,
        wanted.include_self_updates ?? null,
        wanted.include_channel_updates ?? null,
        wanted.include_channel_update_recovery ?? null,
        wanted.include_deleted_updates ?? null,
        owned.epoch,
      ])
      if (changed) await noteChange(tx, { after: { ...wanted } })
      return changed
    })
    if (!row) {
      const kept = { id: credentialId, deletingAt: null }
      const isKept = (await db.records((em) => em.count(Credential, kept))) > 0
      throw isKept ? new OwnershipLost() : failed('not_found')
    }
    const settings = settingsFrom(row)
    credentials.keepSettings(credentialId, settings)
    const actor = await credentials.find(credentialId)
    await actor.ask({ type: 'credential.settings', settings })
  }
}

const settingsFrom = (settings: Settings): ReceiveSettings => ({
  includeSelfUpdates: settings.include_self_updates,
  includeChannelUpdates: settings.include_channel_updates,
  includeChannelUpdateRecovery: settings.include_channel_update_recovery,
  includeDeletedUpdates: settings.include_deleted_updates,
})
