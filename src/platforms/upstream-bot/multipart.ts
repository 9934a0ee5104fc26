/** Parameters and files as one form, written while it is sent. */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Media } from '../../../machines/model/content.ts'
import type { MediaService } from '../../media/media.ts'

interface Attachment {
  /** The name of its part. */
  readonly part: string
  readonly blob: string
  readonly name: string
}

export interface Form {
  readonly headers: Readonly<Record<string, string>>
  body(): Readable
}

/** Looks up how large the files are, so that the form has a length from the start. */
export async function formOf(
  parameters: object,
  files: readonly Attachment[],
  media: Pick<MediaService, 'open' | 'facts'>,
): Promise<Form> {
  const boundary = `chapar-${randomUUID()}`
  const head = (disposition: string, type?: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; ${disposition}\r\n` +
    `${type === undefined ? '' : `content-type: ${type}\r\n`}\r\n`
  const values = Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${head(`name="${name}"`)}${written(value)}\r\n`)
    .join('')
  const parts = await Promise.all(
    files.map(async ({ part, blob, name }) => {
      const { size, mime } = await media.facts(blob)
      return { blob, size, head: head(`name="${part}"; filename="${quoted(name)}"`, mime) }
    }),
  )
  const end = `--${boundary}--\r\n`
  const length = parts.reduce(
    (sum, part) => sum + Buffer.byteLength(part.head) + part.size + 2,
    Buffer.byteLength(values) + Buffer.byteLength(end),
  )
  async function* write() {
    yield Buffer.from(values)
    for (const part of parts) {
      yield Buffer.from(part.head)
      const { stream } = await media.open(part.blob)
      yield* stream
      yield Buffer.from('\r\n')
    }
    yield Buffer.from(end)
  }
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': `${length}`,
    },
    body: () => Readable.from(write(), { objectMode: false }),
  }
}

const written = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/** As browsers do. */
const quoted = (name: string) =>
  name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

/** The files of one call: those that the network has are named, the others come along as parts. */
export class Attachments {
  readonly files: Attachment[] = []

  refer({ file, kind, name }: Media): string {
    if ('native' in file) return file.native
    const part = `file${this.files.length}`
    this.files.push({ part, blob: file.blob, name: name ?? usualName[kind] })
    return `attach://${part}`
  }
}

/** Some servers judge a file by how its name ends. */
const usualName: Readonly<Record<Media['kind'], string>> = {
  photo: 'photo.jpg',
  video: 'video.mp4',
  animation: 'animation.mp4',
  audio: 'audio.mp3',
  voice: 'voice.ogg',
  video_note: 'video.mp4',
  document: 'file',
  sticker: 'sticker.webp',
}
