/** A call that is passed on to a network which speaks the bot API itself, and the answer. */
import type { Happening } from './happening.ts'
import type { Failure } from './protocol.ts'

/** A call that a network which speaks the bot API itself is asked for in the caller's own words. */
export interface Passing {
  readonly kind: 'pass'
  readonly verb: 'GET' | 'POST'
  /** As the caller spelt it: letters and digits. */
  readonly method: string
  /** With its question mark; empty where there is none. */
  readonly query: string
  readonly body?: {
    /** Its content type. */
    readonly type: string
    /** In bytes, where it is known beforehand. */
    readonly length?: number
    /** Files come while they are passed on. */
    readonly bytes: Uint8Array | AsyncIterable<Uint8Array>
  }
  /** The messages that the call deletes, where it is a deletion. */
  readonly deletes?: { readonly chat: number; readonly messages: readonly number[] }
}

/** The answer to a call that was passed on, as it came. */
export interface Passed {
  readonly kind: 'passed'
  readonly status: number
  /** JSON text: the envelope of the bot API. */
  readonly text: string
  /** Why the network refused; absent where it did not. */
  readonly failure?: Failure
  /** The same in its own words. */
  readonly description?: string
  /** The code that it states, which some servers say under a status that is none of a failure. */
  readonly code?: number
  /** The text of the result, for a call that was not refused. */
  result(): string
  /** The messages that the call sent or changed, as updates for the account's other keys. */
  own(requestId: string): readonly Happening[]
}
