/** The log of the process: one JSON object a line, without secrets. */
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino'
import { redact } from './redact.ts'

export type { Logger } from 'pino'

export interface LogOptions {
  readonly level?: string
  /** Where the lines go; standard output unless given. */
  readonly destination?: DestinationStream
}

/** What the log says of a request: its route's pattern, since the address itself may carry a key. */
interface LoggedRequest {
  readonly id?: unknown
  readonly method?: string
  readonly routeOptions?: { readonly url?: string | undefined }
}

/**
 * Redaction works on the finished line, not on known paths: a key may be in the text of an error that some
 * library built from an address.
 */
export function createLog({ level = 'info', destination }: LogOptions = {}): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: {
        req: ({ id, method, routeOptions }: LoggedRequest) => ({
          id,
          method,
          route: routeOptions?.url,
        }),
        res: ({ statusCode }: { readonly statusCode?: number }) => ({ status: statusCode }),
        err: stdSerializers.err,
      },
      hooks: { streamWrite: redact },
    },
    destination ?? pino.destination({ fd: 1, sync: true }),
  )
}
