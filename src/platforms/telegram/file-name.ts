/** How a file of the network is found again: by the message, chat or person that shows it, and its own number. */
export type FileName = {
  readonly chat: string
  /** Its number on the network. */
  readonly id: string
  /** Which size of a picture it is; absent: the file itself. */
  readonly size?: string
} & (
  | { readonly of: 'message'; readonly message: number }
  /** The picture of a chat or a person. */
  | { readonly of: 'peer' }
  /** One of the pictures that a person has shown. */
  | { readonly of: 'profile' }
)

/** References to files grow old, numbers do not: so the names are made of numbers alone. */
export function writeFileName(file: FileName): string {
  const place = file.of === 'message' ? `${file.message}` : file.of
  return [file.chat, place, file.id, ...(file.size === undefined ? [] : [file.size])].join('.')
}

export function readFileName(native: string): FileName | undefined {
  const found = /^(-?\d+)\.(\d+|peer|profile)\.(-?\d+)(?:\.(\w+))?$/.exec(native)
  if (!found) return undefined
  const [, chat = '', place = '', id = '', size] = found
  const named = { chat, id, ...(size !== undefined && { size }) }
  if (place === 'peer' || place === 'profile') return { ...named, of: place }
  return { ...named, of: 'message', message: Number(place) }
}
