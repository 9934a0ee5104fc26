/** Waiting that ends: the other side of a connection may be gone without a word. */
export async function within<Value>(work: Promise<Value>, milliseconds: number): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const over = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing for ${milliseconds} ms`)), milliseconds)
  })
  try {
    return await Promise.race([work, over])
  } finally {
    clearTimeout(timer)
  }
}

/** What a stream brings, piece by piece; rejects when nothing comes for so long. */
export async function* piecesOf<Piece>(
  stream: ReadableStream<Piece>,
  silentMs: number,
): AsyncGenerator<Piece> {
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await within(reader.read(), silentMs)
    if (done) return
    yield value
  }
}
