/** Most clients say nothing of a picture but its link: its measures are read from the beginning of the file. */
import type { Dispatcher } from 'undici'
import type { Media } from '../../../../machines/model/content.ts'
import type { Happening } from '../../../../machines/model/happening.ts'
import { download } from './download.ts'
import { pictureSize } from './picture-size.ts'

/** Cameras put a preview before the measures. */
const mostBytes = 128 * 1024
/** Messages wait for it. */
const longestMilliseconds = 2_000
/** Of one batch; what exceeds it stays unmeasured. */
const mostPictures = 8

/** The same happenings, with the measures of those pictures that could be had in time. */
export async function measured(
  happenings: readonly Happening[],
  agent: Dispatcher,
  signal: AbortSignal,
): Promise<readonly Happening[]> {
  const wanted = happenings.filter((happening) => unmeasured(happening)).slice(0, mostPictures)
  if (wanted.length === 0) return happenings
  const limit = AbortSignal.any([signal, AbortSignal.timeout(longestMilliseconds)])
  const facts = new Map<Happening, Partial<Media>>()
  const measure = async (happening: Happening) => {
    const media = unmeasured(happening)
    if (media && 'native' in media.file)
      facts.set(happening, await look(media.file.native, agent, limit))
  }
  await Promise.all(wanted.map(measure))
  return happenings.map((happening) => withFacts(happening, facts.get(happening)))
}

function unmeasured(happening: Happening): Media | undefined {
  if (happening.kind !== 'message' && happening.kind !== 'edited') return undefined
  const { content } = happening.message
  if (content.kind !== 'media' || content.media.kind !== 'photo') return undefined
  const { width, height, size } = content.media
  return width && height && size !== undefined ? undefined : content.media
}

function withFacts(happening: Happening, facts: Partial<Media> | undefined): Happening {
  if (!facts || (happening.kind !== 'message' && happening.kind !== 'edited')) return happening
  const { message } = happening
  if (message.content.kind !== 'media') return happening
  // What the file shows is more than what its sender says.
  const media = { ...message.content.media, ...facts }
  return { ...happening, message: { ...message, content: { ...message.content, media } } }
}

/** Nothing where the server is slow, away or says something else. */
async function look(link: string, agent: Dispatcher, signal: AbortSignal): Promise<Partial<Media>> {
  try {
    const { stream, size } = await download(agent, link, 0, signal)
    const bytes = await beginning(stream, signal)
    const found = pictureSize(bytes)
    return { ...found, ...(found && size !== undefined && { size }) }
  } catch {
    return {}
  }
}

async function beginning(stream: ReadableStream<Uint8Array>, signal: AbortSignal) {
  const reader = stream.getReader()
  const stop = () => void reader.cancel().catch(() => undefined)
  signal.addEventListener('abort', stop, { once: true })
  const chunks: Uint8Array[] = []
  try {
    for (let length = 0; length < mostBytes; ) {
      const { done, value } = await reader.read()
      if (done) break
      chunks.push(value)
      length += value.length
      if (pictureSize(Buffer.concat(chunks))) break
    }
    return Buffer.concat(chunks)
  } finally {
    signal.removeEventListener('abort', stop)
    stop()
  }
}
