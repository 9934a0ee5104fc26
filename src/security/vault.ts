/** Seals secrets with AES-256-GCM under data keys, which are stored wrapped by a key-encryption key. */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  randomUUID,
} from 'node:crypto'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { LRUCache } from 'lru-cache'
import type { Logger } from '../../actors/ports/ports.ts'
import { makeFolder } from '../config/data-folder.ts'
import type { Database } from '../database/database.ts'
import { type SharedStatements, sharedLookup } from '../database/write-behind.ts'

const KEY_BYTES = 32
const READABLE_BY_OTHERS = 0o077

interface Kek {
  /** Derived from the key, so that the file needs no names and cannot mix them up. */
  readonly id: string
  readonly key: KeyObject
}

const kek = (key: Buffer): Kek => ({
  id: createHash('sha256').update('kek id').update(key).digest('hex').slice(0, 16),
  key: createSecretKey(key),
})

/** The file of key-encryption keys: one a line in base64, the first encrypts, all decrypt. */
async function readKeyFile(path: string, logger: Logger): Promise<readonly Kek[] | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const { mode } = await stat(path)
  if (process.platform !== 'win32' && mode & READABLE_BY_OTHERS) {
    logger.warn({ path, mode: (mode & 0o777).toString(8) }, 'the key file is open to other users')
  }
  return parseKeyFile(text)
}

function parseKeyFile(text: string): readonly Kek[] {
  const lines = text.split('\n').map((line) => line.trim())
  const keys = lines.filter((line) => line && !line.startsWith('#'))
  if (keys.length === 0) throw new Error('the key file holds no key')
  return keys.map((line, index) => {
    const key = Buffer.from(line, 'base64')
    if (key.length !== KEY_BYTES) throw new Error(`key ${index + 1} of the key file is malformed`)
    return kek(key)
  })
}

/** Never overwrites: of two nodes starting at once, one writes and the other fails. */
async function createKeyFile(path: string): Promise<readonly Kek[]> {
  const key = randomBytes(KEY_BYTES)
  await makeFolder(dirname(resolve(path)))
  await writeFile(path, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
  return [kek(key)]
}

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** Without the explicit length Node accepts tags cut to four bytes. */
const tagged = { authTagLength: TAG_BYTES }

/** nonce ‖ tag ‖ ciphertext. Node takes several times as long with a key that is a buffer. */
function encrypt(key: KeyObject, plaintext: Buffer, binding: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, nonce, tagged).setAAD(Buffer.from(binding))
  const body = Buffer.concat([cipher.update(plaintext), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), body])
}

/** Throws when anything was changed or the binding is another one. */
function decrypt(key: KeyObject, sealed: Buffer, binding: string): Buffer {
  const nonce = sealed.subarray(0, NONCE_BYTES)
  const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES)
  const decipher = createDecipheriv(ALGORITHM, key, nonce, tagged)
  decipher.setAAD(Buffer.from(binding)).setAuthTag(tag)
  const body = sealed.subarray(NONCE_BYTES + TAG_BYTES)
  return Buffer.concat([decipher.update(body), decipher.final()])
}

interface DataKey {
  readonly id: string
  readonly key: KeyObject
}

interface Row {
  readonly id: string
  readonly owner: string
  readonly kek: string
  readonly wrapped: Buffer
}

interface InUse extends DataKey {
  left: number
}

/** Random nonces are safe for 2^32 messages under one key (SP 800-38D); we stop long before. */
const MAX_SEALS = 2 ** 24
const KEYS_AT_ONCE = 200
const REWRAPPED_AT_ONCE = 500
/** Seals are counted in blocks, so that a seal is not a write. */
const BLOCK = 1024

const keyInUse = `
  update data_key set seals = seals + $2 where owner = $1 and retired_at is null
  returning id, owner, kek, wrapped, seals, created_at < now() - interval '1 year' as aged`
const addKey = `
  insert into data_key (id, owner, kek, wrapped) values ($1, $2, $3, $4)
  on conflict (owner) where retired_at is null do nothing`
const retire = `
  update data_key set retired_at = now() where id = $1 and retired_at is null`

/** The keys that secrets are sealed with: one in use for each owner, stored wrapped by a key-encryption key. */
class DataKeys {
  readonly #db: Database
  readonly #keks: readonly [Kek, ...Kek[]]
  readonly #opened = new LRUCache<string, DataKey & { readonly owner: string }>({
    maxSize: 10_000,
    sizeCalculation: () => 1,
  })
  readonly #inUse = new LRUCache<string, InUse>({ maxSize: 10_000, sizeCalculation: () => 1 })
  /** By owner: seals that come at once wait for one block instead of each reserving its own. */
  readonly #reserving = new Map<string, Promise<void>>()
  readonly #lookup: SharedStatements<string, Row | undefined>

  constructor(db: Database, keks: readonly Kek[]) {
    const [first, ...rest] = keks
    if (!first) throw new Error('there is no key-encryption key')
    this.#db = db
    this.#keks = [first, ...rest]
    // Each account has a key of its own, and a start opens them all.
    const find = (ids: readonly string[]) =>
      db.query<Row>('select * from data_key where id = any($1::uuid[])', [ids])
    this.#lookup = sharedLookup(KEYS_AT_ONCE, find, ({ id }) => id)
  }

  /** The key to seal the next secret of this owner with. */
  async toSeal(owner: string): Promise<DataKey> {
    for (;;) {
      const known = this.#inUse.get(owner)
      if (known && known.left > 0) {
        known.left--
        return known
      }
      await this.#nextBlock(owner)
    }
  }

  #nextBlock(owner: string): Promise<void> {
    const underWay = this.#reserving.get(owner)
    if (underWay) return underWay
    const reserved = this.#reserve(owner).then((key) => {
      // A key that was shredded meanwhile seals nothing more.
      if (this.#reserving.get(owner) === reserved) this.#inUse.set(owner, { ...key, left: BLOCK })
    })
    this.#reserving.set(owner, reserved)
    const ended = () => {
      if (this.#reserving.get(owner) === reserved) this.#reserving.delete(owner)
    }
    reserved.then(ended, ended)
    return reserved
  }

  /** Undefined for a key that is gone for good. */
  async toOpen(id: string): Promise<DataKey | undefined> {
    const known = this.#opened.get(id)
    if (known) return known
    const row = await this.#lookup.run(id)
    return row && this.#unwrap(row)
  }

  /** A key that is never replaced: for what must stay the same, not for sealing. */
  async forGood(owner: string): Promise<DataKey> {
    const first = 'select * from data_key where owner = $1 order by created_at, id limit 1'
    for (;;) {
      const [row] = await this.#db.query<Row>(first, [owner])
      if (row) return this.#unwrap(row)
      await this.#add(owner)
    }
  }

  /** Wraps every key anew with the first key-encryption key. Sealed data does not change. */
  async rewrap(): Promise<number> {
    const [current] = this.#keks
    const stale = 'select * from data_key where kek <> $1 order by id limit $2'
    let count = 0
    for (;;) {
      const rows = await this.#db.query<Row>(stale, [current.id, REWRAPPED_AT_ONCE])
      if (rows.length === 0) return count
      await this.#db.query(
        `update data_key set kek = $1, wrapped = fresh.wrapped
         from unnest($2::uuid[], $3::bytea[]) as fresh (id, wrapped) where data_key.id = fresh.id`,
        [
          current.id,
          rows.map(({ id }) => id),
          rows.map((row) => this.#wrap(this.#unwrap(row), row)),
        ],
      )
      count += rows.length
    }
  }

  /** Everything ever sealed for this owner becomes unreadable. */
  async shred(owner: string): Promise<void> {
    const gone = 'delete from data_key where owner = $1 returning id'
    for (const { id } of await this.#db.query<DataKey>(gone, [owner])) this.#opened.delete(id)
    this.#inUse.delete(owner)
    this.#reserving.delete(owner)
  }

  /** Its keys are gone from the table, and now from here. */
  forget(owner: string): void {
    for (const [id, key] of this.#opened.entries()) if (key.owner === owner) this.#opened.delete(id)
    this.#inUse.delete(owner)
    this.#reserving.delete(owner)
  }

  /** Throws unless every stored key can be unwrapped by the keys at hand. */
  async assertReadable(): Promise<void> {
    const sample = 'select distinct on (kek) * from data_key order by kek'
    for (const row of await this.#db.query<Row>(sample)) this.#unwrap(row)
  }

  async #reserve(owner: string): Promise<DataKey> {
    for (;;) {
      const [row] = await this.#db.query<Row & { seals: number; aged: boolean }>(keyInUse, [
        owner,
        BLOCK,
      ])
      if (row && row.seals <= MAX_SEALS && !row.aged) return this.#unwrap(row)
      if (row) await this.#db.query(retire, [row.id])
      await this.#add(owner)
    }
  }

  /** Does nothing when another node was faster. */
  async #add(owner: string): Promise<void> {
    const id = randomUUID()
    const wrapped = this.#wrap({ id, key: createSecretKey(randomBytes(32)) }, { id, owner })
    await this.#db.query(addKey, [id, owner, this.#keks[0].id, wrapped])
  }

  #wrap({ key }: DataKey, { id, owner }: Pick<Row, 'id' | 'owner'>): Buffer {
    const [kek] = this.#keks
    return encrypt(kek.key, key.export(), `${kek.id}|${id}|${owner}`)
  }

  #unwrap({ id, owner, kek: name, wrapped }: Row): DataKey {
    const known = this.#opened.get(id)
    if (known) return known
    const kek = this.#keks.find((each) => each.id === name)
    if (!kek) throw new Error(`the key file lacks the key ${name}, with which secrets are stored`)
    const key = decrypt(kek.key, wrapped, `${kek.id}|${id}|${owner}`)
    const opened = { id, owner, key: createSecretKey(key) }
    this.#opened.set(id, opened)
    return opened
  }
}

/** The table, column and row of a secret. A blob that was moved elsewhere does not open. */
export interface SecretLocation {
  readonly table: string
  readonly column: string
  readonly row: string | number
}

/** The purposes of derived keys; the same purpose always gives the same key. */
type Purpose =
  | 'otp-pepper'
  | 'phone-index'
  | 'account-index'
  | 'link-target'
  | 'file-id'
  | 'media-address'
  | 'media-digest'
  | 'node'
  | 'bus'

/** The blob was changed, moved or shredded: it can never be read again. */
export class UnreadableSecret extends Error {
  override readonly name = 'UnreadableSecret'

  /** In the same words for every cause. */
  constructor({ table, column }: SecretLocation, options?: ErrorOptions) {
    super(`the stored secret ${table}.${column} cannot be read`, options)
  }
}

/** Undefined for what can never be read. Rejects for what cannot be read now. */
export const ifReadable = <Result>(opening: Promise<Result>): Promise<Result | undefined> =>
  opening.catch((cause) => {
    if (cause instanceof UnreadableSecret) return undefined
    throw cause
  })

export interface Vault {
  /** Call it before a transaction, not within: it may need a database connection of its own. */
  seal(owner: string, place: SecretLocation, plaintext: Buffer): Promise<Buffer>
  /**
   * Rejects with `UnreadableSecret`. Rejects otherwise where its key cannot be had now: the database is away, or the key
   * file lacks a key.
   */
  open(place: SecretLocation, blob: Buffer): Promise<Buffer>
  derive(purpose: Purpose): Buffer
  /** Names of the keys in the key file, made of the keys themselves. The first one seals. */
  readonly keys: readonly string[]
  /** After a new first line in the key file: returns how many data keys were wrapped anew. */
  rewrap(): Promise<number>
  /** Makes everything sealed for this owner unreadable for good. */
  shred(owner: string): Promise<void>
  /** Calls back with each owner for whom that was done here. */
  onShred(listener: (owner: string) => void): void
  /** It was done at another node: forgets the keys that memory has. */
  forget(owner: string): void
}

interface VaultOptions {
  readonly db: Database
  /** Created at the first start; without it what is stored cannot be read any more. */
  readonly keyFile: string
  readonly logger: Logger
}

/** version ‖ data key id ‖ nonce ‖ tag ‖ ciphertext */
const VERSION = 1
const ID_END = 1 + 16
const SHORTEST = ID_END + 12 + 16

/** Refuses to start when the stored keys cannot be read. */
export async function openVault({ db, keyFile, logger }: VaultOptions): Promise<Vault> {
  const keks = await loadKeks(db, keyFile, logger)
  const keys = new DataKeys(db, keks)
  await keys.assertReadable()
  const { key: seed } = await keys.forGood('derivation')
  const listeners: ((owner: string) => void)[] = []

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
      if (blob[0] !== VERSION || blob.length < SHORTEST) throw new UnreadableSecret(place)
      const key = await keys.toOpen(uuidOf(blob.subarray(1, ID_END)))
      if (!key) throw new UnreadableSecret(place)
      try {
        return decrypt(key.key, blob.subarray(ID_END), bindingOf(place, key))
      } catch (cause) {
        throw new UnreadableSecret(place, { cause })
      }
    },
    keys: keks.map(({ id }) => id),
    derive: (purpose) => Buffer.from(hkdfSync('sha256', seed, '', `chapar v1 ${purpose}`, 32)),
    rewrap: () => keys.rewrap(),
    async shred(owner) {
      await keys.shred(owner)
      for (const listener of listeners) listener(owner)
    },
    onShred: (listener) => void listeners.push(listener),
    forget: (owner) => keys.forget(owner),
  }
}

/** A lost key file must not be replaced by a new one: that would hide the loss until the next sign-in. */
async function loadKeks(db: Database, path: string, logger: Logger): Promise<readonly Kek[]> {
  const found = await readKeyFile(path, logger)
  if (found) return found
  const [stored] = await db.query('select from data_key limit 1')
  if (stored) throw new Error(`the key file ${path} is missing, but secrets are stored under it`)
  return await createKeyFile(path)
}

function bindingOf({ table, column, row }: SecretLocation, { id }: DataKey): string {
  const parts = ['v1', table, column, String(row), id]
  if (parts.some((part) => part.includes('|'))) throw new Error('a place must not contain "|"')
  return parts.join('|')
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
