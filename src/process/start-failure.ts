/** Why the service does not start, in one line with the variable to change; and the codes it ends with. */

export const exitCodes = {
  /** Something that the start needs is not to be had: a port, the database, a disk (EX_UNAVAILABLE). */
  cannotStart: 69,
  /** The environment is wrong: another start would end the same way (EX_CONFIG). */
  misconfigured: 78,
} as const

export class StartFailure extends Error {
  override readonly name = 'StartFailure'
}

export async function concerning<T>(variables: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    // What is inside knows better what it is about.
    if (cause instanceof StartFailure) throw cause
    throw new StartFailure(`${variables}: ${textOf(cause)}`, { cause })
  }
}

/** What the system says by a code alone; the rest of its messages speak for themselves. */
const inWords: Readonly<Record<string, string>> = {
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

/** A name with several addresses fails once for each, and says nothing of its own. */
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

/** Programs and servers say in many lines what one of them tells. */
function oneLine(text: string): string {
  const [first = '', ...more] = text.split('\n').map((line) => line.trim())
  const telling = more.findLast((line) => /\b(FATAL|PANIC|ERROR|error): /.test(line))
  return telling === undefined ? first : `${first.replace(/:$/, '')}: ${telling}`
}
