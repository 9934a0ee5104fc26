/** A state machine as plain data: its states as paths, and what leads from one to another. */

import type { AnyStateNode } from 'xstate'
import type { Chart } from '../../records/credential.ts'

export function chartOf(name: string, root: AnyStateNode): Chart {
  const nodes = [...below(root)]
  return {
    name,
    states: nodes.map(stateOf),
    transitions: [root, ...nodes].flatMap(transitionsOf),
  }
}

function* below(node: AnyStateNode): Generator<AnyStateNode> {
  for (const child of Object.values(node.states)) {
    yield child
    yield* below(child)
  }
}

const pathOf = (node: AnyStateNode) => (node.path.length === 0 ? null : node.path.join('.'))

const stateOf = (node: AnyStateNode) => ({
  path: node.path.join('.'),
  parent: node.parent ? pathOf(node.parent) : null,
  type: node.type,
  initial: node.parent?.initial?.target?.includes(node) ?? false,
  meta: { ...node.meta },
  invokes: node.invoke.map(({ src }) => (typeof src === 'string' ? src : 'actor')),
})

const transitionsOf = (node: AnyStateNode) =>
  [...node.transitions.values(), node.always ?? []].flat().flatMap((transition) =>
    (transition.target ?? [undefined]).map((target) => ({
      from: pathOf(node),
      to: target ? pathOf(target) : null,
      event: eventName(transition.eventType),
      guard: guardName(transition.guard),
    })),
  )

/** `xstate.after.backoff.credential.waiting` is `after.backoff`, as in the timeline; `` is `always`. */
const eventName = (type: string) =>
  type === '' ? 'always' : type.replace(/^xstate\.(after\.\w+).*/, '$1')

function guardName(guard: unknown): string | null {
  if (guard === undefined) return null
  if (typeof guard === 'string') return guard
  if (typeof guard !== 'object' || guard === null || !('type' in guard)) return 'condition'
  const { type, params } = guard as { type: unknown; params?: unknown }
  return typeof params === 'string' ? `${type} ${params}` : String(type)
}
