/** Puts messages and what becomes of them into the boxes of those who are to see them, and tells their clients. */
import type { tl } from '@mtcute/core'
import { asSeenBy, type Channel, type Place } from './channel.ts'
import { clock } from './clock.ts'
import type { Connection } from './connection.ts'
import type { TelegramNetwork } from './network.ts'
import { type Person, userOf } from './people.ts'

export type Stored = tl.RawMessage | tl.RawMessageService
export type Target = Person | Place
export type Draft = Omit<
  tl.RawMessage,
  '_' | 'id' | 'peerId' | 'fromId' | 'date' | 'out' | 'post'
> & {
  /** In groups: the channel that its writer speaks for, or the group itself. */
  readonly as?: tl.TypePeer
}

/** One message, as each of those who have it calls it. */
type Copies = Map<number, number>

export const now = () => Math.floor(clock.now() / 1000)
export const isPlace = (target: Target): target is Place => 'kind' in target

export class Delivery {
  readonly #network: TelegramNetwork
  readonly #copies = new Map<string, Copies>()
  /** Who wrote messages of channels, by what they call themselves there. */
  readonly #writers = new Map<string, number>()

  constructor(network: TelegramNetwork) {
    this.#network = network
  }

  /** The id under which the sender has it. `except` gets the news as its answer instead. */
  send(sender: Person, target: Target, draft: Draft, except?: Connection): number {
    if (isPlace(target) && target.kind === 'channel') {
      const id = target.nextMessage++
      const { as: fromId = peerOfPerson(sender.id), ...written } = draft
      const message: tl.RawMessage = {
        _: 'message',
        ...written,
        id,
        peerId: { _: 'peerChannel', channelId: target.id },
        ...(target.isBroadcast ? { post: true } : { fromId }),
        date: now(),
      }
      this.#writers.set(`${target.id}:${id}`, sender.id)
      this.#intoChannel(target, { _: 'updateNewChannelMessage', message, pts: 0, ptsCount: 1 }, 1, {
        except,
        sender,
      })
      return id
    }
    const owners = isPlace(target) ? this.#membersOf(target) : [...new Set([sender, target])]
    const copies: Copies = new Map(owners.map((owner) => [owner.id, owner.nextMessage++]))
    for (const [owner, id] of copies) this.#copies.set(`${owner}:${id}`, copies)
    for (const owner of owners) {
      const message: tl.RawMessage = {
        _: 'message',
        ...draft,
        ...this.#replyFor(sender, owner, draft),
        id: copies.get(owner.id) ?? 0,
        ...(owner === sender && { out: true }),
        fromId: peerOfPerson(sender.id),
        peerId: isPlace(target)
          ? { _: 'peerChat', chatId: target.id }
          : peerOfPerson(owner === sender ? target.id : sender.id),
        date: now(),
      }
      this.#into(owner, { _: 'updateNewMessage', message, pts: 0, ptsCount: 1 }, 1, except)
    }
    return copies.get(sender.id) ?? 0
  }

  edit(owner: Person | Channel, id: number, change: Partial<tl.RawMessage>, except?: Connection) {
    const edited = (message: Stored) => {
      const { editHide: _, ...before } = message as tl.RawMessage
      return { ...before, ...change, editDate: now() }
    }
    if ('kind' in owner) {
      const message = edited(owner.messages.get(id)!)
      const update = { _: 'updateEditChannelMessage', message, pts: 0, ptsCount: 1 } as const
      return this.#intoChannel(owner, update, 1, { except })
    }
    for (const [person, copy] of this.copiesOf(owner, id)) {
      const message = edited(person.messages.get(copy)!)
      this.#into(person, { _: 'updateEditMessage', message, pts: 0, ptsCount: 1 }, 1, except)
    }
  }

  delete(owner: Person | Channel, ids: readonly number[], except?: Connection) {
    if ('kind' in owner) {
      for (const id of ids) owner.messages.delete(id)
      const update = {
        _: 'updateDeleteChannelMessages',
        channelId: owner.id,
        messages: [...ids],
        pts: 0,
        ptsCount: ids.length,
      } satisfies tl.TypeUpdate
      return this.#intoChannel(owner, update, ids.length, { except })
    }
    const gone = new Map<Person, number[]>()
    for (const id of ids) {
      for (const [person, copy] of this.copiesOf(owner, id)) {
        person.messages.delete(copy)
        gone.set(person, [...(gone.get(person) ?? []), copy])
      }
    }
    for (const [person, messages] of gone) {
      const update = { _: 'updateDeleteMessages', messages, pts: 0, ptsCount: 0 } as const
      this.#into(person, update, messages.length, except)
    }
  }

  /** The network tells a group or channel what somebody did there. */
  announce(
    actor: Person,
    place: Place,
    action: tl.TypeMessageAction,
    {
      except,
      ...more
    }: { except?: Connection } & Partial<
      Pick<tl.RawMessageService, 'replyTo' | 'savedPeerId'>
    > = {},
  ) {
    const said = {
      _: 'messageService' as const,
      action,
      ...more,
      fromId: peerOfPerson(actor.id),
      date: now(),
    }
    if (place.kind === 'channel') {
      const peerId = { _: 'peerChannel', channelId: place.id } as const
      const message: tl.RawMessageService = { ...said, id: place.nextMessage++, peerId }
      const update = { _: 'updateNewChannelMessage', message, pts: 0, ptsCount: 1 } as const
      return this.#intoChannel(place, update, 1, { except, sender: actor })
    }
    for (const owner of this.#membersOf(place)) {
      const peerId = { _: 'peerChat', chatId: place.id } as const
      const out = owner === actor && { out: true }
      const message: tl.RawMessageService = { ...said, ...out, id: owner.nextMessage++, peerId }
      this.#into(owner, { _: 'updateNewMessage', message, pts: 0, ptsCount: 1 }, 1, except)
    }
  }

  /** What somebody's request has changed, told as its answer. */
  answer(person: Person, updates: tl.TypeUpdate[]): tl.RawUpdates {
    return { _: 'updates', updates, ...this.along(person), date: now(), seq: 0 }
  }

  /** Something has changed in what somebody is in a channel: who looks sees it. */
  tellStanding(person: Person, channel: Channel) {
    const update = { _: 'updateChannel', channelId: channel.id } as const
    const chats = [asSeenBy(channel, person.id)]
    this.#push(person, update, { chats })
  }

  /** Something that is not numbered: typing, reactions. */
  tell(person: Person, update: tl.TypeUpdate) {
    this.#push(person, update)
  }

  /** Something that is numbered and no message: how far somebody has read. */
  count(person: Person, update: tl.TypeUpdate, except?: Connection) {
    this.#into(person, update, 1, except)
  }

  /** A message of a channel is marked only for its writer. */
  asSeenBy({ id }: Person, message: Stored): Stored {
    const { peerId } = message
    if (peerId._ !== 'peerChannel') return message
    const isOwn = this.#writers.get(`${peerId.channelId}:${message.id}`) === id
    return isOwn ? { ...message, out: true } : message
  }

  toldTo(person: Person, update: tl.TypeUpdate): tl.TypeUpdate {
    if (update._ !== 'updateNewChannelMessage' && update._ !== 'updateEditChannelMessage') {
      return update
    }
    if (update.message._ === 'messageEmpty') return update
    return { ...update, message: this.asSeenBy(person, update.message) }
  }

  copiesOf(owner: Person, id: number): [Person, number][] {
    const copies = this.#copies.get(`${owner.id}:${id}`) ?? new Map<number, number>()
    return [...copies].map(([person, copy]) => [this.#network.people.get(person)!, copy])
  }

  /** Everybody and everything that an update may speak of. */
  along(viewer: Person) {
    const people = this.#network.isCrowd ? [viewer] : [...this.#network.people.values()]
    const places = [...this.#network.places.values()]
    return {
      users: people.map((person) => userOf(person, viewer)),
      chats: places
        .filter(({ members }) => members.has(viewer.id))
        .map((place) => asSeenBy(place, viewer.id)),
    }
  }

  #into(owner: Person, update: tl.TypeUpdate, count: number, except?: Connection) {
    owner.pts += count
    const numbered = { ...update, pts: owner.pts, ptsCount: count } as tl.TypeUpdate
    owner.events.push({ pts: owner.pts, update: numbered })
    if ('message' in numbered && typeof numbered.message === 'object') {
      const message = numbered.message as Stored
      owner.messages.set(message.id, message)
    }
    this.#push(owner, numbered, { except })
  }

  #intoChannel(
    channel: Channel,
    update: tl.TypeUpdate,
    count: number,
    { except, sender }: { except?: Connection | undefined; sender?: Person } = {},
  ) {
    channel.pts += count
    channel.changedAt = now()
    const numbered = { ...update, pts: channel.pts, ptsCount: count } as tl.TypeUpdate
    channel.events.push({ pts: channel.pts, update: numbered })
    if ('message' in numbered && typeof numbered.message === 'object') {
      const message = numbered.message as tl.RawMessage
      channel.messages.set(message.id, message)
    }
    for (const member of this.#membersOf(channel)) {
      const own = member === sender ? outgoing(numbered) : this.toldTo(member, numbered)
      this.#push(member, own, { except })
    }
  }

  #push(
    person: Person,
    update: tl.TypeUpdate,
    { except, chats }: { except?: Connection | undefined; chats?: tl.TypeChat[] } = {},
  ) {
    this.#network.changes.dispatchEvent(new Event('change'))
    if (person.isHushed) return
    const short = this.#network.habits.shortens && !chats ? shortOf(update) : undefined
    const news = short ?? { ...this.answer(person, [update]), ...(chats && { chats }) }
    for (const connection of this.#network.connectionsOf(person)) {
      if (connection !== except && connection.wantsUpdates) connection.notify(news)
    }
  }

  #membersOf({ members }: Place): Person[] {
    return [...members].map((id) => this.#network.people.get(id)!)
  }

  #replyFor(sender: Person, owner: Person, { replyTo }: Draft) {
    if (replyTo?._ !== 'messageReplyHeader' || owner === sender) return {}
    const copies = this.copiesOf(sender, replyTo.replyToMsgId ?? 0)
    const [, replyToMsgId] = copies.find(([person]) => person === owner) ?? []
    return replyToMsgId === undefined ? {} : { replyTo: { ...replyTo, replyToMsgId } }
  }
}

export const peerOfPerson = (userId: number): tl.RawPeerUser => ({ _: 'peerUser', userId })

/** The shortest form of news, if there is one: of texts among people, and of what is not numbered. */
function shortOf(update: tl.TypeUpdate): tl.TypeUpdates | undefined {
  if (!('pts' in update)) return { _: 'updateShort', update, date: now() }
  if (update._ !== 'updateNewMessage' || update.message._ !== 'message') return undefined
  const { media, groupedId, effect, peerId, fromId, ...message } = update.message
  const isPlain = !media && !groupedId && !effect && fromId?._ === 'peerUser'
  if (!isPlain) return undefined
  const facts = { ...message, pts: update.pts, ptsCount: update.ptsCount }
  if (peerId._ === 'peerUser') return { ...facts, _: 'updateShortMessage', userId: peerId.userId }
  if (peerId._ !== 'peerChat') return undefined
  const { userId } = fromId
  return { ...facts, _: 'updateShortChatMessage', fromId: userId, chatId: peerId.chatId }
}

function outgoing(update: tl.TypeUpdate): tl.TypeUpdate {
  if (update._ !== 'updateNewChannelMessage') return update
  return { ...update, message: { ...update.message, out: true } as tl.RawMessage }
}
