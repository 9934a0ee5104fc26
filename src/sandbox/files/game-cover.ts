/** The covers of games. Nobody uploads one here, so each game has a picture that is drawn from its name. */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { crc32, deflateSync } from 'node:zlib'
import type { Content } from '../../../machines/model/content.ts'
import type { NetworkContext } from '../network/context.ts'

/** The size that the reference asks for, in pixels and in squares. */
const WIDTH = 640
const HEIGHT = 360
const SQUARE = 40
const COLUMNS = WIDTH / SQUARE
const LONGEST_MS = 20_000

type GameContent = Content & { readonly kind: 'game' }

/** The same content with a picture of the game, unless it has one. */
export async function withCover(
  { media, network }: Pick<NetworkContext, 'media' | 'network'>,
  content: GameContent,
): Promise<GameContent> {
  const { game } = content
  if (game.photo) return content
  const stream = Readable.from([coverOf(game.name)])
  const { media: photo } = await media.ingest(
    { userId: network, kind: 'photo', source: { from: 'stream', stream } },
    AbortSignal.timeout(LONGEST_MS),
  )
  return { ...content, game: { ...game, photo } }
}

/** A PNG of squares in two colours, the same on the left as on the right. */
function coverOf(name: string): Buffer {
  const digest = createHash('sha256').update(name).digest()
  const isFilled = (row: number, column: number) => {
    const place = row * (COLUMNS / 2) + Math.min(column, COLUMNS - 1 - column)
    return ((digest[place >> 3]! >> (place & 7)) & 1) === 1
  }
  // One bit for each pixel, after a byte that says that the row is not filtered.
  const lines = Array.from({ length: HEIGHT }, (_, y) => {
    const squares = Array.from({ length: COLUMNS }, (_, column) =>
      Buffer.alloc(SQUARE / 8, isFilled(Math.floor(y / SQUARE), column) ? 0xff : 0),
    )
    return Buffer.concat([Buffer.of(0), ...squares])
  })
  const light = digest.subarray(29).map((byte) => 160 + (byte % 96))
  const dark = digest.subarray(26, 29).map((byte) => 16 + (byte % 96))
  const header = Buffer.alloc(13)
  header.writeUInt32BE(WIDTH)
  header.writeUInt32BE(HEIGHT, 4)
  // A bit a pixel, which chooses a colour of the palette.
  header.set([1, 3], 8)
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.concat([light, dark])),
    chunk('IDAT', deflateSync(Buffer.concat(lines))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}
