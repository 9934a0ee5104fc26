/** Takes the steps of charts: snapshots share what is the same in many of them, and simple charts have a way that leaves less behind. */
import type {
  AnyActorScope,
  AnyEventObject,
  AnyMachineSnapshot,
  AnyStateMachine,
  AnyStateNode,
  AnyTransitionDefinition,
  StateValue,
} from 'xstate'

/** What most snapshots have of these; nothing writes to them. */
const none = {
  tags: new Set<string>(),
  children: Object.freeze({}),
  historyValue: Object.freeze({}),
}

/**
 * Has the snapshots of a machine share what is empty in them: of each its own would be a third of an idle actor's snapshot.
 * `isInspected`: XState tells inspectors of each of its own steps, so it takes all of them.
 */
export function lean<Machine extends AnyStateMachine>(
  machine: Machine,
  { isInspected }: { readonly isInspected: boolean },
): Machine {
  const { transition, getInitialSnapshot } = machine
  const steps = !isInspected && isPlain(machine) ? new PlainSteps(machine) : undefined
  machine.transition = (snapshot, event, scope) =>
    steps && !isOfXstate(event)
      ? steps.take(snapshot, event, scope)
      : shared(transition(snapshot, event, scope))
  machine.getInitialSnapshot = (...beginning) => shared(getInitialSnapshot(...beginning))
  return machine
}

/** XState alone ends children, and ends an actor whose child failed unless the chart says otherwise. */
const isOfXstate = ({ type }: AnyEventObject) =>
  type === 'xstate.stop' || type.startsWith('xstate.error.actor')

function shared<Snapshot extends AnyMachineSnapshot>(snapshot: Snapshot): Snapshot {
  if (snapshot.tags.size === 0) snapshot.tags = none.tags
  if (isEmpty(snapshot.children)) snapshot.children = none.children
  if (isEmpty(snapshot.historyValue)) snapshot.historyValue = none.historyValue
  return snapshot
}

const isEmpty = (object: object) => Object.keys(object).length === 0

/** From the root to the innermost state. */
type Path = AnyStateNode[]
type Actions = AnyTransitionDefinition['actions']

/** A state of a chart, with what all snapshots in it share. */
interface Place {
  readonly path: Path
  readonly value: StateValue
  /** Transitions from here: everything that each of them does, in order, and where it leads. */
  readonly routes: Map<AnyTransitionDefinition, { readonly actions: Actions; readonly to: Place }>
}

/** An action of XState's own. */
interface Builtin {
  readonly type: string
  readonly assignment?: Assign | Readonly<Record<string, Assign | unknown>>
  resolve(
    scope: AnyActorScope,
    snapshot: AnyMachineSnapshot,
    args: object,
    params: unknown,
    itself: Builtin,
    extra: { readonly internalQueue: AnyEventObject[] },
  ): [snapshot: AnyMachineSnapshot, params: unknown, actions?: Actions]
  execute?(scope: AnyActorScope, params: unknown): void
}
type Assign = (args: object, params: unknown) => object
type Act = (args: object, params: unknown) => void

interface Step {
  readonly event: AnyEventObject
  readonly scope: AnyActorScope
  /** Events that the step itself has raised. */
  readonly raised: AnyEventObject[]
}

const nodesIn = (node: AnyStateNode): Path => [node, ...Object.values(node.states).flatMap(nodesIn)]
const pathTo = (node: AnyStateNode): Path => [...(node.parent ? pathTo(node.parent) : []), node]
const isBuiltin = (guard: unknown) => typeof guard !== 'function' || 'check' in guard

/** Whether a chart has states within states and nothing else, and guards of its own. Any other is left to XState. */
export function isPlain({ root, options, implementations }: AnyStateMachine): boolean {
  const { guards } = implementations
  if (options.maxIterations !== Number.POSITIVE_INFINITY) return false
  if (Object.values(guards).some(isBuiltin)) return false
  return nodesIn(root).every(({ type, invoke, tags, initial, transitions, always = [] }) => {
    const all = [...transitions.values(), always].flat()
    const isSimple = type === 'atomic' || type === 'compound'
    const isExact = ![...transitions.keys()].some((name) => name.includes('*'))
    const hasMore = invoke.length + tags.length + initial.actions.length > 0
    const isOdd = all.some(({ guard, source, reenter, target = [] }) => {
      return (
        typeof guard === 'function' ||
        target.length > 1 ||
        target.includes(root) ||
        (reenter && source === root)
      )
    })
    return isSimple && isExact && !hasMore && !isOdd
  })
}

/**
 * Takes the steps of a plain chart as XState does, which makes dozens of sets and lists for each of them: these were half of
 * what a poll left behind for the collector.
 */
class PlainSteps {
  readonly #guards: Readonly<Record<string, (args: object, params: unknown) => boolean>>
  readonly #actions: Readonly<Record<string, Act | Builtin>>
  readonly #places = new Map<AnyStateNode, Place>()

  constructor({ implementations: { guards, actions } }: AnyStateMachine) {
    this.#guards = guards as never
    this.#actions = actions as never
  }

  take(
    before: AnyMachineSnapshot,
    event: AnyEventObject,
    scope: AnyActorScope,
  ): AnyMachineSnapshot {
    let step: Step = { event, scope, raised: [] }
    let snapshot = this.#follow(before, this.#chosen(before, event), step)
    for (let mayMove = true; ; ) {
      const move: AnyTransitionDefinition | undefined = mayMove
        ? this.#chosen(snapshot, step.event, true)
        : undefined
      if (!move) {
        const raised = step.raised.shift()
        if (!raised) return snapshot
        step = { ...step, event: raised }
      }
      const next = this.#follow(snapshot, move ?? this.#chosen(snapshot, step.event), step)
      mayMove = !move || next !== snapshot
      snapshot = next
    }
  }

  /** The innermost transition whose guard lets it pass; `alone`: of those that need no event. */
  #chosen(
    { _nodes: path, context }: AnyMachineSnapshot,
    event: AnyEventObject,
    alone = false,
  ): AnyTransitionDefinition | undefined {
    const args = { context, event }
    for (let depth = path.length - 1; depth >= 0; depth--) {
      const node = path[depth]
      const transitions = alone ? node?.always : node?.transitions.get(event.type)
      for (const transition of transitions ?? []) {
        if (this.#passes(transition.guard as Named | undefined, args)) return transition
      }
    }
    return undefined
  }

  #passes(guard: Named | undefined, args: object): boolean {
    if (guard === undefined) return true
    const passes = this.#guards[typeof guard === 'string' ? guard : guard.type]
    if (!passes) throw new Error(`there is no guard '${JSON.stringify(guard)}'`)
    return passes(args, paramsOf(guard, args))
  }

  #follow(
    snapshot: AnyMachineSnapshot,
    transition: AnyTransitionDefinition | undefined,
    step: Step,
  ): AnyMachineSnapshot {
    if (!transition) return snapshot
    if (!transition.target) return this.#act(snapshot, transition.actions, step)
    const from = this.#place(snapshot._nodes)
    const known = from.routes.get(transition)
    const { actions, to } = known ?? this.#route(from.path, transition)
    if (!known) from.routes.set(transition, { actions, to })
    const after = this.#act(snapshot, actions, step)
    return to === from ? after : { ...after, value: to.value, _nodes: to.path }
  }

  #act(before: AnyMachineSnapshot, actions: Actions, step: Step): AnyMachineSnapshot {
    const { event, scope, raised } = step
    let snapshot = before
    for (const action of actions as readonly (Named | Act | Builtin)[]) {
      const act = typeof action === 'function' ? action : this.#actions[nameOf(action)]
      const args = { context: snapshot.context, event, self: scope.self, system: scope.system }
      const params = paramsOf(action, args)
      if (!act || !('resolve' in act)) act?.(args, params)
      else if (act.assignment) {
        const context = { ...snapshot.context, ...assigned(act.assignment, args, params) }
        snapshot = { ...snapshot, context }
      } else {
        const extra = { internalQueue: raised }
        const [next, resolved, more] = act.resolve(scope, snapshot, args, params, act, extra)
        act.execute?.(scope, resolved)
        snapshot = more ? this.#act(next, more, step) : next
      }
    }
    return snapshot
  }

  #place(path: Path): Place {
    const innermost = path.at(-1) as AnyStateNode
    const known = this.#places.get(innermost)
    if (known) return known
    const value = path
      .slice(1)
      .reduceRight<StateValue>((inner, { key }) => (inner === '' ? key : { [key]: inner }), '')
    const place = { path, value, routes: new Map() }
    this.#places.set(innermost, place)
    return place
  }

  /** Leaves the states up to the one that holds both ends, and enters those down to the target and its initial states. */
  #route(from: Path, { source, target: [target] = [], reenter, actions }: AnyTransitionDefinition) {
    const path = pathTo(target as AnyStateNode)
    const ends = [path.slice(0, -1), pathTo(source).slice(0, -1)] as const
    const shared = ends[0].filter((node) => ends[1].includes(node))
    const kept = !reenter && path.includes(source) ? pathTo(source) : shared
    for (let [next] = [path.at(-1)]; next?.type === 'compound'; ) {
      next = next.initial.target[0]
      if (next) path.push(next)
    }
    const left = from.slice(kept.length).reverse()
    const entered = path.slice(kept.length)
    return {
      actions: [
        ...left.flatMap(({ exit }) => exit),
        ...actions,
        ...entered.flatMap(({ entry }) => entry),
      ],
      to: this.#place(path),
    }
  }
}

/** How a chart names a guard or an action, with what it gets. */
type Named = string | { readonly type: string; readonly params?: unknown }

const nameOf = (named: Named) => (typeof named === 'string' ? named : named.type)

function paramsOf(named: unknown, args: object): unknown {
  if (typeof named !== 'object' || named === null || !('params' in named)) return undefined
  return typeof named.params === 'function' ? named.params(args) : named.params
}

function assigned(assignment: NonNullable<Builtin['assignment']>, args: object, params: unknown) {
  if (typeof assignment === 'function') return assignment(args, params)
  const changes: Record<string, unknown> = {}
  for (const name of Object.keys(assignment)) {
    const value = assignment[name]
    changes[name] = typeof value === 'function' ? value(args, params) : value
  }
  return changes
}
