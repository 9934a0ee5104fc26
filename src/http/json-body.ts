/** JSON bodies of the management API: an empty one is none, and what nobody needs is turned away. */
import type { FastifyInstance } from 'fastify'
import { failed } from '../../machines/model/failure.ts'
import { isDeeperThan } from '../json/depth.ts'

const DEPTH = 32
const MEMBERS = 1_000
const ITEMS = 10_000

/** Replaces Fastify's parser, and keeps its refusal of members that would reach a prototype. */
export function parseJsonBodies(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error')
  const options = { parseAs: 'string' as const }
  app.addContentTypeParser('application/json', options, (request, body: string, done) => {
    const encoding = request.headers['content-encoding'] ?? 'identity'
    if (encoding.toLowerCase() !== 'identity') {
      done(Object.assign(new Error('the body is compressed'), { statusCode: 415 }))
    } else if (body.trim() === '') done(null, undefined)
    else if (isDeeperThan(body, DEPTH)) done(refusal('the JSON is nested too deeply'))
    else {
      parse(request, body, (error, value) => {
        if (error) done(refusal('it is not valid JSON'))
        else if (isTooWide(value)) done(refusal('the JSON has too many members'))
        else done(null, value)
      })
    }
  })
}

/** Some clients name a type even for nothing, and a form of no fields at that. */
export function forgetTypeOfNothing(app: FastifyInstance): void {
  app.addHook('onRequest', ({ raw, routeOptions }, _, done) => {
    // Bot calls take forms.
    const isCall = routeOptions.url?.startsWith('/bot') ?? false
    if (raw.headers['content-length'] === '0' && !isCall) delete raw.headers['content-type']
    done()
  })
}

const refusal = (why: string) => failed('bad_request', `can't parse the request body: ${why}`)

function isTooWide(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const members = Object.values(value)
  if (members.length > (Array.isArray(value) ? ITEMS : MEMBERS)) return true
  return members.some(isTooWide)
}
