/** Which verbs each path takes, so that a wrong verb is told from a wrong path. */
import type { FastifyInstance } from 'fastify'

/** Call it before any route is registered. The list is empty for a path that does not exist. */
export function collectPaths(app: FastifyInstance): (path: string) => string[] {
  const verbs = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    // What a wildcard covers may or may not exist; only a bot call exists whatever stands in its place.
    if (url.includes('*') && !/^\/(file\/)?bot/.test(url)) return
    const pattern = `^${url
      .replace(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replace(/:\w+/g, '[^/]+')
      .replace('*', '.*')}$`
    verbs.set(pattern, new Set([...(verbs.get(pattern) ?? []), ...[method].flat()]))
  })
  let known: readonly (readonly [pattern: RegExp, verbs: ReadonlySet<string>])[] | undefined
  return (path) => {
    known ??= [...verbs].map(([pattern, taken]) => [new RegExp(pattern), taken])
    const matching = known.filter(([pattern]) => pattern.test(path))
    return [...new Set(matching.flatMap(([, taken]) => [...taken]))].sort()
  }
}
