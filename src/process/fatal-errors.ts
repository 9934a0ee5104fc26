/** Errors that end the process: failures of the start with the variable to change, uncaught errors, and the exit codes. */
import type { Logger } from '../../actors/ports/ports.ts'
import { faultOfDatabase } from '../database/failures.ts'

export const exitCodes = {
  /** Something that the start needs is not to be had: a port, the database, a disk (EX_UNAVAILABLE). */
  cannotStart: 69,
  /** The environment is wrong: another start would end the same way (EX_CONFIG). */
  misconfigured: 78,
} as const

export class StartFailure extends Error {
  override readonly name = 'StartFailure'
}

/** Awaits a step of the start. Its failure names the environment variables that the step depends on. */
export async function concerning<T>(variables: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    // A failure of an inner step names its variable more precisely.
    if (cause instanceof StartFailure) throw cause
    throw new StartFailure(`${variables}: ${textOf(cause)}`, { cause })
  }
}

/**
 * Awaits a step that asks the database among other things: where the database is at fault, the failure names it, and not
 * what else the step depends on.
 */
export async function concerningDatabase<T>(name: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const fault = cause instanceof StartFailure ? undefined : faultOfDatabase(cause)
    if (!fault) throw cause
    throw new StartFailure(`${name}: ${textOf(fault)}`, { cause })
  }
}

/**
 * Words for the codes of the system, and of the database where its own words leave open what to do. Other errors already
 * have a readable message.
 */
const inWords: Readonly<Record<string, string>> = {
  53100: 'the disk of the database is full',
  53300: 'the database has no connection left: end what holds them, or raise its max_connections',
  '57P03': 'the database is starting or stopping: try again in a moment',
  25006: 'the database takes no writes: name the server that does',
  EADDRINUSE: 'in use by another process',
  EADDRNOTAVAIL: 'not an address of this machine',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  ENOTDIR: 'a part of the path is not a folder',
  EEXIST: 'a file, where a folder is wanted',
  EISDIR: 'a folder, where a file is wanted',
  ECONNREFUSED: 'nobody listens there',
  ENOTFOUND: 'there is no such host',
  ETIMEDOUT: 'no answer in time',
}

/** The error for a host with several addresses has one cause for each address, and no message of its own. */
function textOf(cause: unknown): string {
  if (cause instanceof AggregateError) return [...new Set(cause.errors.map(textOf))].join('; ')
  if (!(cause instanceof Error)) return oneLine(String(cause))
  const { code, path, address, port } = cause as NodeJS.ErrnoException & Partial<Place>
  const words = inWords[code ?? '']
  if (words === undefined) return oneLine(cause.message)
  const place = path ?? (port === undefined ? address : `${address ?? ''}:${port}`)
  return `${place === undefined ? '' : `${place}: `}${words} (${code})`
}

interface Place {
  readonly address: string
  readonly port: number
}

/** Programs and servers write many lines: the first one, with the last that names an error. */
function oneLine(text: string): string {
  const [first = '', ...more] = text.split('\n').map((line) => line.trim())
  const telling = more.findLast((line) => /\b(FATAL|PANIC|ERROR|error): /.test(line))
  return telling === undefined ? first : `${first.replace(/:$/, '')}: ${telling}`
}

/** The system's error codes for the other end of a connection. */
const ofOneConnection = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ETIMEDOUT'])
const duringTransfer = new Set(['read', 'write', 'writev', 'shutdown'])

/**
 * The one safe case: the system ended a socket without an error listener. Node.js destroys that socket first and
 * reports the error from the event loop, so no code of ours or of a library was interrupted, and only the socket is
 * lost. Its stack has no frame outside of Node.js. Any other error may have interrupted a change of shared state: the
 * process ends, and is started again.
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
