/** Files from this device as a message carries them: pictures as photos, anything else as it is, several as an album. */
import type { Written } from '../../api/sandbox.ts'

const LARGEST = 12_000_000
const MOST = 10

export const areTooLarge = (files: readonly File[]): boolean =>
  files.reduce((sum, { size }) => sum + size, 0) > LARGEST

export const areTooMany = (files: readonly File[]): boolean => files.length > MOST

/** SVG and the like are no photos for a messenger. */
const photos = ['image/jpeg', 'image/png', 'image/webp']

/** In an album photos go with photos: among other files they are files, too. */
export async function contentOf(
  files: readonly File[],
  caption: string,
): Promise<Pick<Written, 'media' | 'album'>> {
  const type = files.every((file) => photos.includes(file.type)) ? 'photo' : 'document'
  const [first, ...rest] = await Promise.all(files.map((file) => mediaOf(file, type)))
  const media = { ...first, ...(caption.trim() && { caption }) }
  return rest.length === 0 ? { media } : { album: [media, ...rest] }
}

async function mediaOf(file: File, type: string): Promise<object> {
  return {
    type,
    data: await base64(file),
    file_name: file.name.slice(0, 255),
    ...(file.type && { mime_type: file.type }),
  }
}

const base64 = (file: File) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(`${reader.result}`.replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
