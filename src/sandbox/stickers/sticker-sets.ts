/** Sticker sets as the network stores them: found by their names, their stickers by file or custom emoji. */

import { badRequest, failed } from '../../../machines/model/failure.ts'
import type { Media, StickerSet } from '../../../machines/model/media.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import { storedMedia, withFileHolds } from '../files/files.ts'
import type { Call, NetworkContext } from '../network/context.ts'

/** A sticker of a set, with the words by which people find it. */
export interface StoredSticker extends Media {
  readonly emojis?: readonly string[]
  readonly keywords?: readonly string[]
}

export interface StoredSet extends StickerSet {
  readonly type: NonNullable<StickerSet['type']>
  readonly needsRepainting: boolean
  readonly stickers: readonly StoredSticker[]
  /** The person whose set it is, and the one who may change it. Absent for a set of the routes. */
  readonly owner: number | null
  readonly creator: number | null
  /** They hold the files of the stickers in the media store. */
  readonly holders: readonly string[]
}

interface NewStickerSet {
  readonly name: string
  readonly title: string
  /** Each with its emoji. */
  readonly stickers: readonly (Media & { readonly emoji: string })[]
}

export class StickerSets {
  readonly #context: NetworkContext

  constructor(context: NetworkContext) {
    this.#context = context
  }

  async create({ name, title, stickers: given }: NewStickerSet): Promise<StickerSet> {
    if (given.some(({ kind }) => kind !== 'sticker')) throw badRequest('wrong file type')
    const holder = `sandbox:stickers:${crypto.randomUUID()}`
    const { capacity, network } = this.#context
    const make = () =>
      withFileHolds(this.#context, [holder], async () => {
        const stickers: StoredSticker[] = []
        for (const sticker of given) {
          // The database takes no half surrogate pairs.
          const known = { emoji: sticker.emoji.toWellFormed(), setName: name }
          const stored = await storedMedia(this.#context, { ...sticker, ...known }, holder)
          stickers.push({ ...stored, ...known, emojis: [known.emoji], keywords: [] })
        }
        const set = { name, title, type: 'regular' as const, stickers }
        const origin = { needsRepainting: false, owner: null, creator: null, holders: [holder] }
        await this.#context.db.transaction((tx) => insertSet(tx, network, { ...set, ...origin }))
        return set
      })
    return capacity.reserve(network, 1, make)
  }

  async get(name: string): Promise<StoredSet> {
    const found = await findStickerSet(this.#context, name)
    if (!found) throw failed('not_found', '')
    return found
  }

  /** All sets of the network, by their names. */
  list(): Promise<StoredSet[]> {
    const { db, network } = this.#context
    return db.query<StoredSet>(`${reading} where user_id = $1 order by lower(name) limit 1000`, [
      network,
    ])
  }
}

export async function stickerSet(
  { context }: Call,
  { name }: OperationOf<'sticker_set'>,
): Promise<OperationResult> {
  const set = await findStickerSet(context, name)
  if (!set) throw badRequest('STICKERSET_INVALID')
  return { kind: 'stickers', set }
}

export async function customEmoji(
  { context: { db, network } }: Call,
  { ids }: OperationOf<'custom_emoji'>,
): Promise<OperationResult> {
  const rows = await db.query<{ sticker: Media }>(
    `select sticker from sandbox_sticker_set, jsonb_array_elements(stickers) as s (sticker)
     where user_id = $1 and type = 'custom_emoji' and sticker ->> 'customEmojiId' = any($2)`,
    [network, ids],
  )
  return { kind: 'sticker_list', stickers: rows.map(({ sticker }) => sticker) }
}

/** Custom emoji sets of this name, whichever bot made them, are the icons of topics. */
export async function topicIcons({ context: { db, network } }: Call): Promise<OperationResult> {
  const rows = await db.query<StoredSet>(
    `${reading} where user_id = $1 and type = 'custom_emoji'
       and lower(name) like 'topicicons\\_by\\_%' order by lower(name)`,
    [network],
  )
  return { kind: 'sticker_list', stickers: rows.flatMap(({ stickers }) => stickers) }
}

const reading = `select name, title, stickers, type, thumbnail, holders, owner_id as owner,
  creator_id as creator, needs_repainting as "needsRepainting" from sandbox_sticker_set`

/** Names are compared without regard to letter case. */
export async function findStickerSet(
  { db, network }: { readonly db: Queryable; readonly network: number },
  name: string,
): Promise<StoredSet | undefined> {
  const [found] = await db.query<StoredSet>(
    `${reading} where user_id = $1 and lower(name) = lower($2)`,
    [network, name],
  )
  return found && shown(found)
}

/** Locks the set until the end of the transaction. */
export async function lockSet(
  tx: Queryable,
  network: number,
  { name, sticker }: { readonly name?: string; readonly sticker?: string },
): Promise<StoredSet | undefined> {
  const [found] = await tx.query<StoredSet>(
    `${reading} where user_id = $1 and ($2::text is null or lower(name) = lower($2))
       and ($3::jsonb is null or stickers @> $3) limit 1 for update`,
    [network, name ?? null, sticker ? JSON.stringify([{ file: { native: sticker } }]) : null],
  )
  return found && shown(found)
}

/** A set without a thumbnail has no such member. */
function shown({ thumbnail, ...set }: StoredSet): StoredSet {
  return { ...set, ...(thumbnail && { thumbnail }) }
}

export async function insertSet(tx: Queryable, network: number, set: StoredSet): Promise<void> {
  const rows = await tx.query(
    `insert into sandbox_sticker_set
       (user_id, name, title, stickers, type, needs_repainting, owner_id, creator_id, holders)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing returning name`,
    [
      ...[network, set.name, set.title, JSON.stringify(set.stickers), set.type],
      ...[set.needsRepainting, set.owner, set.creator, set.holders],
    ],
  )
  if (rows.length === 0) throw badRequest('sticker set name is already occupied')
  await updateFiles(tx, network, set.name, set.stickers)
}

export async function saveSet(
  tx: Queryable,
  network: number,
  set: StoredSet,
  changed: readonly StoredSticker[],
): Promise<void> {
  await tx.query(
    `update sandbox_sticker_set set title = $3, stickers = $4, thumbnail = $5, holders = $6
     where user_id = $1 and name = $2`,
    [
      ...[network, set.name, set.title, JSON.stringify(set.stickers)],
      ...[set.thumbnail ? JSON.stringify(set.thumbnail) : null, set.holders],
    ],
  )
  await updateFiles(tx, network, set.name, changed)
}

export async function removeSet(tx: Queryable, network: number, set: StoredSet): Promise<void> {
  await tx.query('delete from sandbox_sticker_set where user_id = $1 and name = $2', [
    network,
    set.name,
  ])
  await tx.query(
    'update sandbox_chat set sticker_set = null where user_id = $1 and sticker_set = $2',
    [network, set.name],
  )
  await updateFiles(tx, network, set.name, set.stickers)
}

/** A file that is sent by its name is a sticker of a set that has it, of this one first. */
async function updateFiles(
  tx: Queryable,
  network: number,
  name: string,
  stickers: readonly StoredSticker[],
): Promise<void> {
  const natives = stickers.map(({ file }) => ('native' in file ? file.native : file.blob))
  await tx.query(
    `update sandbox_file f set media = coalesce((
       select sticker - '{emojis,keywords}'::text[]
       from sandbox_sticker_set t, jsonb_array_elements(t.stickers) as s (sticker)
       where t.user_id = $1 and sticker -> 'file' ->> 'native' = f.native
       order by t.name = $3 desc limit 1
     ), f.media - '{setName,unique,stickerType,mask,customEmojiId,needsRepainting}'::text[])
     where f.user_id = $1 and f.kind = 'sticker' and f.native = any($2)`,
    [network, natives, name],
  )
}
