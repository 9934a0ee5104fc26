/** Reactions to messages: the network reports the current ones, and changes are found by comparing with earlier reports. */
import type { tl } from '@mtcute/node'
import type { Chat, Reaction } from '../../../../machines/model/content.ts'
import type { Happening } from '../../../../machines/model/happening.ts'
import type { Person } from '../../../../machines/model/person.ts'
import { RecentMap } from '../../kit/recent-map.ts'
import { chatOf, personById, type View } from './peers.ts'

interface Opinion {
  readonly reactions: readonly Reaction[]
  /** Time of the newest reaction, Unix time in seconds. */
  readonly at: number
}

type Opinions = ReadonlyMap<number, Opinion>
type Target = { readonly chat: Chat; readonly target: string }

/** Reactions are remembered for this many messages. */
const REMEMBERED = 500

export class OpinionReader {
  readonly #known = new RecentMap<string, Opinions>(REMEMBERED)
  readonly #since: () => number

  /** `since`: earlier reactions are not reported. Unix time in seconds. */
  constructor(since: () => number) {
    this.#since = since
  }

  read({ peer, msgId, reactions }: tl.RawUpdateMessageReactions, view: View): Happening[] {
    const chat = chatOf(peer, view)
    const of = { chat, target: `${msgId}` }
    const { results, recentReactions = [] } = reactions
    const now = opinionsIn(recentReactions)
    const counted = results.reduce((sum, { count }) => sum + count, 0)
    const listed = [...now.values()].reduce((sum, { reactions }) => sum + reactions.length, 0)
    const before = this.#exchange(`${chat.native}:${msgId}`, now)
    // People missing in a shortened list may still have their earlier reactions.
    const isWhole = listed >= counted
    const changed = [...new Set([...before.keys(), ...now.keys()])].flatMap((id) => {
      if (!isWhole && !now.has(id)) return []
      return changeOf(of, personById(id, view), before.get(id), now.get(id), view)
    })
    if (isWhole && chat.surface !== 'channel' && before.size + now.size > 0) return changed
    return [...changed, countOf(of, results)]
  }

  /** Stores the new reactions, and returns those of the last report. */
  #exchange(key: string, now: Opinions): Opinions {
    const known = this.#known.get(key)
    this.#known.set(key, now)
    return known ?? new Map([...now].filter(([, { at }]) => at < this.#since()))
  }
}

function changeOf(
  of: Target,
  person: Person,
  before: Opinion | undefined,
  after: Opinion | undefined,
  { self }: View,
): Happening[] {
  const [was, is] = [before?.reactions ?? [], after?.reactions ?? []]
  if (JSON.stringify(was) === JSON.stringify(is)) return []
  const at = after?.at ?? seconds()
  const key = after ? `${at}:${JSON.stringify(is)}` : crypto.randomUUID()
  return [
    {
      kind: 'reaction',
      sourceKey: `r:${of.chat.native}:${of.target}:${person.native}:${key}`,
      direction: person.native === self ? 'own' : 'incoming',
      at,
      ...of,
      person,
      before: was,
      after: is,
    },
  ]
}

function countOf(of: Target, results: readonly tl.TypeReactionCount[]): Happening {
  const counts = results.flatMap(({ reaction, count }) => {
    const known = reactionOf(reaction)
    return known ? [{ reaction: known, count }] : []
  })
  return {
    kind: 'reaction_count',
    // The network does not number these and never repeats them: each report is a new event.
    sourceKey: `r:${of.chat.native}:${of.target}:${crypto.randomUUID()}`,
    direction: 'incoming',
    at: seconds(),
    ...of,
    counts,
  }
}

/** Reactions of people; those of chats cannot be expressed in neutral terms. */
function opinionsIn(listed: readonly tl.TypeMessagePeerReaction[]): Opinions {
  const opinions = new Map<number, Opinion>()
  for (const { peerId, date, reaction } of listed) {
    const one = reactionOf(reaction)
    if (!one || peerId._ !== 'peerUser') continue
    const { reactions = [], at = 0 } = opinions.get(peerId.userId) ?? {}
    opinions.set(peerId.userId, { reactions: [...reactions, one], at: Math.max(at, date) })
  }
  return opinions
}

function reactionOf(reaction: tl.TypeReaction): Reaction | undefined {
  switch (reaction._) {
    case 'reactionEmoji':
      return { emoji: reaction.emoticon }
    case 'reactionCustomEmoji':
      return { customEmojiId: reaction.documentId.toString() }
    default:
      return undefined
  }
}

const seconds = () => Math.floor(Date.now() / 1000)
