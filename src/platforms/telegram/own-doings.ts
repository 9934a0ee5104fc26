/** What the account has done here is no news to it: known from the network's answer on, and forgotten once counted. */
import type { tl } from '@mtcute/node'
import type { Client } from './client.ts'

const UPDATES: readonly string[] = [
  'updates',
  'updatesCombined',
  'updateShort',
  'updateShortMessage',
  'updateShortChatMessage',
  'updateShortSentMessage',
] satisfies readonly tl.TypeUpdates['_'][]

export function keepOwnDoings(client: Client): void {
  const { mt, updates } = client
  if (!updates) return
  const call = mt.call.bind(mt)
  // Only after writing down whom the answer speaks of would the library know: a list of what was missed,
  // asked for meanwhile, has it as well and would be told first.
  const noting: Client['mt']['call'] = async (request, params) => {
    const answer = await call(request, params)
    // Whoever gave up waiting does not learn of it: then it is news.
    const isAwaited = params?.abortSignal?.aborted !== true
    if (isAwaited && isUpdates(answer)) updates._addToNoDispatchIndex(answer)
    return answer
  }
  mt.call = noting
  const save = updates._saveUpdatesStorage.bind(updates)
  updates._saveUpdatesStorage = (isWhole) => {
    forgetCounted(updates)
    return save(isWhole)
  }
}

const isUpdates = (answer: unknown): answer is tl.TypeUpdates =>
  typeof answer === 'object' && answer !== null && '_' in answer && UPDATES.includes(`${answer._}`)

/** What is counted is not told any more, and the library itself keeps the numbers of much of it for ever. */
function forgetCounted({
  noDispatchPts,
  noDispatchMsg,
  pts,
  cpts,
}: NonNullable<Client['updates']>): void {
  for (const [box, own] of noDispatchPts) {
    const counted = (box === 0 ? pts : cpts.get(box)) ?? 0
    for (const one of own) if (one <= counted) own.delete(one)
    if (own.size > 0) continue
    noDispatchPts.delete(box)
    noDispatchMsg.delete(box)
  }
}
