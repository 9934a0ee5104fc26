/** Files of a Go module, fetched by the Go of the machine where they are not there yet. */
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'

const run = promisify(execFile)

interface GoModule {
  readonly folder: string
  /** Why it cannot be had here. */
  readonly missing?: string
}

/** `module` as `path@version`. */
export async function goModule(module: string): Promise<GoModule> {
  // Another Go than the machine's would be fetched at times.
  const env = { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '' }
  try {
    const words = ['mod', 'download', '-json', module]
    const { stdout } = await run('go', words, { cwd: tmpdir(), timeout: 120_000, env })
    return { folder: (JSON.parse(stdout) as { readonly Dir: string }).Dir }
  } catch (error) {
    const { code } = error as { readonly code?: unknown }
    const missing = code === 'ENOENT' ? 'go is not installed' : `go does not get ${module}`
    return { folder: '', missing }
  }
}
