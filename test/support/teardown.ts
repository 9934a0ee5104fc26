/** Work that is cleaned up after as a test is, where there is no test. */
export interface Testing {
  teardown(work: () => Promise<void> | void): void
}

export async function withTeardown<Value>(work: (t: Testing) => Promise<Value>): Promise<Value> {
  const closing: (() => Promise<void> | void)[] = []
  try {
    return await work({ teardown: (close) => void closing.unshift(close) })
  } finally {
    for (const close of closing) await close()
  }
}
