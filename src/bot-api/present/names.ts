/** What things are called towards a client: the integers of chats and messages, and the ids of files. */
import type { Ids } from '../../identities/ids.ts'
import type { NamedFile } from '../file-id.ts'

export interface Names extends Ids {
  file(file: NamedFile): string
  /** The account itself; absent while no session has said so. */
  readonly self?: string | undefined
}
