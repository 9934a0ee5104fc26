/** Sticker sets: people make them once and find them by their names. */

import type { Media, StickerSet } from '../../../machines/model/content.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { Queryable } from '../../database/database.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import { storedMedia, withFileHolds } from './files.ts'

interface NewStickerSet {
  readonly name: string
  readonly title: string
  /** Each with its emoji. */
  readonly stickers: readonly (Media & { readonly emoji: string })[]
}

const bad = (description: string) => failed('bad_request', description)

export class StickerSets {
  readonly #context: NetworkContext

  constructor(context: NetworkContext) {
    this.#context = context
  }

  async create({ name, title, stickers: given }: NewStickerSet): Promise<StickerSet> {
    if (given.some(({ kind }) => kind !== 'sticker')) throw bad('wrong file type')
    const holder = `stickers:${crypto.randomUUID()}`
    const { capacity, network } = this.#context
    const make = () =>
      withFileHolds(this.#context, [holder], async () => {
        const stickers: Media[] = []
        for (const sticker of given) {
          // The database takes no half surrogate pairs.
          const known = { emoji: sticker.emoji.toWellFormed(), setName: name }
          const stored = await storedMedia(this.#context, { ...sticker, ...known }, holder)
          stickers.push({ ...stored, ...known })
        }
        const set = { name, title, stickers }
        await this.#context.db.transaction((tx) => store(tx, this.#context.network, set))
        return set
      })
    return capacity.reserve(network, 1, make)
  }

  async get(name: string): Promise<StickerSet> {
    const found = await findStickerSet(this.#context, name)
    if (!found) throw failed('not_found', '')
    return found
  }
}

export async function stickerSet(
  { context }: Call,
  { name }: OperationOf<'sticker_set'>,
): Promise<OperationResult> {
  const set = await findStickerSet(context, name)
  if (!set) throw bad('STICKERSET_INVALID')
  return { kind: 'stickers', set }
}

/** Names are the same whatever their letter case. */
async function findStickerSet(
  { db, network }: Pick<NetworkContext, 'db' | 'network'>,
  name: string,
): Promise<StickerSet | undefined> {
  const [found] = await db.query<StickerSet>(
    `select name, title, stickers from sandbox_sticker_set
     where user_id = $1 and lower(name) = lower($2)`,
    [network, name],
  )
  return found
}

/** From now on these files, sent by their names, are stickers of this set. */
async function store(
  tx: Queryable,
  network: number,
  { name, title, stickers }: StickerSet,
): Promise<void> {
  const rows = await tx.query(
    `insert into sandbox_sticker_set (user_id, name, title, stickers) values ($1, $2, $3, $4)
     on conflict do nothing returning name`,
    [network, name, title, JSON.stringify(stickers)],
  )
  if (rows.length === 0) throw bad('sticker set name is already occupied')
  await tx.query(
    `update sandbox_file f set media = sticker.media
     from jsonb_array_elements($1::jsonb) as sticker (media)
     where f.user_id = $2 and f.kind = 'sticker'
       and f.native = sticker.media -> 'file' ->> 'native'`,
    [JSON.stringify(stickers), network],
  )
}
