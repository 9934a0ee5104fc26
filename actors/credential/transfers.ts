/** Watches stored blobs on their way to a network, so that a call can wait for as long as their bytes move. */
const watchers = new Map<string, Set<() => void>>()

/** `moved` is called whenever bytes of one of these blobs were taken, until the function that this yields is called. */
export function watchBlobs(blobs: readonly string[], moved: () => void): () => void {
  for (const blob of blobs) watchers.set(blob, (watchers.get(blob) ?? new Set()).add(moved))
  return () => {
    for (const blob of blobs) {
      const watching = watchers.get(blob)
      watching?.delete(moved)
      if (watching?.size === 0) watchers.delete(blob)
    }
  }
}

export const isWatched = (blob: string): boolean => watchers.has(blob)

export function blobMoved(blob: string): void {
  for (const moved of watchers.get(blob) ?? []) moved()
}

/** The blobs that an operation is to bring to the network, wherever it names them. */
export function blobsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'blob' && typeof inner === 'string' ? [inner] : blobsIn(inner),
  )
}
