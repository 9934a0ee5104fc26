/** Documents: any bytes, untouched, with a thumbnail where there is something to see. */
import {
  type Given,
  type MediaTools,
  type Prepared,
  smaller,
  stillOf,
  THUMBNAIL_SIDE,
} from './kind.ts'

export async function document(given: Given, tools: MediaTools): Promise<Prepared> {
  return await asDocument(given, tools)
}

/** Also what other kinds fall back to; `notes` say why. */
export async function asDocument(
  given: Given,
  tools: MediaTools,
  notes: readonly string[] = [],
): Promise<Prepared> {
  const { path, mime, name } = given
  const thumbnail = await thumbnailOf(given, tools)
  return {
    kind: 'document',
    path,
    mime,
    ...(name && { name }),
    ...(thumbnail && { thumbnail }),
    notes,
  }
}

async function thumbnailOf(given: Given, tools: MediaTools) {
  if (given.picture) return (await smaller(given.path, [THUMBNAIL_SIDE], tools))?.[0]
  return given.mime.startsWith('video/') ? await stillOf(given, tools) : undefined
}
