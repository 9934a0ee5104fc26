/** Follows a stream of server-sent events while the tab is visible, and reconnects after a break. */
import { accessToken } from './session.ts'
import { viewingHeaders } from './viewing.ts'

/** Whether the tab is visible. Browsers allow six connections to one server, so a hidden tab closes its stream. */
const isVisible = () => document.visibilityState !== 'hidden'

/** Resolves once the tab is visible or the signal is aborted. */
export function untilVisible(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!isVisible() && !signal.aborted) return
      document.removeEventListener('visibilitychange', look)
      signal.removeEventListener('abort', look)
      resolve()
    }
    document.addEventListener('visibilitychange', look)
    signal.addEventListener('abort', look)
    look()
  })
}

/** A signal that aborts with the given one, or once the tab has been hidden for so long; `stop` ends the watch. */
export function whileVisible(signal: AbortSignal, patienceMs: number) {
  const lost = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = () => {
    clearTimeout(timer)
    if (!isVisible()) timer = setTimeout(() => lost.abort(), patienceMs)
  }
  document.addEventListener('visibilitychange', look)
  look()
  return {
    signal: AbortSignal.any([signal, lost.signal]),
    stop() {
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', look)
    },
  }
}

interface ServerEvent {
  readonly name: string
  readonly data: string
}

/** Takes server-sent events out of text that arrives in pieces. */
function parseEvents(text: string): { events: ServerEvent[]; rest: string } {
  const blocks = text.split('\n\n')
  const rest = blocks.pop() ?? ''
  return { events: blocks.flatMap(eventOf), rest }
}

function eventOf(block: string): ServerEvent[] {
  const lines = block.split('\n')
  const valuesOf = (field: string) =>
    lines
      .filter((line) => line.startsWith(`${field}: `))
      .map((line) => line.slice(field.length + 2))
  const data = valuesOf('data')
  // A comment keeps the connection alive.
  return data.length === 0
    ? []
    : [{ name: valuesOf('event').at(-1) ?? 'message', data: data.join('\n') }]
}

/** Limits the wait for data, because a connection can break silently. */
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

/** The pieces of a stream as they come; rejects when nothing comes for so long. */
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

interface StreamOptions {
  readonly signal: AbortSignal
  onEvent(name: string, data: unknown): void
  /** `true` once events flow, `false` when they stop flowing. */
  onLive(isLive: boolean): void
  /** Anything came, if only a sign of life. */
  onHeard?(): void
}

const FIRST_PAUSE_MS = 500
const LONGEST_PAUSE_MS = 15_000
/** A tab that was hidden for so long closes its stream. */
const HIDDEN_MS = 30_000
/** The service says every 15 seconds that it is still there. */
const SILENT_MS = 40_000

export async function follow(path: string, options: StreamOptions): Promise<void> {
  const { signal, onLive } = options
  let pause = FIRST_PAUSE_MS
  while (!signal.aborted) {
    await untilVisible(signal)
    const visible = whileVisible(signal, HIDDEN_MS)
    try {
      await read(path, { ...options, signal: visible.signal }, () => {
        pause = FIRST_PAUSE_MS
        onLive(true)
      })
    } catch {
      pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
    } finally {
      visible.stop()
    }
    if (signal.aborted) return
    onLive(false)
    await sleep(pause, signal)
  }
}

async function read(path: string, { signal, onEvent, onHeard }: StreamOptions, began: () => void) {
  const headers = { authorization: `Bearer ${await accessToken()}`, ...viewingHeaders(path) }
  const over = new AbortController()
  const ends = AbortSignal.any([signal, over.signal])
  try {
    const asked = fetch(path, { headers, signal: ends, credentials: 'omit' })
    const response = await within(asked, SILENT_MS)
    // The session may have ended elsewhere: a request for a new token shows it.
    if (response.status === 401) await accessToken(true)
    if (!response.ok || !response.body) throw new Error(`${response.status}`)
    began()
    const text = response.body.pipeThrough(new TextDecoderStream())
    let rest = ''
    for await (const piece of piecesOf(text, SILENT_MS)) {
      onHeard?.()
      const parsed = parseEvents(rest + piece)
      rest = parsed.rest
      for (const { name, data } of parsed.events) onEvent(name, JSON.parse(data))
    }
  } finally {
    over.abort()
  }
}

const sleep = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
