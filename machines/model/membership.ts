/** Members of a chat, and the invite links that lead into it. */
import type { Surface } from './content.ts'
import type { Person } from './person.ts'
import type { Permission, Right } from './rights.ts'

export interface Member {
  readonly person: Person
  readonly status: 'creator' | 'administrator' | 'member' | 'restricted' | 'left' | 'kicked'
  /** Only for an administrator. */
  readonly rights?: readonly Right[]
  readonly title?: string
  readonly isAnonymous?: boolean
  /** The native id of who made this person an administrator, if the network tells it. */
  readonly promotedBy?: string
  /** Only for ordinary members. */
  readonly tag?: string
  /** Whether this account may change the administrator's rights. */
  readonly isEditable?: boolean
  /** Only for a restricted person. */
  readonly permissions?: readonly Permission[]
  /** Only for a restricted person: not in the chat at present, and restricted again after joining. */
  readonly isOutside?: boolean
  /** Unix time in seconds; absent: for ever. */
  readonly until?: number
}

export interface Invite {
  readonly link: string
  readonly creator: Person
  readonly name?: string
  readonly isPrimary: boolean
  readonly isRevoked: boolean
  readonly needsApproval: boolean
  /** Unix time in seconds. */
  readonly expiresAt?: number
  readonly memberLimit?: number
  readonly pendingRequests?: number
  /** The price of joining, and the period it pays for. */
  readonly subscription?: { readonly seconds: number; readonly stars: number }
}

/** A person's gift of reach to a chat; times are Unix time in seconds. */
export interface Boost {
  readonly id: string
  readonly person: Person
  readonly at: number
  readonly expiresAt: number
}

/** Results of operations about members. `surface`: the kind of the chat, because each kind has its own rights. */
export type MembershipOutcome =
  | { readonly kind: 'member'; readonly member: Member; readonly surface: Surface }
  | { readonly kind: 'members'; readonly members: readonly Member[]; readonly surface: Surface }
  | { readonly kind: 'invite'; readonly invite: Invite }
  | { readonly kind: 'boosts'; readonly boosts: readonly Boost[] }
