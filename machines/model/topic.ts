/** Topics of forums. */

/** How a topic of a forum looks. */
export interface TopicLook {
  readonly name: string
  /** RGB. */
  readonly iconColor: number
  /** A custom emoji's id. */
  readonly icon?: string
}

/** A topic is named by the message that began it. */
export interface Topic extends TopicLook {
  readonly native: string
}
