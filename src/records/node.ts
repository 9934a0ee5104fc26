/** Records of nodes: the processes that serve one database, and what operators have ordered. */
import { type Static, Type } from 'typebox'
import { Nullable } from '../json/schemas.ts'

export const NodeState = Type.Enum(['joining', 'up', 'suspended', 'draining', 'left', 'gone'])

export const NodeRecord = Type.Object({
  incarnation: Type.Integer({ description: 'One start of a process; never given twice' }),
  name: Type.String(),
  address: Nullable(Type.String({ description: 'Where it listens for other nodes' })),
  version: Type.String(),
  schema: Type.String({ description: 'The newest migration that its version knows' }),
  weight: Type.Integer(),
  state: NodeState,
  self: Type.Boolean({ description: 'Whether this is the node that answers' }),
  connected: Type.Boolean({ description: 'Whether it holds its lock in the database' }),
  to_drain: Type.Boolean({ description: 'An operator has ordered it to give its accounts away' }),
  accounts: Type.Integer({ description: 'That belong to it: of a node that drains, those left' }),
  pins: Type.Integer({ description: 'Accounts that operators keep at nodes of this name' }),
  held_polls: Nullable(
    Type.Integer({ description: '`getUpdates` calls that wait there; as it said within 2 s' }),
  ),
  parked: Nullable(
    Type.Integer({ description: 'Requests that wait for an account to have an owner' }),
  ),
  lag_ms: Nullable(
    Type.Integer({ description: 'The longest stop of its event loop within 2 s, in milliseconds' }),
  ),
  memory_mb: Nullable(Type.Integer({ description: 'What its process takes of the memory' })),
  beats: Type.Integer(),
  beat_age_seconds: Nullable(
    Type.Number({ description: 'As the answering node sees it; null for a node that has ended' }),
  ),
  started_at: Type.String({ format: 'date-time' }),
  ended_at: Nullable(Type.String({ format: 'date-time' })),
})

export type NodeRecord = Static<typeof NodeRecord>

/** An account that an operator keeps at a node. */
export const PinRecord = Type.Object({ credential_id: Type.Integer(), node: Type.String() })
