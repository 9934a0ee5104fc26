/** What runs in the worker threads, by name. Each task is loaded when it is first asked for: pictures take memory. */
import type { Look, LookTask } from './tasks/look.ts'
import type { Made, PictureTask } from './tasks/picture.ts'
import type { SealTask } from './tasks/seal.ts'
import type { SniffTask } from './tasks/sniff.ts'

export const look = async (task: LookTask): Promise<Look> =>
  (await import('./tasks/look.ts')).look(task)

export const picture = async (task: PictureTask): Promise<Made[] | undefined> =>
  (await import('./tasks/picture.ts')).picture(task)

export const seal = async (task: SealTask): Promise<Uint8Array> =>
  (await import('./tasks/seal.ts')).seal(task)

export const sniff = async (task: SniffTask): Promise<string | undefined> =>
  (await import('./tasks/sniff.ts')).sniff(task)
