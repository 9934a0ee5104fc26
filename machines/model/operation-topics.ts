/** Operations about the topics of a forum. */

export const TOPIC_OPERATIONS = [
  'create_topic',
  'edit_topic',
  'close_topic',
  'reopen_topic',
  'delete_topic',
] as const

interface OneTopic<Place, Item> {
  readonly chat: Place
  /** The message that began it. */
  readonly topic: Item
}

export type TopicOperation<Place, Item> =
  | {
      readonly kind: 'create_topic'
      readonly chat: Place
      readonly name: string
      /** RGB; absent: the network chooses. */
      readonly iconColor?: number
      /** A custom emoji's id. */
      readonly icon?: string
    }
  /** An absent field stays as it is; an empty icon removes the icon. */
  | ({
      readonly kind: 'edit_topic'
      readonly name?: string
      readonly icon?: string
    } & OneTopic<Place, Item>)
  | ({ readonly kind: 'close_topic' | 'reopen_topic' } & OneTopic<Place, Item>)
  /** Deletes all its messages too. */
  | ({ readonly kind: 'delete_topic' } & OneTopic<Place, Item>)
