/** The person who made a sticker set changes it: adds, replaces, moves and removes stickers, and their words. */
import { randomInt } from 'node:crypto'
import { badRequest, notFound } from '../../../machines/model/failure.ts'
import type { MaskPosition, Media } from '../../../machines/model/media.ts'
import type { OperationOf, OperationResult } from '../../../machines/model/operation.ts'
import type { NewSticker, StickerFormat } from '../../../machines/model/operation-stickers.ts'
import type { Queryable } from '../../database/database.ts'
import { parseChatId } from '../delivery/mapping.ts'
import { releaseFiles, storedMedia, withFileHolds } from '../files/files.ts'
import type { Call, NetworkContext } from '../network/context.ts'
import {
  insertSet,
  lockSet,
  removeSet,
  type StoredSet,
  type StoredSticker,
  saveSet,
} from './sticker-sets.ts'

/** The limits of the reference. */
const MOST_AT_ONCE = 50
const MOST = { regular: 120, mask: 120, custom_emoji: 200 } as const
const BYTES: Readonly<Record<StickerFormat, number>> = {
  static: 524_288,
  animated: 65_536,
  video: 262_144,
}
const KEYWORDS = 20
const KEYWORDS_LENGTH = 64
const TITLE_LENGTH = 64

const MISMATCH: Readonly<Record<StickerFormat, string>> = {
  static: 'STICKER_PNG_NOPNG',
  animated: 'STICKER_TGS_NOTGS',
  video: 'STICKER_VIDEO_NOWEBM',
}

const done: OperationResult = { kind: 'done' }
const newHolder = () => `sandbox:stickers:${crypto.randomUUID()}`

/** The file can be named in a set later; nothing else happens. */
export async function uploadSticker(
  { context }: Call,
  { person, media, format }: OperationOf<'upload_sticker'>,
): Promise<OperationResult> {
  await ownerOf(context, person)
  const holder = newHolder()
  return withFileHolds(context, [holder], async () => {
    const stored = await storedSticker(context, { media, format }, holder)
    return { kind: 'file', media: stored }
  })
}

export async function createStickerSet(
  { context, by: { person: creator } }: Call,
  operation: OperationOf<'create_sticker_set'>,
): Promise<OperationResult> {
  const { name, type, needsRepainting, stickers: given } = operation
  const owner = await ownerOf(context, operation.person)
  const title = titleOf(operation.title)
  await assertName(context, creator, name)
  if (given.length === 0) throw badRequest('STICKERS_EMPTY')
  if (given.length > MOST_AT_ONCE) throw badRequest('too many stickers specified')
  const holder = newHolder()
  const set = { name, title, type, needsRepainting, owner, creator, holders: [holder] }
  await withFileHolds(context, [holder], async () => {
    const stickers: StoredSticker[] = []
    for (const sticker of given) stickers.push(await stickerFor(context, set, sticker, holder))
    await context.db.transaction((tx) => insertSet(tx, context.network, { ...set, stickers }))
  })
  return done
}

export async function editStickerSet(
  call: Call,
  { name, person, change }: OperationOf<'edit_sticker_set'>,
): Promise<OperationResult> {
  const { context } = call
  // As in the reference, anybody may be named in the owner's place, as long as they exist.
  if (person !== undefined) await ownerOf(context, person)
  const own = (set: StoredSet | undefined) => assertOwn(call, set)
  const holder = newHolder()
  if (change.do === 'delete') {
    const removed = await context.db.transaction(async (tx) => {
      const set = own(await lockSet(tx, context.network, { name }))
      await removeSet(tx, context.network, set)
      return set
    })
    for (const held of removed.holders) await releaseFiles(context, held)
    return done
  }
  return withFileHolds(context, [holder], async () => {
    const after = await changeSet(context, { name }, own, async (set) => {
      switch (change.do) {
        case 'add':
          return withAdded(context, set, change.sticker, holder)
        case 'replace':
          return withReplaced(context, set, change, holder)
        case 'title':
          return { ...set, title: titleOf(change.title) }
        case 'thumbnail':
          return withThumbnail(context, set, change, holder)
        case 'emoji_thumbnail':
          return withEmojiThumbnail(set, change.customEmojiId)
      }
    })
    if (!after.holders.includes(holder)) await releaseFiles(context, holder)
    return done
  })
}

export async function editSticker(
  call: Call,
  { sticker, change }: OperationOf<'edit_sticker'>,
): Promise<OperationResult> {
  const native = nativeOf(sticker)
  const own = (set: StoredSet | undefined) => assertOwn(call, set)
  const named = { sticker: native, ...inSet(sticker) }
  await changeSet(call.context, named, own, async (set) => {
    // A set may hold equal stickers: the first of them is meant.
    const found = set.stickers.find((one) => nativeOf(one) === native)!
    const others = set.stickers.filter((one) => one !== found)
    const kept = (changed: StoredSticker) => ({
      ...set,
      stickers: set.stickers.map((one) => (one === found ? changed : one)),
    })
    switch (change.do) {
      case 'move': {
        if (change.position < 0) throw badRequest('STICKER_POSITION_INVALID')
        return { ...set, stickers: others.toSpliced(change.position, 0, found) }
      }
      case 'remove':
        return { ...set, stickers: others }
      case 'emojis':
        return kept({ ...found, ...emojisOf(change.emojis) })
      case 'keywords':
        if (set.type === 'mask') throw badRequest('STICKERSET_INVALID')
        return kept({ ...found, keywords: keywordsOf(change.keywords) })
      case 'mask': {
        if (set.type !== 'mask') throw badRequest('STICKER_MASK_COORDS_NOT_SUPPORTED')
        const { mask: _, ...bare } = found
        return kept({ ...bare, ...(change.mask && { mask: change.mask }) })
      }
    }
  })
  return done
}

/** Runs `change` with the locked set and stores the set that it resolves with. */
async function changeSet(
  { db, network }: NetworkContext,
  named: Parameters<typeof lockSet>[2],
  own: (set: StoredSet | undefined) => StoredSet,
  change: (set: StoredSet) => Promise<StoredSet>,
): Promise<StoredSet> {
  return db.transaction(async (tx) => {
    const before = own(await lockSet(tx, network, named))
    const after = await change(before)
    const kept = new Set(before.stickers.filter((sticker) => after.stickers.includes(sticker)))
    const changed = [...before.stickers, ...after.stickers].filter((sticker) => !kept.has(sticker))
    await saveSet(tx, network, after, changed)
    return after
  })
}

async function withAdded(
  context: NetworkContext,
  set: StoredSet,
  given: NewSticker,
  holder: string,
): Promise<StoredSet> {
  const sticker = await stickerFor(context, set, given, holder)
  // The same sticker once more changes nothing.
  if (set.stickers.some((one) => nativeOf(one) === nativeOf(sticker))) return set
  if (set.stickers.length >= MOST[set.type]) throw badRequest('STICKERS_TOO_MUCH')
  return { ...set, stickers: [...set.stickers, sticker], holders: [...set.holders, holder] }
}

async function withReplaced(
  context: NetworkContext,
  set: StoredSet,
  { old, sticker: given }: { readonly old: Media; readonly sticker: NewSticker },
  holder: string,
): Promise<StoredSet> {
  const place = set.stickers.findIndex((one) => nativeOf(one) === nativeOf(old))
  if (place < 0) throw badRequest('STICKER_INVALID')
  const sticker = await stickerFor(context, set, given, holder)
  const others = set.stickers.filter(
    (one, index) => index !== place && nativeOf(one) !== nativeOf(sticker),
  )
  return {
    ...set,
    stickers: others.toSpliced(place, 0, sticker),
    holders: [...set.holders, holder],
  }
}

async function withThumbnail(
  context: NetworkContext,
  { thumbnail: _, ...set }: StoredSet,
  { thumbnail, format }: { readonly thumbnail?: Media; readonly format?: StickerFormat },
  holder: string,
): Promise<StoredSet> {
  if (set.type === 'custom_emoji') throw badRequest('STICKERSET_INVALID')
  if (!thumbnail) return set
  const media = { media: thumbnail, ...(format && { format }) }
  const stored = await storedSticker(context, media, holder)
  return { ...set, thumbnail: stored, holders: [...set.holders, holder] }
}

function withEmojiThumbnail({ thumbnail: _, ...set }: StoredSet, id?: string): StoredSet {
  if (set.type !== 'custom_emoji') throw badRequest('STICKERSET_INVALID')
  if (id === undefined) return set
  const thumbnail = set.stickers.find(({ customEmojiId }) => customEmojiId === id)
  if (!thumbnail) throw badRequest('STICKER_INVALID')
  return { ...set, thumbnail }
}

/** The sticker as a member of the set: what it was in another set is left behind. */
async function stickerFor(
  context: NetworkContext,
  { name, type, needsRepainting }: Pick<StoredSet, 'name' | 'type' | 'needsRepainting'>,
  given: NewSticker,
  holder: string,
): Promise<StoredSticker> {
  const stored = await storedSticker(context, given, holder)
  const { mask: _, customEmojiId: __, needsRepainting: ___, stickerType: ____, ...bare } = stored
  return {
    ...bare,
    setName: name,
    unique: `${nativeOf(stored)}:${name}`,
    ...emojisOf(given.emojis),
    keywords: type === 'mask' ? [] : keywordsOf(given.keywords),
    ...(type !== 'regular' && { stickerType: type }),
    ...maskOf(type === 'mask' ? given.mask : undefined),
    ...(type === 'custom_emoji' && { customEmojiId: newEmojiId(), needsRepainting }),
  }
}

const maskOf = (mask: MaskPosition | undefined) => (mask ? { mask } : {})

async function storedSticker(
  context: NetworkContext,
  { media, format }: { readonly media: Media; readonly format?: StickerFormat },
  holder: string,
): Promise<Media> {
  if (media.kind !== 'sticker') throw badRequest('wrong file type')
  const stored = await storedMedia(context, media, holder)
  const own = formatOf(stored)
  if (format !== undefined && format !== own) throw badRequest(MISMATCH[format])
  if ((stored.size ?? 0) > BYTES[own]) throw badRequest('STICKER_FILE_TOO_BIG')
  return stored
}

function formatOf({ mime }: Media): StickerFormat {
  if (mime === 'application/x-tgsticker') return 'animated'
  return mime === 'video/webm' ? 'video' : 'static'
}

function emojisOf(given: readonly string[]) {
  const emojis = given.map((emoji) => emoji.toWellFormed())
  const [emoji] = emojis
  if (emoji === undefined) throw badRequest('STICKER_EMOJI_INVALID')
  return { emoji, emojis }
}

function keywordsOf(given: readonly string[]): readonly string[] {
  const keywords = given.map((keyword) => keyword.trim().toWellFormed()).filter(Boolean)
  const length = keywords.reduce((sum, keyword) => sum + [...keyword].length, 0)
  if (keywords.length > KEYWORDS || length > KEYWORDS_LENGTH) throw badRequest('KEYWORDS_TOO_LONG')
  return keywords
}

function titleOf(given: string): string {
  const title = given.trim().toWellFormed()
  if (title === '' || [...title].length > TITLE_LENGTH) {
    throw badRequest('invalid sticker set title is specified')
  }
  return title
}

/** Sets of a bot end with its name, so that each bot has names of its own. */
async function assertName({ db }: { readonly db: Queryable }, creator: number, name: string) {
  const [row] = await db.query<{ username: string | null }>(
    'select username from sandbox_person where id = $1',
    [creator],
  )
  const suffix = `_by_${row?.username ?? `user${creator}`}`.toLowerCase()
  const isForm = /^[A-Za-z][A-Za-z0-9_]{0,63}$/.test(name) && !name.includes('__')
  if (!isForm || !name.toLowerCase().endsWith(suffix)) {
    throw badRequest('invalid sticker set name is specified')
  }
}

/** The caller gets the same answer for a missing set and for a set of another owner. */
function assertOwn({ by: { person } }: Call, set: StoredSet | undefined): StoredSet {
  if (!set || set.creator !== person) throw badRequest('STICKERSET_INVALID')
  return set
}

async function ownerOf({ db, network }: NetworkContext, person: string): Promise<number> {
  const id = parseChatId(person)
  const [known] = await db.query('select from sandbox_person where id = $1 and user_id = $2', [
    id,
    network,
  ])
  if (!known) throw notFound('user')
  return id
}

/** The same file may be in several sets: the sticker of each set has a name of its own for it. */
function inSet({ unique = '' }: Media): { readonly name?: string } {
  const [, name] = unique.split(':')
  return name === undefined ? {} : { name }
}

const nativeOf = ({ file }: Media) => ('native' in file ? file.native : file.blob)

/** A positive 64-bit number. */
const newEmojiId = () => `5${randomInt(1e9).toString().padStart(9, '0')}${randomInt(1e8, 1e9)}`
