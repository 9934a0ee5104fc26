/** What the rules of the parameters say nothing about yet. */
import { UPDATE_KINDS } from '../../machines/model/update-kinds.ts'
import { canDo } from '../../src/bot-api/method.ts'
import { methods } from '../../src/bot-api/methods/index.ts'
import {
  methodRefused,
  parametersKnown,
  reasonAgainst,
  treatmentOf,
} from '../../src/bot-api/parameter-rules.ts'
import { METHOD_NAMES } from '../../src/bot-api/reference.ts'
import { platforms } from '../docs/platform-tables.ts'
import type { Declarations } from './declarations.ts'

/** One line for each method, parameter and kind of update; empty when a refusal can always say why. */
export function unclassified({ updateKinds }: Pick<Declarations, 'updateKinds'>): string[] {
  const found = METHOD_NAMES.flatMap((name) =>
    platforms.flatMap((platform) => unclassifiedOn(platform, name)),
  )
  const kinds = updateKinds.filter((kind) => !UPDATE_KINDS.some((known) => known === kind))
  return [
    ...new Set(found),
    ...kinds.map((kind) => `update ${kind}: not in UPDATE_KINDS (machines/model/update-kinds.ts)`),
  ]
}

function unclassifiedOn([id, capabilities]: (typeof platforms)[number], name: string): string[] {
  const platform = { id, name: id, capabilities } as Parameters<typeof methodRefused>[0]
  const method = methods.get(name.toLowerCase())
  if (!method || !canDo(platform, method)) {
    const hasSubject = !/nothing like it/.test(methodRefused(platform, name).message)
    return hasSubject ? [] : [`method ${name}: no subject in SUBJECTS (${RULES})`]
  }
  return parametersKnown(name)
    .filter((parameter) => treatmentOf(platform, method, parameter) === 'refused')
    .filter((parameter) => !reasonAgainst(platform, method, parameter))
    .map(
      (parameter) =>
        `parameter ${name}.${parameter}: not read, not in LACKING or COSMETIC (${RULES})`,
    )
}

const RULES = 'src/bot-api/parameter-rules.ts'
