/** Which paths exist at all, so that a wrong verb is told from a wrong path. */
import type { FastifyInstance } from 'fastify'

/** Call it before any route is registered. */
export function collectPaths(app: FastifyInstance): (path: string) => boolean {
  const patterns = new Set<string>()
  app.addHook('onRoute', ({ url }) => {
    // A bot call with a wrong verb and a wrong key should not learn more than one with a right verb.
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
