/** The paths that getFile gives out: short, per account, and good for at least an hour. */
import { extname } from 'node:path'
import type { Database } from '../database/database.ts'
import { databaseNow } from '../database/entities/columns.ts'
import { MediaPath, type PathFile } from '../database/entities/media.ts'
import type { FilePaths, IssuedPath, PathRequest } from './media.ts'

/** Longer than what is promised, so that a path asked for again is usually the same. */
const LIFETIME = '2 hours'

const extensions: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/ogg': 'oga',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'text/plain': 'txt',
  'application/x-tgsticker': 'tgs',
}

type Row = Pick<IssuedPath, 'path'> & { readonly file: PathFile }

/** SQL, since each reads and writes the row in one statement: many may ask for one file at the same moment. */
const again = `update media_path set expires_at = now() + interval '${LIFETIME}', file = $3
  where credential_id = $1 and source = $2 and expires_at > now() returning path, file`
const count = `insert into media_path_count as c (credential_id, issued) values ($1, 0)
  on conflict (credential_id) do update set issued = c.issued + 1 returning issued`
/** Of two callers at once both get the path of the first. */
const issue = `insert into media_path as p (credential_id, number, path, source, file, expires_at)
  values ($1, $2, $3, $4, $5, now() + interval '${LIFETIME}')
  on conflict (credential_id, source) do update set
    expires_at = excluded.expires_at,
    file = excluded.file,
    number = case when p.expires_at > now() then p.number else excluded.number end,
    path = case when p.expires_at > now() then p.path else excluded.path end
  returning path, file`

export class PostgresFilePaths implements FilePaths {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  async issue({ credentialId, folder, ...about }: PathRequest): Promise<IssuedPath> {
    const source = sourceOf(folder, about.file)
    const [known] = await this.#db.query<Row>(again, [credentialId, source, about])
    if (known) return { ...known.file, path: known.path }
    const [counted] = await this.#db.query<{ issued: number }>(count, [credentialId])
    const number = counted?.issued ?? 0
    const path = `${folder}/file_${number}${extensionOf(about)}`
    const values = [credentialId, number, path, source, about]
    const [row] = await this.#db.query<Row>(issue, values)
    return { ...about, path: row?.path ?? path }
  }

  async find(credentialId: number, path: string): Promise<IssuedPath | undefined> {
    const live = { credentialId, path, expiresAt: { $gt: databaseNow() } }
    const found = await this.#db.records((em) => em.findOne(MediaPath, live))
    return found ? { ...found.file, path } : undefined
  }

  async sweep(): Promise<void> {
    const over = { expiresAt: { $lt: databaseNow() } }
    await this.#db.records((em) => em.nativeDelete(MediaPath, over))
  }
}

const sourceOf = (folder: string, file: PathRequest['file']): string =>
  'blob' in file ? `${folder}|blob|${file.blob}` : `${folder}|native|${file.native}`

function extensionOf({ name = '', mime = '' }: { name?: string; mime?: string }): string {
  const known = extensions[mime]
  if (known) return `.${known}`
  const own = extname(name).toLowerCase()
  return /^\.[a-z\d]{1,8}$/.test(own) ? own : ''
}
