/** Documents: any bytes, untouched, with a thumbnail where there is something to see. */
import { type Given, type Hands, type Prepared, smaller, THUMBNAIL_SIDE } from './kind.ts'
import { stillOf } from './still.ts'

export async function document(given: Given, hands: Hands): Promise<Prepared> {
  return await asDocument(given, hands)
}

/** Also what other kinds fall back to; `notes` say why. */
export async function asDocument(
  given: Given,
  hands: Hands,
  notes: readonly string[] = [],
): Promise<Prepared> {
  const { path, mime, name } = given
  const thumbnail = await thumbnailOf(given, hands)
  return {
    kind: 'document',
    path,
    mime,
    ...(name && { name }),
    ...(thumbnail && { thumbnail }),
    notes,
  }
}

async function thumbnailOf(given: Given, hands: Hands) {
  if (given.picture) return (await smaller(given.path, [THUMBNAIL_SIDE], hands))?.[0]
  return given.mime.startsWith('video/') ? await stillOf(given, hands) : undefined
}
