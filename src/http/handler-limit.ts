/** A time limit for answers. Fastify's own ends with the body: it holds for requests that have none. */
import type { FastifyInstance, FastifyReply } from 'fastify'
import { failed } from '../../machines/model/failure.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How long an answer may take, in milliseconds. */
    answerWithin?: number
  }
}

/** Calls of the bot API have limits of their own: they wait for updates, take files and send them. */
const hasOwnLimits = (url: string) => /^\/(bot|file)/.test(url)

export function limitHandlers(app: FastifyInstance, milliseconds: number): void {
  app.addHook('onRoute', (route) => {
    if (!hasOwnLimits(route.url)) {
      route.config = { answerWithin: milliseconds, ...route.config }
    }
  })
  app.addHook('onRequest', ({ routeOptions }, reply, done) => {
    const { answerWithin } = routeOptions.config
    if (answerWithin !== undefined) {
      const timer = setTimeout(() => giveUp(reply), answerWithin)
      reply.raw.once('close', () => clearTimeout(timer))
    }
    done()
  })
}

/** Whatever the handler still does, nobody is told of it. What has begun to be sent can only be cut off. */
function giveUp(reply: FastifyReply): void {
  if (reply.sent) return
  if (reply.raw.headersSent) reply.raw.destroy()
  else reply.send(failed('unavailable', '', { retryAfterSeconds: 1 }))
}
