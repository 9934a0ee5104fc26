/** Files of the reader's computer as the content of messages and as parts of polls. */
import type { Written } from '../../../api/sandbox.ts'

const LARGEST = 12_000_000
const MOST = 10

export const areTooLarge = (files: readonly File[]): boolean =>
  files.reduce((sum, { size }) => sum + size, 0) > LARGEST

export const areTooMany = (files: readonly File[]): boolean => files.length > MOST

/** SVG and the like are no photos for a messenger. */
const photos = ['image/jpeg', 'image/png', 'image/webp']

/** The content of a message with these files: pictures are photos, several files an album; beside other files a picture is a file, too. */
export async function contentOf(
  files: readonly File[],
  caption: string,
): Promise<Pick<Written, 'media' | 'album'>> {
  const type = files.every((file) => photos.includes(file.type)) ? 'photo' : 'document'
  const [first, ...rest] = await Promise.all(files.map((file) => mediaOf(file, type)))
  const media = { ...first, ...(caption.trim() && { caption }) }
  return rest.length === 0 ? { media } : { album: [media, ...rest] }
}

export async function mediaOf(file: File, type: string): Promise<object> {
  return {
    type,
    data: await base64(file),
    file_name: file.name.slice(-255),
    ...(file.type && { mime_type: file.type }),
  }
}

export const base64 = (file: File) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(`${reader.result}`.replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })

const partKinds: readonly (readonly [start: string, kind: string])[] = [
  ...photos.map((type) => [type, 'photo'] as const),
  ['image/gif', 'animation'],
  ['video/', 'video'],
  ['audio/', 'audio'],
]

/** What belongs to a part of a poll. */
export async function pollMediaOf(file: File): Promise<object> {
  const [, kind = 'document'] = partKinds.find(([start]) => file.type.startsWith(start)) ?? []
  return { media: await mediaOf(file, kind) }
}
