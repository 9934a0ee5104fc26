/** Why the service does not start, told with the variable by which its operator can mend it. */

export class StartFailure extends Error {
  override readonly name = 'StartFailure'
}

export async function concerning<T>(variables: string, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw new StartFailure(`${variables}: ${textOf(cause)}`, { cause })
  }
}

/** A name with several addresses fails once for each, and says nothing of its own. */
function textOf(cause: unknown): string {
  if (cause instanceof AggregateError) return [...new Set(cause.errors.map(textOf))].join('; ')
  return cause instanceof Error ? cause.message : String(cause)
}
