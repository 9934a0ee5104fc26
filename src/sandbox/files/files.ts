/** Files: the gateway's media store keeps their bytes, and the name of a blob is the native name of the file. */

import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { addAbortSignal } from 'node:stream'
import type { FileStream } from '../../../actors/ports/platform.ts'
import type { Content } from '../../../machines/model/content.ts'
import { failed, RequestFailed } from '../../../machines/model/failure.ts'
import type { FileRef, Media } from '../../../machines/model/media.ts'
import type { Range } from '../../media/media.ts'
import { webStream } from '../../media/web-stream.ts'
import type { NetworkContext, Services } from '../network/context.ts'

type Files = Pick<NetworkContext, 'network' | 'db' | 'media'>
type Holding = Pick<Services, 'media' | 'logger'>

/** The kinds of content that may carry files. */
const WITH_FILES: readonly Content['kind'][] = ['media', 'rich', 'paid_media', 'poll', 'game']

export const mayHaveFiles = ({ kind }: Pick<Content, 'kind'>): boolean => WITH_FILES.includes(kind)

/** The same as a condition on the column `content`. */
export const mayHaveFilesSql = `content ->> 'kind' in (${WITH_FILES.map((kind) => `'${kind}'`)})`

const wrongFile = (options?: ErrorOptions) =>
  failed('bad_request', 'wrong file identifier/HTTP URL specified', {}, options)

/** Resolves with the media as messages carry it: with native names, and held for `holder`. */
export async function storedMedia(
  files: Files,
  { live, cover, startSeconds, ...media }: Media,
  holder: string,
): Promise<Media> {
  return {
    ...(await storedFile(files, media, holder)),
    ...(live && { live: await storedFile(files, live, holder) }),
    ...(cover && { cover: await storedFile(files, cover, holder) }),
    ...(startSeconds !== undefined && { startSeconds }),
  }
}

async function storedFile(files: Files, media: Media, holder: string): Promise<Media> {
  const known = 'native' in media.file ? await find(files, media) : named(media)
  if (!known) throw wrongFile()
  await files.media.hold(asBlobs(known), holder).catch(missing)
  if ('blob' in media.file) await register(files, known)
  return known
}

/** The bytes of a file that was sent at least once in this network. */
export async function openFile(
  { network, db, media }: Files,
  native: string,
  range: Range,
  signal: AbortSignal,
): Promise<FileStream> {
  const [known] = await db.query<{ name: string | null }>(
    `select media->>'name' as name from sandbox_file where user_id = $1 and native = $2
     order by kind = 'thumbnail' limit 1`,
    [network, native],
  )
  if (!known) throw wrongFile()
  const { stream, size } = await media.open(native, range).catch(missing)
  const { name } = known
  return { stream: webStream(addAbortSignal(signal, stream)), size, ...(name && { name }) }
}

/** A file that was sent once can be sent again by its name. Any size of a photo stands for the whole photo. */
async function register({ network, db }: Files, media: Media): Promise<void> {
  const { thumbnail, sizes = [] } = media
  const rows = [
    { native: nativeIn(media.file), kind: media.kind, media },
    ...sizes.map(({ file }) => ({ native: nativeIn(file), kind: media.kind, media })),
    ...(thumbnail
      ? [{ native: nativeIn(thumbnail.file), kind: 'thumbnail', media: thumbnail }]
      : []),
  ]
  await db.query(
    `insert into sandbox_file (user_id, native, kind, media)
     select $2, native, kind, media
     from jsonb_to_recordset($1::jsonb) as file (native text, kind text, media jsonb)
     on conflict do nothing`,
    [JSON.stringify(rows), network],
  )
}

async function find({ network, db }: Files, { file, kind }: Media): Promise<Media | undefined> {
  const [row] = await db.query<{ media: Media }>(
    'select media from sandbox_file where user_id = $1 and native = $2 and kind = $3',
    [network, nativeIn(file), kind],
  )
  return row?.media
}

const nativeIn = (file: FileRef) => ('native' in file ? file.native : file.blob)

const named = (media: Media) => renamed(media, (file) => ({ native: nativeIn(file) }))
const asBlobs = (media: Media) => renamed(media, (file) => ({ blob: nativeIn(file) }))

function renamed(media: Media, ref: (file: FileRef) => FileRef): Media {
  const { thumbnail, sizes } = media
  return {
    ...media,
    file: ref(media.file),
    ...(thumbnail && { thumbnail: renamed(thumbnail, ref) }),
    ...(sizes && { sizes: sizes.map((size) => renamed(size, ref)) }),
  }
}

/** The store has deleted a file that nothing held any more. */
function missing(cause: unknown): never {
  const isGone = cause instanceof RequestFailed && cause.failure.code === 'not_found'
  throw isGone ? wrongFile({ cause }) : cause
}

/** Each message holds its own files, so that deleting one message leaves its copies whole. */
export const holderOf = (sender: number, request: string) => `sandbox:${sender}:${request}`

/** Runs `work`, and releases the holds where it is refused for certain. */
export async function withFileHolds<Result>(
  services: Holding,
  holders: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    const isRefused = cause instanceof RequestFailed && cause.failure.code !== 'unavailable'
    if (isRefused) for (const holder of holders) await releaseFiles(services, holder)
    throw cause
  }
}

/** A failure costs only space. */
export async function releaseFiles({ media, logger }: Holding, holder: string): Promise<void> {
  await media.release(holder).catch((error: unknown) => {
    logger.warn({ err: error, holder }, 'the files of a sandbox message are still held')
  })
}

/** It has the size that the reference asks for, 640 × 360 pixels. */
const COVER = join(import.meta.dirname, 'game-cover.png')
const LONGEST_MS = 20_000

type GameContent = Content & { readonly kind: 'game' }

/** The same content with a picture of the game, unless it has one. */
export async function withCover(
  { media, network }: Pick<NetworkContext, 'media' | 'network'>,
  content: GameContent,
): Promise<GameContent> {
  const { game } = content
  if (game.photo) return content
  const stream = createReadStream(COVER)
  try {
    const { media: photo } = await media.ingest(
      { userId: network, kind: 'photo', source: { from: 'stream', stream } },
      AbortSignal.timeout(LONGEST_MS),
    )
    return { ...content, game: { ...game, photo } }
  } finally {
    stream.destroy()
  }
}
