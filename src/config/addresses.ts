/** The addresses of the database and of the queues: told to be malformed before anything tries to reach them. */
import { ConfigurationError } from './error.ts'

const advice = 'with the special characters of its password percent-encoded'

/** As PostgreSQL's own programs take it: the host may be left out where a parameter names a socket. */
export function databaseUrlFrom(url: string | undefined): string | undefined {
  if (url === undefined || URL.canParse(url.replace('@/', '@socket/'))) return url
  throw new ConfigurationError(
    `DATABASE_URL must be an address such as postgres://user:password@host:5432/name, ${advice}`,
  )
}

/** A part that is not understood is left out by the client, which then connects to another place. */
export function redisUrlFrom(url: string | undefined): string | undefined {
  if (url === undefined) return undefined
  const parsed = URL.parse(url)
  if (parsed?.hostname && /^(\/\d*)?$/.test(parsed.pathname)) return url
  throw new ConfigurationError(
    `REDIS_URL must be an address such as redis://user:password@host:6379/0, ${advice}`,
  )
}
