/** Starts the embedded server again, on the same port, whenever it ends by itself. */
import { setTimeout as pause } from 'node:timers/promises'
import { concerning } from '../../process/start-failure.ts'
import { type EmbeddedOptions, type EmbeddedPostgres, startEmbeddedPostgres } from '../embedded.ts'

const firstPauseMs = 100
const longestPauseMs = 10_000
/** A server that ran this long was healthy: the next failure is a new one. */
const healthyMs = 60_000

export interface KeptPostgres {
  url(database?: string): string
  /** Undefined while the server is down. */
  pid(): number | undefined
  stop(): Promise<void>
}

/** The first start fails loudly; later ones are tried until they succeed or `stop` is called. */
export async function keepRunning(options: EmbeddedOptions): Promise<KeptPostgres> {
  const { logger } = options
  const first = await concerning('DATA_DIR', startEmbeddedPostgres(options))
  const stopping = new AbortController()
  let server: EmbeddedPostgres | undefined = first

  async function startAgain(): Promise<EmbeddedPostgres | undefined> {
    try {
      return await startEmbeddedPostgres({ ...options, port: first.port })
    } catch (error) {
      logger.error({ error }, 'PostgreSQL could not be started again')
      return undefined
    }
  }

  async function watch(): Promise<void> {
    let pauseMs = firstPauseMs
    while (!stopping.signal.aborted) {
      const upSince = performance.now()
      await server?.onExit
      if (stopping.signal.aborted) return
      if (performance.now() - upSince > healthyMs) pauseMs = firstPauseMs
      server = undefined
      logger.error({ pauseMs }, 'PostgreSQL ended unexpectedly and is started again')
      await pause(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      pauseMs = Math.min(pauseMs * 2, longestPauseMs)
      if (!stopping.signal.aborted) server = await startAgain()
    }
  }

  const watching = watch()
  return {
    url: first.url,
    pid: () => server?.pid,
    async stop() {
      stopping.abort()
      // A start under way is let finish, or the process would be left behind.
      if (server === undefined) await watching
      await server?.stop()
      await watching
    },
  }
}
