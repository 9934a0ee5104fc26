/** Pictures: a photo becomes a JPEG without the camera's notes in several sizes, a sticker a WebP; fit ones stay as they are. */
import { failed } from '../../../machines/model/failure.ts'
import * as recipes from '../recipes.ts'
import {
  type Given,
  type MediaTools,
  noPicture,
  type Prepared,
  smaller,
  THUMBNAIL_SIDE,
} from './kind.ts'

const SMALLER_SIDES = [90, 320, 800]
const LARGEST_SIDE = 2_560
/** The reference's. */
const SIDES_TOGETHER = 10_000
const RATIO = 20

export async function photo(given: Given, tools: MediaTools): Promise<Prepared> {
  if (given.frameAt !== undefined) return frameOf(given, given.frameAt, tools)
  const { size, picture } = given
  if (size > tools.photoBytes) {
    const limit = `the maximum size is ${tools.photoBytes} bytes`
    throw failed('bad_request', `file of size ${size} bytes is too big for a photo; ${limit}`)
  }
  if (!picture) throw noPicture()
  const sides = [picture.width, picture.height] as const
  const [short, long] = [Math.min(...sides), Math.max(...sides)]
  if (short + long > SIDES_TOGETHER || long > RATIO * short) {
    throw failed('bad_request', 'PHOTO_INVALID_DIMENSIONS')
  }
  const boxes = SMALLER_SIDES.filter((side) => side < long)
  const isFit = given.mime === 'image/jpeg' && long <= LARGEST_SIDE && !picture.hasNotes
  // A picture that is kept is decoded all the same: one that is damaged is refused.
  const isKept = isFit && boxes.length > 0
  const sizes = await smaller(given.path, isKept ? boxes : [...boxes, LARGEST_SIDE], tools)
  const largest = isKept ? { ...picture, path: given.path } : sizes?.pop()
  if (!sizes || !largest) throw noPicture()
  const { path, width, height } = largest
  const isSmaller = width < picture.width
  const notes = [
    ...(given.mime === 'image/jpeg' ? [] : ['the picture was made a JPEG']),
    ...(isSmaller ? [`the photo was made smaller: ${width} by ${height}`] : []),
  ]
  return { kind: 'photo', path, mime: 'image/jpeg', width, height, sizes, notes }
}

async function frameOf(given: Given, second: number, tools: MediaTools): Promise<Prepared> {
  const { transcoder, tempFolder, pool, signal } = tools
  if (!transcoder.isOpen)
    throw failed('bad_request', 'ffmpeg is not installed: films have no frames here')
  const path = tempFolder.file()
  if (!(await transcoder.make(given, recipes.frameAt(second), path, tools))) throw noPicture()
  const frame = await pool.run('look', { path }, signal)
  return photo({ ...frame, path, mime: 'image/jpeg', hints: {} }, tools)
}

const SIDE = 512
const TGS = 'application/x-tgsticker'
const moving = ['video/webm', TGS]

export async function sticker(given: Given, tools: MediaTools): Promise<Prepared> {
  const { path, picture, hints } = given
  // A gzip file can only be an animated sticker, under any name.
  const mime = given.sniffed === 'application/gzip' ? TGS : given.mime
  if (moving.includes(mime)) {
    const { width = SIDE, height = SIDE } = hints
    return { kind: 'sticker', path, mime, width, height, notes: [] }
  }
  if (!picture) throw noPicture()
  if (
    mime === 'image/webp' &&
    Math.max(picture.width, picture.height) === SIDE &&
    picture.frames === 1 &&
    !picture.hasNotes
  ) {
    return await asIs(given, picture, tools)
  }
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

async function asIs(
  { path, mime }: Given,
  { width, height }: NonNullable<Given['picture']>,
  tools: MediaTools,
): Promise<Prepared> {
  const [thumbnail] = (await smaller(path, [THUMBNAIL_SIDE], tools)) ?? []
  if (!thumbnail) throw noPicture()
  return { kind: 'sticker', path, mime, width, height, thumbnail, notes: [] }
}
