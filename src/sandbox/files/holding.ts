/** What a message's files are held for, and letting go of them when there is no such message. */
import { RequestFailed } from '../../../machines/model/failure.ts'
import type { World } from '../../platforms/sandbox/operations.ts'

/** Each message has its own hold, so that deleting one leaves its copies whole. */
export const holderOf = (sender: number, request: string) => `sandbox:${sender}:${request}`

/** A message that was refused for certain needs no files. */
export async function holdingWhile<Result>(
  world: World,
  holders: readonly string[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work()
  } catch (cause) {
    const isRefused = cause instanceof RequestFailed && cause.failure.code !== 'unavailable'
    if (isRefused) for (const holder of holders) await letGo(world, holder)
    throw cause
  }
}

/** A failure costs nothing but space. */
export async function letGo({ media, log }: World, holder: string): Promise<void> {
  await media.release(holder).catch((error: unknown) => {
    log.warn({ err: error, holder }, 'the files of a sandbox message are still held')
  })
}
