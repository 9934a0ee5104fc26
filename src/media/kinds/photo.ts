/** Photos: JPEG without the camera's notes, in several sizes. */
import { failed } from '../../../machines/model/failure.ts'
import { type Given, type MediaTools, noPicture, type Prepared, smaller } from './kind.ts'

const SMALLER_SIDES = [90, 320, 800]
const LARGEST_SIDE = 2_560
/** The reference's. */
const SIDES_TOGETHER = 10_000
const RATIO = 20

export async function photo(given: Given, tools: MediaTools): Promise<Prepared> {
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
  const boxes = [...SMALLER_SIDES.filter((side) => side < long), LARGEST_SIDE]
  const sizes = await smaller(given.path, boxes, tools)
  const largest = sizes?.pop()
  if (!sizes || !largest) throw noPicture()
  const { path, width, height } = largest
  const isSmaller = width < picture.width
  const notes = [
    ...(given.mime === 'image/jpeg' ? [] : ['the picture was made a JPEG']),
    ...(isSmaller ? [`the photo was made smaller: ${width} by ${height}`] : []),
  ]
  return { kind: 'photo', path, mime: 'image/jpeg', width, height, sizes, notes }
}
