/** A file from this device as a message carries it: pictures as photos, anything else as it is. */
const LARGEST = 12_000_000

export const isTooLarge = ({ size }: File): boolean => size > LARGEST

/** SVG and the like are no photos for a messenger. */
const photos = ['image/jpeg', 'image/png', 'image/webp']

export async function mediaOf(file: File, caption: string): Promise<object> {
  return {
    type: photos.includes(file.type) ? 'photo' : 'document',
    data: await base64(file),
    file_name: file.name.slice(0, 255),
    ...(file.type && { mime_type: file.type }),
    ...(caption.trim() && { caption }),
  }
}

const base64 = (file: File) =>
  new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(`${reader.result}`.replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
