/** The questions of polls that were seen: the network tells how a poll stands without repeating what was asked. */
import type { tl } from '@mtcute/node'
import type { Happening } from '../../../../machines/model/happening.ts'
import { RecentMap } from '../../kit/recent-map.ts'
import { pollOf } from './poll.ts'

const REMEMBERED = 500

export class KnownPolls {
  readonly #polls = new RecentMap<string, tl.TypePoll>(REMEMBERED)

  /** Also those that the account has sent itself. */
  noteIn(updates: readonly tl.TypeUpdate[]): void {
    for (const update of updates) {
      const isNew = update._ === 'updateNewMessage' || update._ === 'updateNewChannelMessage'
      if (isNew) this.note(update.message)
    }
  }

  note(message: tl.TypeMessage): void {
    if (message._ !== 'message' || message.media?._ !== 'messageMediaPoll') return
    this.#note(message.media.poll)
  }

  knows({ pollId, poll }: tl.RawUpdateMessagePoll): boolean {
    return poll !== undefined || this.#polls.has(pollId.toString())
  }

  /** Undefined where it is not known what was asked. */
  read({ pollId, poll, results }: tl.RawUpdateMessagePoll): Happening | undefined {
    if (poll) this.#note(poll)
    const known = poll ?? this.#polls.get(pollId.toString())
    if (!known) return undefined
    return {
      kind: 'poll',
      // Not numbered by the network, and never told again: each is an event of its own.
      sourceKey: `p:${pollId}:${crypto.randomUUID()}`,
      direction: 'incoming',
      at: Math.floor(Date.now() / 1000),
      poll: pollOf(known, results),
    }
  }

  #note(poll: tl.TypePoll): void {
    this.#polls.set(poll.id.toString(), poll)
  }
}
