/** What webhooks are compared with: a loop that posts the same bodies over as many keep-alive connections. */
import { Pool } from 'undici'
import { answerParent, processor } from './child.ts'
import { now } from './statistics.ts'

export interface Posting {
  readonly origin: string
  readonly body: string
  readonly posts: number
  readonly connections: number
}

answerParent({
  /** Milliseconds that it took. */
  async post({ origin, body, posts, connections }: Posting) {
    const pool = new Pool(origin, { connections, pipelining: 1 })
    const began = now()
    let left = posts
    const headers = { 'content-type': 'application/json' }
    const loop = async () => {
      while (left-- > 0) {
        const answer = await pool.request({ path: '/bare', method: 'POST', headers, body })
        await answer.body.dump()
      }
    }
    await Promise.all(Array.from({ length: connections }, loop))
    const took = now() - began
    await pool.close()
    return took
  },
  processor,
  stop: () => undefined,
})
