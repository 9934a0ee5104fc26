/** Keeps other sites from using the panel's cookie: the request must come from a page of this one. */
import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import { failed } from '../../machines/model/failure.ts'

export function refuseOtherSites(panelUrls: readonly string[]): onRequestAsyncHookHandler {
  const panels = panelUrls.map((url) => new URL(url))
  const origins = new Set(panels.map(({ origin }) => origin))
  const secureHosts = new Set(
    panels.filter(({ protocol }) => protocol === 'https:').map(({ host }) => host),
  )
  return async (request: FastifyRequest) => {
    const { origin, 'sec-fetch-site': site, 'x-csrf': mark } = request.headers
    // A form or an image of another site cannot set a header of its own.
    if (mark !== '1') throw failed('forbidden', 'the header X-CSRF is missing')
    if (site !== undefined && site !== 'same-origin') throw foreign()
    if (origin === undefined || !URL.canParse(origin)) throw foreign()
    if (origins.has(origin)) return
    const { host, protocol } = new URL(origin)
    // A page without TLS may be anybody's on the way: it does not stand for one with TLS.
    const isDowngraded = request.protocol === 'https' || secureHosts.has(host)
    if (host !== request.host || (protocol !== 'https:' && isDowngraded)) throw foreign()
  }
}

const foreign = () => failed('forbidden', 'the request comes from another site')
