/** Videos, animations and video notes: MP4 that plays before all of it has arrived. */

import type { Probe } from '../probe.ts'
import * as recipes from '../recipes.ts'
import { isTooCostly } from '../transcoder.ts'
import {
  asDocument,
  type Given,
  type MediaTools,
  type Prepared,
  smaller,
  stillOf,
  THUMBNAIL_SIDE,
} from './kind.ts'
import { called, lasting } from './sound.ts'

const MP4 = 'video/mp4'
const GIF = 'image/gif'
const tooCostly = 'sent as a document: it has too many pixels in all its frames to be made an MP4'
const playable = [undefined, 'aac', 'mp3']

interface Wanted {
  readonly kind: 'video' | 'animation' | 'video_note'
  readonly recipe: readonly string[]
  /** The unchanged file, or the same with its index moved to the front. */
  fits(probe: Probe, given: Given): boolean
}

const isPlain = ({ video, audio }: Probe, { mime }: Given) =>
  mime === MP4 &&
  video?.codec === 'h264' &&
  video.pixels === 'yuv420p' &&
  playable.includes(audio?.codec)

const asVideo: Wanted = { kind: 'video', recipe: recipes.video, fits: isPlain }

export const video = film(asVideo)

export const animation = film({
  kind: 'animation',
  recipe: recipes.animation,
  fits: (probe, given) => isPlain(probe, given) && !probe.audio,
})

export const videoNote = film({
  kind: 'video_note',
  recipe: recipes.videoNote,
  fits: (probe, given) => {
    const { width = 0 } = probe.video ?? {}
    return isPlain(probe, given) && isSquare(probe) && width <= 640
  },
})

const isSquare = ({ video }: Probe) => video !== undefined && video.width === video.height

function film(asked: Wanted) {
  return async (given: Given, tools: MediaTools): Promise<Prepared> => {
    const { transcoder, pool, tempFolder, signal } = tools
    if (asked.kind === 'animation' && given.keepsGifs && given.picture && given.mime === GIF) {
      return await asGif(given, given.picture, tools)
    }
    if (!transcoder.isOpen) return await untouched(given, tools, asked)
    if (given.picture && isTooCostly(given.picture, given.size)) {
      return await asDocument(given, tools, [tooCostly])
    }
    const probe = await transcoder.probe(given, tools)
    if (!probe?.video) {
      return await asDocument(given, tools, ['sent as a document: it could not be read as a video'])
    }
    // The reference's network shows a film round only if it is square.
    const isVideo = asked.kind === 'video_note' && !isSquare(probe)
    const wanted = isVideo ? asVideo : asked
    const why = isVideo ? ['sent as a video: it is not square'] : []
    const fits = wanted.fits(probe, given)
    if (fits && (await pool.run('fastStart', { path: given.path }, signal)))
      return await shown(given, given, tools, wanted, why)
    if (!fits && isTooCostly(probe.video, given.size)) {
      return await asDocument(given, tools, [tooCostly])
    }
    const path = tempFolder.file()
    const recipe = fits ? recipes.reordered : wanted.recipe
    if (!(await transcoder.make(given, recipe, path, tools))) {
      return await asDocument(given, tools, ['sent as a document: it could not be made an MP4'])
    }
    const note = fits ? 'its parts were put in order for streaming' : 'it was made an MP4 (H.264)'
    return await shown({ path, mime: MP4 }, given, tools, wanted, [...why, note])
  }
}

async function asGif(
  given: Given,
  { width, height }: NonNullable<Given['picture']>,
  tools: MediaTools,
): Promise<Prepared> {
  const { path, mime, name } = given
  const thumbnail = (await smaller(path, [THUMBNAIL_SIDE], tools))?.[0]
  return {
    kind: 'animation',
    path,
    mime,
    width,
    height,
    ...(name && { name }),
    ...lasting(given, undefined),
    ...(thumbnail && { thumbnail }),
    notes: [],
  }
}

async function shown(
  made: { path: string; mime: string },
  given: Given,
  tools: MediaTools,
  { kind }: Wanted,
  notes: readonly string[],
): Promise<Prepared> {
  // As the reference names it.
  const isFromGif = kind === 'animation' && given.mime === GIF && given.name !== undefined
  const probe = await tools.transcoder.probe(made, tools)
  const thumbnail = await stillOf(made, tools)
  return {
    kind,
    path: made.path,
    mime: made.mime,
    ...(isFromGif ? { name: `${given.name}.mp4` } : called(given.name, 'mp4')),
    ...(probe?.video && { width: probe.video.width, height: probe.video.height }),
    ...lasting(given, probe),
    ...(thumbnail && { thumbnail }),
    notes,
  }
}

/** Without ffmpeg: formats that most clients can play are sent unchanged, with the sender's facts. */
async function untouched(given: Given, tools: MediaTools, { kind }: Wanted): Promise<Prepared> {
  const { path, mime, name, picture, hints } = given
  const isGif = kind === 'animation' && picture !== undefined
  if (mime !== MP4 && !isGif) {
    const why = 'ffmpeg is not installed, so it was not made an MP4'
    return await asDocument(given, tools, [`sent as a document: ${why}`])
  }
  const width = picture?.width ?? hints.width
  const height = picture?.height ?? hints.height
  return {
    kind,
    path,
    mime,
    ...(name && { name }),
    ...(width !== undefined && { width }),
    ...(height !== undefined && { height }),
    ...lasting(given, undefined),
    notes: ['ffmpeg is not installed: sent as it is'],
  }
}
