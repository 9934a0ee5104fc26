/** Errors that nobody caught: those that are certain to concern one connection alone, and the end of all others. */
import type { Logger } from '../../actors/ports/ports.ts'

/** What a system says of the other end of one connection. */
const ofOneConnection = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT'])
const duringTransfer = new Set(['read', 'write', 'writev', 'shutdown'])

/**
 * The one case that is safe: the system ended a socket while nobody listened to its errors. Node.js destroys that socket
 * first and tells of it from the event loop, so no statement of ours or of a library was cut short, and the socket is
 * all that is lost. Its stack shows it: it has no frame outside of Node.js. Everything else may have left something
 * shared half done: the process ends, and is started again.
 */
export function concernsOneConnection(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code = '', syscall = '', stack = '' } = error as NodeJS.ErrnoException
  if (!ofOneConnection.has(code) || !duringTransfer.has(syscall)) return false
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  return frames.every((frame) => /\(?node:internal\//.test(frame))
}

/** The part of `process` that an uncaught error concerns. */
interface Endable {
  emit(event: 'uncaughtException', error: Error, origin: 'uncaughtException'): boolean
  exit(code: number): void
}

/** Does for all other errors what Node.js does without a callback: it calls each listener, or ends where there is none. */
export function onUncaught(
  err: Error,
  logger: Pick<Logger, 'error'>,
  target: Endable = process,
): void {
  if (concernsOneConnection(err)) {
    logger.error({ err }, 'an error of a connection was not handled')
    return
  }
  if (target.emit('uncaughtException', err, 'uncaughtException')) return
  logger.error({ err }, 'the service ends on an error')
  target.exit(1)
}
