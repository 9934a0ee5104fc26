/** Keeps other sites from using the panel's cookie: the request must come from a page of this one. */
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { failed } from '../../actors/errors.ts'

export function refuseOtherSites(panelUrls: readonly string[]): onRequestAsyncHookHandler {
  const hosts = new Set(panelUrls.map((url) => new URL(url).host))
  return async (request: FastifyRequest) => {
    const { origin, 'sec-fetch-site': site, 'x-csrf': mark } = request.headers
    // A form or an image of another site cannot set a header of its own.
    if (mark !== '1') throw failed('forbidden', 'the header X-CSRF is missing')
    if (site !== undefined && site !== 'same-origin') throw foreign()
    const host = origin === undefined ? undefined : hostOf(origin)
    if (host === undefined || (host !== request.host && !hosts.has(host))) throw foreign()
  }
}

const foreign = () => failed('forbidden', 'the request comes from another site')

const hostOf = (origin: string) => (URL.canParse(origin) ? new URL(origin).host : undefined)
