/** The library's storage of a session: keys in the account's secrets, counters in its checkpoint, peers in tables. */
import type {
  IAuthKeysRepository,
  IKeyValueRepository,
  IStorageDriver,
  ITelegramStorageProvider,
} from '@mtcute/core'
import type { Json } from '../../../../machines/model/protocol.ts'
import { fieldsOf } from '../../kit/platform.ts'
import type { PeerStorage } from './peers.ts'
import { UpdateState } from './update-state.ts'

const HOME = 'dc_main'

interface StorageOptions {
  readonly secrets?: TelegramSecrets
  readonly state: UpdateState
  readonly peers: PeerStorage
  /** Whether the key of this data centre stays, although the network does not know it and asks for another one. */
  keepsKey?(centre: number): boolean
  /** Resolves once the changed secrets are stored. */
  keysChanged?(secrets: TelegramSecrets): Promise<void>
  /** Called when the counters cover every update that the library has reported. */
  saved?(): Promise<void>
  /** Peers could not be written: the write is tried again, and updates are reported all the same. */
  unsaved?(cause: unknown): void
}

export class SessionStorage implements ITelegramStorageProvider {
  readonly driver: IStorageDriver
  readonly kv: IKeyValueRepository
  readonly authKeys: IAuthKeysRepository
  readonly peers: ITelegramStorageProvider['peers']
  readonly refMessages: ITelegramStorageProvider['refMessages']
  readonly #options: StorageOptions
  readonly #keys = new Map<number, Uint8Array>()
  readonly #values = new Map<string, Uint8Array>()

  constructor(options: StorageOptions) {
    this.#options = options
    const { secrets, state, peers } = options
    for (const [centre, key] of Object.entries(secrets?.keys ?? {})) {
      this.#keys.set(Number(centre), Buffer.from(key, 'base64'))
    }
    if (secrets?.home !== undefined) this.#values.set(HOME, Buffer.from(secrets.home, 'base64'))
    this.peers = peers.peers
    this.refMessages = peers.refMessages
    this.driver = {
      save: async () => {
        // After a rejection the library would discard the updates that it is about to report.
        await peers.flush().catch((cause) => options.unsaved?.(cause))
        await options.saved?.()
      },
    }
    this.kv = {
      get: (key) => (UpdateState.isAbout(key) ? state.get(key) : (this.#values.get(key) ?? null)),
      set: (key, value) => {
        if (UpdateState.isAbout(key)) return state.set(key, value)
        // A data centre that is out of order may send an account elsewhere: there it is signed out.
        if (key === HOME && options.keepsKey && !this.#keys.has(centreOf(value))) return
        this.#values.set(key, value)
        return key === HOME ? this.#tell() : undefined
      },
      delete: (key) => {
        this.#values.delete(key)
      },
      deleteAll: () => this.#values.clear(),
    }
    this.authKeys = this.#authKeys()
  }

  get secrets(): TelegramSecrets {
    const keys = [...this.#keys].map(([centre, key]) => [`${centre}`, base64(key)])
    const home = this.#values.get(HOME)
    return { keys: Object.fromEntries(keys), ...(home && { home: base64(home) }) }
  }

  #authKeys(): IAuthKeysRepository {
    return {
      get: (centre) => this.#keys.get(centre) ?? null,
      set: async (centre, key) => {
        if (this.#options.keepsKey?.(centre)) return
        if (key) this.#keys.set(centre, key)
        else this.#keys.delete(centre)
        await this.#tell()
      },
      deleteByDc: async (centre) => {
        if (this.#keys.delete(centre)) await this.#tell()
      },
      deleteAll: async () => {
        this.#keys.clear()
        await this.#tell()
      },
      // Temporary keys are not used.
      getTemp: () => null,
      setTemp: () => undefined,
    }
  }

  async #tell(): Promise<void> {
    await this.#options.keysChanged?.(this.secrets)
  }
}

/** In the library's encoding the number stands behind a version. */
const centreOf = (home: Uint8Array) => home[1] ?? 0

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

export interface TelegramSecrets {
  /** Keys by the number of their data centre, in base64. */
  readonly keys: Readonly<Record<string, string>>
  /** The account's own data centre, in the library's encoding; absent: the default one. */
  readonly home?: string
}

/** Undefined if the stored value is not that of a link. */
export function parseSecrets(stored: Json | undefined): TelegramSecrets | undefined {
  const { keys, home } = fieldsOf(stored)
  const named = Object.entries(fieldsOf(keys))
  if (named.length === 0 || !named.every(([, key]) => isKey(key))) return undefined
  return {
    keys: Object.fromEntries(named) as Record<string, string>,
    ...(typeof home === 'string' && { home }),
  }
}

const KEY_BYTES = 256
const isKey = (key: Json) =>
  typeof key === 'string' && Buffer.from(key, 'base64').length === KEY_BYTES
