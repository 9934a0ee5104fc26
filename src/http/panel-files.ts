/** The built panel in memory: a few hundred kilobytes, compressed when it was built. */
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, sep } from 'node:path'

export interface PanelFile {
  readonly type: string
  readonly plain: Buffer
  readonly br?: Buffer
  readonly gzip?: Buffer
}

/** Where `npm start` builds it. */
export const panelDirectory = join(import.meta.dirname, '..', '..', 'dist', 'panel')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}

const suffixes = { '.br': 'br', '.gz': 'gzip' } as const

/** By path with forward slashes; empty when there is no build. */
export async function readPanel(directory: string): Promise<ReadonlyMap<string, PanelFile>> {
  const files = new Map<string, PanelFile>()
  for (const path of (await pathsIn(directory)).sort()) {
    const content = await readFile(join(directory, path))
    const name = path.split(sep).join('/')
    const ending = extname(name)
    if (ending === '.br' || ending === '.gz') {
      const whole = name.slice(0, -ending.length)
      const file = files.get(whole)
      if (file) files.set(whole, { ...file, [suffixes[ending]]: content })
      continue
    }
    const type = types[ending]
    if (type) files.set(name, { type, plain: content })
  }
  return files
}

async function pathsIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(toNone)
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(directory, join(parentPath, name)))
}

function toNone(cause: NodeJS.ErrnoException): never[] {
  if (cause.code === 'ENOENT') return []
  throw cause
}
