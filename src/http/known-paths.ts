/** Which paths exist at all, so that a wrong verb is told from a wrong path. */
import type { FastifyInstance } from 'fastify'

/** Call it before any route is registered. */
export function collectPaths(app: FastifyInstance): (path: string) => boolean {
  const patterns = new Set<string>()
  app.addHook('onRoute', ({ url }) => {
    // What a wildcard covers may or may not exist; only a bot call exists whatever stands in its place.
    if (url.includes('*') && !url.startsWith('/bot')) return
    patterns.add(
      `^${url
        .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
        .replace(/:\w+/g, '[^/]+')
        .replace('*', '.*')}$`,
    )
  })
  let known: RegExp | undefined
  return (path) => {
    known ??= new RegExp([...patterns].join('|') || '^$')
    return known.test(path)
  }
}
