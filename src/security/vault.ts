/** Seals secrets before they are stored, and opens them only where they were stored. */
import { hkdfSync } from 'node:crypto'
import type { Database } from '../database/database.ts'
import type { Log } from '../database/log.ts'
import { type DataKey, DataKeys } from './data-keys.ts'
import { decrypt, encrypt } from './gcm.ts'
import { createKeyFile, type Kek, readKeyFile } from './key-file.ts'

/** Where a secret is stored. A blob that was moved to another place does not open. */
export interface Place {
  readonly table: string
  readonly column: string
  readonly row: string | number
}

/** What derived keys are for; the same purpose always gives the same key. */
export type Purpose =
  | 'otp-pepper'
  | 'phone-index'
  | 'account-index'
  | 'link-target'
  | 'cookie'
  | 'file-link'
  | 'file-id'
  | 'webhook-secret'
  | 'media-address'

export interface Vault {
  /** Call it before a transaction, not within: it may need a database connection of its own. */
  seal(owner: string, place: Place, plaintext: Buffer): Promise<Buffer>
  /** Rejects, always in the same words, when the blob was changed, moved or shredded. */
  open(place: Place, blob: Buffer): Promise<Buffer>
  derive(purpose: Purpose): Buffer
  /** After a new first line in the key file: returns how many data keys were wrapped anew. */
  rewrap(): Promise<number>
  /** Makes everything sealed for this owner unreadable for good. */
  shred(owner: string): Promise<void>
}

export interface VaultOptions {
  readonly db: Database
  /** Created at the first start; without it what is stored cannot be read any more. */
  readonly keyFile: string
  readonly log: Log
}

/** version ‖ data key id ‖ nonce ‖ tag ‖ ciphertext */
const VERSION = 1
const ID_END = 1 + 16
const SHORTEST = ID_END + 12 + 16

/** Refuses to start when the stored keys cannot be read. */
export async function openVault({ db, keyFile, log }: VaultOptions): Promise<Vault> {
  const keys = new DataKeys(db, await loadKeks(db, keyFile, log))
  await keys.assertReadable()
  const { key: seed } = await keys.forGood('derivation')

  return {
    async seal(owner, place, plaintext) {
      const key = await keys.toSeal(owner)
      const head = Buffer.concat([
        Buffer.of(VERSION),
        Buffer.from(key.id.replaceAll('-', ''), 'hex'),
      ])
      return Buffer.concat([head, encrypt(key.key, plaintext, bindingOf(place, key))])
    },
    async open(place, blob) {
      try {
        if (blob[0] !== VERSION || blob.length < SHORTEST) throw new Error('malformed blob')
        const key = await keys.toOpen(uuidOf(blob.subarray(1, ID_END)))
        return decrypt(key.key, blob.subarray(ID_END), bindingOf(place, key))
      } catch (cause) {
        throw new Error(`the stored secret ${place.table}.${place.column} cannot be read`, {
          cause,
        })
      }
    },
    derive: (purpose) => Buffer.from(hkdfSync('sha256', seed, '', `chapar v1 ${purpose}`, 32)),
    rewrap: () => keys.rewrap(),
    shred: (owner) => keys.shred(owner),
  }
}

/** A lost key file must not be replaced by a new one: that would hide the loss until somebody signs in. */
async function loadKeks(db: Database, path: string, log: Log): Promise<readonly Kek[]> {
  const found = await readKeyFile(path, log)
  if (found) return found
  const [stored] = await db.query('select from data_key limit 1')
  if (stored) throw new Error(`the key file ${path} is missing, but secrets are stored under it`)
  return await createKeyFile(path)
}

function bindingOf({ table, column, row }: Place, { id }: DataKey): string {
  const parts = ['v1', table, column, String(row), id]
  if (parts.some((part) => part.includes('|'))) throw new Error('a place must not contain "|"')
  return parts.join('|')
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
