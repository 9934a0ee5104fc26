/** Somebody else's bot: asks getMe every two milliseconds, over one connection, for as long as it is told to. */
import { setTimeout as pause } from 'node:timers/promises'
import { answerParent } from './child.ts'
import { Connection, get, REQUESTS } from './connection.ts'
import { now } from './statistics.ts'

const EVERY_MS = 2

let delays: Promise<number[]> = Promise.resolve([])
let isOver = false

async function ask(port: number, key: string): Promise<number[]> {
  const found: number[] = []
  let connection = await Connection.open(port)
  for (let asked = 1; !isOver; asked++) {
    if (asked % REQUESTS === 0) {
      connection.close()
      connection = await Connection.open(port)
    }
    const began = now()
    await connection.request(get(`/bot${key}/getMe`))
    found.push(now() - began)
    await pause(EVERY_MS)
  }
  connection.close()
  return found
}

answerParent({
  begin({ port, key }: { port: number; key: string }) {
    isOver = false
    delays = ask(port, key)
  },
  /** Resolves with the milliseconds of each answer. */
  end() {
    isOver = true
    return delays
  },
  stop() {
    isOver = true
  },
})
