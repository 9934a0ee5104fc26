/** The operations of a network as a table: an entry for each operation that it can carry out. */
import { failed } from '../../machines/model/failure.ts'
import type {
  Operation,
  OperationKind,
  OperationOf,
  OperationResult,
} from '../../machines/model/operation.ts'

/** The part of a handler's context that is the same on every network. */
export interface Request {
  /** Becomes the network's own client-side id where there is one, so that a repeated send is one message. */
  readonly requestId: string
  readonly signal: AbortSignal
}

/**
 * Carries out operations of one kind. `Context` is the network's own: the parts of its session, and usually `Request`.
 * Rejects with `RequestFailed`; `certain: false` when it may have happened all the same.
 */
type Handler<Context, Kind extends OperationKind> = (
  context: Context,
  operation: OperationOf<Kind>,
) => Promise<OperationResult>

/** An operation without an entry is unsupported. The keys are what `Capabilities.operations` lists. */
export type Handlers<Context> = {
  readonly [Kind in OperationKind]?: Handler<Context, Kind>
}

export const operationsOf = <Context>(handlers: Handlers<Context>) =>
  Object.keys(handlers) as OperationKind[]

/** The one place that finds the handler of an operation. Throws where the network, here called `name`, has none. */
export function handle<Context>(
  handlers: Handlers<Context>,
  name: string,
  context: Context,
  operation: Operation,
): Promise<OperationResult> {
  const { kind } = operation
  const handler = handlers[kind] as Handler<Context, OperationKind> | undefined
  if (!handler) throw failed('bad_request', `${kind} is not supported on ${name}`)
  return handler(context, operation)
}
