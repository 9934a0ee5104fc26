/** Keeps hold of a running server: notices its end, and gets the claim back when only that is cut. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from '../../../actors/ports/ports.ts'
import type { Owned } from './adopt.ts'
import { type Claim, claimServer } from './claim.ts'
import { isAlive, stopServer } from './processes.ts'

const retryMs = 100

interface Hold {
  /** Settles when the server is gone, or when we have let go of it. */
  readonly ended: Promise<void>
  /** Lets the server run on without an owner. */
  letGo(): Promise<void>
  stop(): Promise<void>
}

export function hold({ pid, claim }: Owned, url: string, logger: Logger): Hold {
  let held: Claim | undefined = claim
  let wanted = true

  async function claimAgain(): Promise<Claim | undefined> {
    while (wanted && (await isAlive(pid))) {
      try {
        const again = await claimServer(url)
        if (again !== undefined) return again
        logger.error({ pid }, 'another process has claimed the database')
      } catch (error) {
        logger.warn({ pid, error }, 'the database does not answer its owner')
      }
      await pause(retryMs)
    }
    return undefined
  }

  async function untilEnd(): Promise<void> {
    while (held !== undefined) {
      await held.lost
      held = await claimAgain()
    }
  }

  const ended = untilEnd()
  const letGo = async () => {
    wanted = false
    await held?.release()
    await ended
  }
  return {
    ended,
    letGo,
    async stop() {
      await letGo()
      await stopServer(pid)
    },
  }
}
