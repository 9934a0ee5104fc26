/** The panel as it is now, built unless it is already. */
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

interface Builder {
  buildPanelWhenStale(root: string, runtime: string): void
}

export async function buildPanel(): Promise<void> {
  // The launcher is plain JavaScript, without types.
  const { buildPanelWhenStale } = (await import(join(root, 'bin/panel.mjs'))) as Builder
  buildPanelWhenStale(root, process.execPath)
}
