/** The tasks of the worker threads, by name. Each is loaded when it is first asked for: pictures take memory. */

import type { ProgramTask, Run } from './child.ts'
import type { SealTask, UnsealFileTask, UnsealTask } from './tasks/chunks.ts'
import type { FastStartTask } from './tasks/fast-start.ts'
import type { Look, LookTask } from './tasks/look.ts'
import type { Made, PictureTask } from './tasks/picture.ts'
import type { SniffTask } from './tasks/sniff.ts'

export const fastStart = async (task: FastStartTask): Promise<boolean> =>
  (await import('./tasks/fast-start.ts')).fastStart(task)

export const look = async (task: LookTask): Promise<Look> =>
  (await import('./tasks/look.ts')).look(task)

export const picture = async (task: PictureTask): Promise<Made[] | undefined> =>
  (await import('./tasks/picture.ts')).picture(task)

export const program = async (task: ProgramTask): Promise<Run> =>
  (await import('./child.ts')).program(task)

/** To ask the loader for each segment anew costs a thirtieth of the segment's work. */
const chunks = lazily(() => import('./tasks/chunks.ts'))

export const seal = async (task: SealTask): Promise<Uint8Array> => (await chunks()).seal(task)

export const sniff = async (task: SniffTask): Promise<string | undefined> =>
  (await import('./tasks/sniff.ts')).sniff(task)

export const unseal = async (task: UnsealTask): Promise<Uint8Array> => (await chunks()).unseal(task)

export const unsealFile = async (task: UnsealFileTask): Promise<void> =>
  (await chunks()).unsealFile(task)

function lazily<Module>(load: () => Promise<Module>): () => Promise<Module> | Module {
  let loaded: Module | undefined
  return () => loaded ?? load().then((module) => (loaded = module))
}
