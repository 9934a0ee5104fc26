/** Stickers: pictures become WebP with a side of 512, moving ones stay as they are. */
import {
  type Given,
  type MediaTools,
  noPicture,
  type Prepared,
  smaller,
  THUMBNAIL_SIDE,
} from './kind.ts'

const SIDE = 512
const TGS = 'application/x-tgsticker'
const moving = ['video/webm', TGS]

export async function sticker(given: Given, tools: MediaTools): Promise<Prepared> {
  const { path, picture, hints } = given
  // A packed file can be no other sticker, whatever its name is.
  const mime = given.mime === 'application/gzip' ? TGS : given.mime
  if (moving.includes(mime)) {
    const { width = SIDE, height = SIDE } = hints
    return { kind: 'sticker', path, mime, width, height, notes: [] }
  }
  if (!picture) throw noPicture()
  const wanted = [
    { target: tools.tempFolder.file(), box: SIDE, format: 'webp' as const, enlarge: true },
  ]
  const made = await tools.pool.run('picture', { source: path, wanted }, tools.signal)
  const [webp] = made ?? []
  const [thumbnail] = (await smaller(path, [THUMBNAIL_SIDE], tools)) ?? []
  if (!webp) throw noPicture()
  const { target, width, height } = webp
  return {
    kind: 'sticker',
    path: target,
    mime: 'image/webp',
    width,
    height,
    ...(thumbnail && { thumbnail }),
    notes: [
      ...(mime === 'image/webp' ? [] : ['the picture was made a WebP']),
      ...(picture.frames > 1 ? ['of the moving picture only the first frame is left'] : []),
    ],
  }
}
