/** Notes the parameters that methods look at, for calls that come one after another. */
import { Arguments } from '../../src/bot-api/arguments.ts'
import type { MethodStage } from '../service/method-stage.ts'

/** What `chat()` and its like read when they are given no name. */
const USUAL: Readonly<Record<string, string>> = {
  chat: 'chat_id',
  userId: 'user_id',
  messageId: 'message_id',
}

export interface Reads {
  /** The same stage, whose calls are watched. */
  readonly stage: MethodStage
  /** Of the last call of each method. */
  readonly byMethod: ReadonlyMap<string, ReadonlySet<string>>
}

/** Watches for as long as the process lives. */
export function watchReads(stage: MethodStage): Reads {
  let names = new Set<string>()
  const readers = Object.entries(Object.getOwnPropertyDescriptors(Arguments.prototype))
  for (const [reader, { value: read }] of readers) {
    if (reader === 'constructor' || typeof read !== 'function') continue
    const watched = function (this: Arguments, ...given: unknown[]) {
      const name = typeof given[0] === 'string' ? given[0] : USUAL[reader]
      if (name !== undefined) names.add(name)
      return read.apply(this, given)
    }
    Object.defineProperty(Arguments.prototype, reader, { value: watched })
  }
  const byMethod = new Map<string, ReadonlySet<string>>()
  const call: MethodStage['call'] = async (method, parameters) => {
    names = new Set()
    byMethod.set(method, names)
    return stage.call(method, parameters)
  }
  return { stage: { ...stage, call }, byMethod }
}
