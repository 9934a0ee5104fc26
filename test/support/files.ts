/** A store of files on a disk of its own, and small files of every kind to send. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Test } from 'tap'
import type { Media, MediaKind } from '../../machines/model/media.ts'
import type { Database } from '../../src/database/database.ts'
import { usualLimits } from '../../src/media/media.ts'
import { openMedia } from '../../src/media/open.ts'
import { quietLogger } from './logger.ts'
import { testVault } from './vault.ts'

export async function fileDesk(t: Pick<Test, 'teardown'>, db: Database) {
  const dataDir = await mkdtemp(join(tmpdir(), 'chapar-files-'))
  t.teardown(() => rm(dataDir, { recursive: true, force: true }))
  const media = await openMedia({
    db,
    vault: await testVault(t, db),
    logger: quietLogger,
    dataDir,
    node: 'test',
    limits: usualLimits,
    searchPath: '',
    guard: { allowPrivate: true },
  })
  t.teardown(() => media.close())
  return media.service
}

type Desk = Awaited<ReturnType<typeof fileDesk>>

/** Somebody whose files count for nobody else. */
export async function fileOwner(db: Database): Promise<number> {
  const [row] = await db.query<{ id: number }>(
    `insert into app_user (phone_index, phone_sealed)
     values (convert_to(gen_random_uuid()::text, 'utf8'), '') returning id`,
  )
  return row!.id
}

/** A file that waits to be sent: its bytes are a document's, whatever its kind says. */
export async function fileToSend(
  desk: Desk,
  userId: number,
  kind: MediaKind,
  bytes: Buffer | string = `${kind} ${crypto.randomUUID()}`,
): Promise<Media> {
  const source = { from: 'stream' as const, stream: Readable.from([Buffer.from(bytes)]) }
  const { media } = await desk.ingest(
    { userId, kind: 'document', source, name: 'file.bin' },
    AbortSignal.timeout(30_000),
  )
  return { ...media, ...detailsOf[kind], kind }
}

const framed = { width: 320, height: 240 }
const detailsOf: Readonly<Record<MediaKind, Partial<Media>>> = {
  photo: { ...framed, mime: 'image/jpeg' },
  video: { ...framed, durationSeconds: 2, mime: 'video/mp4' },
  animation: { ...framed, durationSeconds: 2, mime: 'video/mp4' },
  audio: { durationSeconds: 3, title: 'Song', performer: 'Band', mime: 'audio/mpeg' },
  voice: { durationSeconds: 4, mime: 'audio/ogg' },
  video_note: { width: 240, height: 240, durationSeconds: 2, mime: 'video/mp4' },
  document: {},
  sticker: { width: 512, height: 512, emoji: '🙂', mime: 'image/webp' },
}
