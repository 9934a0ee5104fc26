/** The cover of all games, because covers cannot be uploaded here. */
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import type { Content } from '../../../machines/model/content.ts'
import type { NetworkContext } from '../network/context.ts'

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
