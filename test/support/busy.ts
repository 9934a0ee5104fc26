/** How long something keeps this thread busy: unlike the time on the wall, it does not grow with what else runs. */

/** Milliseconds of the processor. Work that is handed to other threads is not counted. */
export async function busyMs(work: () => unknown): Promise<number> {
  const before = process.threadCpuUsage()
  await work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
