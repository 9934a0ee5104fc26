/** A client that sends costly calls, in a process of its own. */
import { Agent, request } from 'node:http'
import { type Attack, attacks } from './attacks.ts'
import { answerParent } from './child.ts'

/** How often each status was answered; 0 is a connection that ended without one. */
async function play({ name, port, key, chat, milliseconds }: Attack) {
  const { atOnce, blow } = attacks[name]
  const { method, type, body } = blow(chat)
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  const statuses: Record<number, number> = {}
  const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) }
  const options = { agent, port, method: 'POST', path: `/bot${key}/${method}`, headers }
  const strike = () =>
    new Promise<number>((resolve) => {
      request(options, (answer) =>
        answer.resume().once('close', () => resolve(answer.statusCode ?? 0)),
      )
        .once('error', () => resolve(0))
        .end(body)
    })
  const end = performance.now() + milliseconds
  async function strikeOn() {
    while (performance.now() < end) {
      const status = await strike()
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  const all = Promise.all(Array.from({ length: atOnce }, strikeOn))
  await Promise.race([all, new Promise((resolve) => setTimeout(resolve, milliseconds))])
  agent.destroy()
  return statuses
}

answerParent({ play, stop: () => undefined })
