/** How the bot API of a network differs from the reference, for those who write its calls. */
import type { Capabilities } from '../../../actors/ports/platform.ts'

export interface Dialect {
  /** The network's name, for users. */
  readonly name: string
  readonly capabilities: Capabilities
  /** The network's names of methods, by the reference's, where they differ. */
  readonly methods: Readonly<Record<string, string>>
  /** Texts take their formatting as entities; without, they go out plain. */
  readonly takesEntities: boolean
  /** A reply is named by `reply_parameters`; without, by `reply_to_message_id`. */
  readonly hasReplyParameters: boolean
  /** The link preview of a text can be chosen. */
  readonly hasPreviews: boolean
  /** The file of a message can be changed. */
  readonly editsMedia: boolean
}
