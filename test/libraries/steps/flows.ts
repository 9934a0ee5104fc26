/** Steps: those of the common script that nodes of flows have something for. */
import { commonSteps } from './all.ts'
import { restartSteps } from './restarts.ts'
import type { Step } from './step.ts'

export const flowSteps: readonly Step[] = [
  ...commonSteps(
    'own handler',
    'text heard',
    'parse modes',
    'entities',
    'reply',
    'edit',
    'edit heard',
    'delete',
    'refusal',
    'inline keyboard, callback, answer',
    'reply keyboard',
    'force reply',
    'chat action',
    'restart of the service',
    'photo up and down',
    'document up and down',
    'audio up and down',
    'video up and down',
    'sticker',
    'file heard and downloaded',
    'location',
    'forward and copy',
    'pin and unpin',
    'chat and members',
    'group text heard and answered',
  ),
  ...restartSteps,
]

/** Of n8n, whose buttons and entities have a form of their own. */
export const nodeSteps: readonly Step[] = [
  ...commonSteps(
    'own handler',
    'text heard',
    'parse modes',
    'reply',
    'edit',
    'edit heard',
    'delete',
    'refusal',
    'chat action',
    'restart of the service',
    'photo up and down',
    'document up and down',
    'audio up and down',
    'video up and down',
    'file heard and downloaded',
    'location',
    'group text heard and answered',
  ),
  ...restartSteps,
]
