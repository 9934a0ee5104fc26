/** The logger of the process: one JSON object a line, without secrets. */
import { type DestinationStream, type Logger, pino } from 'pino'
import { asOneLine, redact } from '../security/redact.ts'

export type { Logger } from 'pino'

interface LoggerOptions {
  readonly level?: string
  /** The destination of the lines; standard output unless given. */
  readonly destination?: DestinationStream
}

/** A request in the log: the pattern of its route, because the URL itself may contain a key. */
interface LoggedRequest {
  readonly id?: unknown
  readonly method?: string
  readonly routeOptions?: { readonly url?: string | undefined }
}

/** The useful fields of an error, because some libraries attach whole connections. */
function errorFacts(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { name, message, stack, cause } = error
  const { code } = error as { readonly code?: unknown }
  return {
    type: name,
    message,
    ...(code !== undefined && { code }),
    stack,
    ...(cause !== undefined && { cause: errorFacts(cause) }),
  }
}

export function createLogger({ level = 'info', destination }: LoggerOptions = {}): Logger {
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
        err: errorFacts,
      },
      // Redacts the finished line, not known paths: the text of a library's error may contain an address with a key.
      hooks: { streamWrite: (line) => asOneLine(redact(line)) },
    },
    destination ?? standardOutput(),
  )
}

/** Of lines that cannot be written, as while a disk is full, so many bytes wait; what comes after them is dropped. */
const MOST_WAITING = 1_048_576

const ignore = () => undefined

/** Each line tries again to write those before it. Without a listener, one that is not written would end the process. */
function standardOutput(): DestinationStream {
  // The same for what is printed beside the log, such as sign-in codes: the disk may be full, or the reader gone.
  process.stdout.off('error', ignore).on('error', ignore)
  const output = pino.destination({ fd: 1, sync: true, maxLength: MOST_WAITING })
  // Each line is written at once. At a fatal one the library would try for ever, and the process would not end.
  output.flushSync = ignore
  return output.on('error', ignore)
}
