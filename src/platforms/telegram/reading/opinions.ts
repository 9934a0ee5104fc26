/** Reactions to messages: the network reports the current ones, and changes are found by comparing with earlier reports. */
import { createHash } from 'node:crypto'
import type { tl } from '@mtcute/node'
import type { Chat, Reaction } from '../../../../machines/model/content.ts'
import type { Happening } from '../../../../machines/model/happening.ts'
import type { Person } from '../../../../machines/model/person.ts'
import { RecentMap, ReportNames } from '../../kit/recent-map.ts'
import { nativeOf } from '../natives.ts'
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
/** The stored time of a session may be some seconds ahead of what was told by then. */
const SLACK_SECONDS = 300

export class OpinionReader {
  readonly #known = new RecentMap<string, Opinions>(REMEMBERED)
  /** Where the account's own last act on a message counts. */
  readonly #acted = new RecentMap<string, number>(REMEMBERED)
  /** What edited messages contain, by its digest. */
  readonly #edited = new RecentMap<string, string>(REMEMBERED)
  readonly #counts = new ReportNames(REMEMBERED)
  readonly #since: () => number

  /** `since`: what happened earlier is not reported. Unix time in seconds. */
  constructor(since: () => number) {
    this.#since = since
  }

  /** `pts`: where the update counts, in a box whose updates are counted. */
  read(
    { peer, msgId, reactions }: tl.RawUpdateMessageReactions,
    view: View,
    pts = Number.POSITIVE_INFINITY,
  ): Happening[] {
    const chat = chatOf(peer, view)
    const of = { chat, target: `${msgId}` }
    const { results, recentReactions = [] } = reactions
    const told = opinionsIn(recentReactions)
    const counted = results.reduce((sum, { count }) => sum + count, 0)
    const listed = [...told.values()].reduce((sum, { reactions }) => sum + reactions.length, 0)
    const key = keyOf(peer, msgId)
    // An update from before an own act may come after its answer.
    const isOlder = pts < (this.#acted.get(key) ?? 0)
    const now = isOlder ? withOwn(told, this.#known.get(key), Number(view.self)) : told
    const before = this.#exchange(key, now)
    // People missing in a shortened list may still have their earlier reactions.
    const isWhole = listed >= counted
    const changed = [...new Set([...before.keys(), ...now.keys()])].flatMap((id) => {
      if (!isWhole && !now.has(id)) return []
      return changeOf(of, personById(id, view), before.get(id), now.get(id), view)
    })
    if (isWhole && chat.surface !== 'channel' && before.size + now.size > 0) return changed
    return [...changed, this.#countOf(of, results)]
  }

  #countOf(of: Target, results: readonly tl.TypeReactionCount[]): Happening {
    const counts = results.flatMap(({ reaction, count }) => {
      const known = reactionOf(reaction)
      return known ? [{ reaction: known, count }] : []
    })
    const name = this.#counts.of(`${of.chat.native}:${of.target}`, counts)
    return {
      kind: 'reaction_count',
      // The network does not number these.
      sourceKey: `r:${of.chat.native}:${of.target}:${name}`,
      direction: 'incoming',
      at: seconds(),
      ...of,
      counts,
    }
  }

  /** Those whose reactions an update about this message may tell of. */
  peopleAt(peer: tl.TypePeer, id: number, reactions?: tl.RawMessageReactions): tl.TypePeer[] {
    const known = [...(this.#known.get(keyOf(peer, id))?.keys() ?? [])]
    const before = known.map((userId) => ({ _: 'peerUser', userId }) as const)
    return [...before, ...(reactions?.recentReactions ?? []).map(({ peerId }) => peerId)]
  }

  /** In private chats and small groups the network tells of reactions as if the message had been edited. */
  readIn(message: tl.RawMessage, view: View, pts: number): Happening[] {
    const { peerId: peer, id: msgId, reactions = NONE } = message
    const known = this.#known.get(keyOf(peer, msgId))
    if (peer._ === 'peerChannel' || (reactions === NONE && !known?.size)) return []
    const changed = this.read({ _: 'updateMessageReactions', peer, msgId, reactions }, view, pts)
    return changed.filter(({ kind }) => kind === 'reaction')
  }

  /**
   * Remembers what the account itself has done: the network does not tell it again. What others have done meanwhile is
   * in the same answer, and the updates that tell it may still come.
   */
  noteIn(updates: readonly tl.TypeUpdate[], self: string): void {
    for (const update of updates) {
      if (update._ === 'updateMessageReactions') {
        this.#noteOwn(keyOf(update.peer, update.msgId), update.reactions, self)
      }
      const isEdit = update._ === 'updateEditMessage' || update._ === 'updateEditChannelMessage'
      if (!isEdit || update.message._ !== 'message') continue
      const { peerId, id, reactions, out } = update.message
      this.#noteOwn(keyOf(peerId, id), reactions, self)
      this.#acted.set(keyOf(peerId, id), update.pts)
      // In channels reactions do not come as edits: there it is the account that has edited.
      if (out || update._ === 'updateEditChannelMessage') this.newContent(update.message)
    }
  }

  #noteOwn(key: string, reactions: tl.RawMessageReactions = NONE, self: string): void {
    const now = opinionsIn(reactions.recentReactions)
    const known = this.#known.get(key) ?? this.#earlier(now)
    this.#known.set(key, withOwn(known, now, Number(self)))
  }

  /**
   * The digest of what an edited message contains, unless that is not new: a reaction to a message that was edited before
   * comes as one more edit. Where the content before is not known, an edit from before this session was told then.
   */
  newContent(message: tl.RawMessage): string | undefined {
    const { peerId, id, editDate = 0 } = message
    const key = keyOf(peerId, id)
    const [before, now] = [this.#edited.get(key), digestOf(message)]
    this.#edited.set(key, now)
    const isNew = before === undefined ? editDate >= this.#since() - SLACK_SECONDS : before !== now
    return isNew ? now : undefined
  }

  /** Stores the new reactions, and returns those of the last report. */
  #exchange(key: string, now: Opinions): Opinions {
    const known = this.#known.get(key)
    this.#known.set(key, now)
    return known ?? this.#earlier(now)
  }

  /** Those that are no news in this session. */
  #earlier(now: Opinions): Opinions {
    return new Map([...now].filter(([, { at }]) => at < this.#since()))
  }
}

const NONE: tl.RawMessageReactions = { _: 'messageReactions', results: [] }

const keyOf = (peer: tl.TypePeer, id: number) => `${nativeOf(peer)}:${id}`

/** These opinions, with what the account itself thinks taken from others. */
function withOwn(opinions: Opinions, source: Opinions | undefined, self: number): Opinions {
  const mixed = new Map(opinions)
  const own = source?.get(self)
  if (own) mixed.set(self, own)
  else mixed.delete(self)
  return mixed
}

/** Parts of a message that change without its author. */
const volatile = new Set(['fileReference', 'accessHash', 'results', 'webpage'])

function digestOf(edited: tl.RawMessage): string {
  const { message, entities, media, replyMarkup, invertMedia, richMessage } = edited
  const content = JSON.stringify(
    [
      message,
      entities ?? [],
      media,
      replyMarkup,
      invertMedia === true,
      richMessage,
      chosenIn(media),
    ],
    (name, value) => (volatile.has(name) ? undefined : value),
  )
  return createHash('sha256').update(content).digest('base64url').slice(0, 11)
}

/** The address of a preview that the author has chosen. The network makes one of its own of the text, and changes it. */
const chosenIn = (media: tl.TypeMessageMedia | undefined) =>
  media?._ === 'messageMediaWebPage' && media.manual && 'url' in media.webpage
    ? media.webpage.url
    : undefined

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

/** Reactions of people; those of chats cannot be expressed in neutral terms. */
function opinionsIn(listed: readonly tl.TypeMessagePeerReaction[] = []): Opinions {
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
