/** What a session reports to have happened on the network, before it is an update of the bot API. */
import type { Buttons, Message, Person, Surface } from './content.ts'

interface Happened {
  /** Stable native identity of this event: the same event reported twice has the same key. */
  readonly sourceKey: string
  /** `own`: done by the account itself, on whatever device. */
  readonly direction: 'incoming' | 'own'
  /** Unix time in seconds. */
  readonly at: number
  /** Fetched after a gap rather than pushed live. */
  readonly recovered?: boolean
}

export type Happening =
  | (Happened & { readonly kind: 'message' | 'edited'; readonly message: Message })
  | (Happened & {
      readonly kind: 'deleted'
      /** Absent where the network does not tell; the core finds it by the message ids. */
      readonly chat?: string
      readonly surface?: Surface
      readonly messages: readonly string[]
    })
  | (Happened & {
      readonly kind: 'callback'
      readonly callback: string
      readonly from: Person
      readonly message: Message
      readonly data: string
      readonly buttons?: Buttons
    })

/** The receive settings of a credential. */
export interface ReceiveSettings {
  readonly includeSelfUpdates: boolean
  readonly includeChannelUpdates: boolean
  readonly includeChannelUpdateRecovery: boolean
  readonly includeDeletedUpdates: boolean
}

/** Whether the receive settings let this event become an update. */
export function admits(settings: ReceiveSettings, happening: Happening): boolean {
  const channel = surfaceOf(happening) === 'channel'
  if (happening.direction === 'own' && !settings.includeSelfUpdates) return false
  if (channel && !settings.includeChannelUpdates) return false
  if (channel && happening.recovered && !settings.includeChannelUpdateRecovery) return false
  return happening.kind !== 'deleted' || settings.includeDeletedUpdates
}

function surfaceOf(happening: Happening): Surface | undefined {
  return happening.kind === 'deleted' ? happening.surface : happening.message.chat.surface
}
