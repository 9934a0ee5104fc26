/** What people of the test network think of messages, and how they vote in polls. */
import type { tl } from '@mtcute/core'
import type { Channel } from './channel.ts'
import type { Connection } from './connection.ts'
import { type Handlers, RpcRefusal } from './data-centre.ts'
import { isPlace, now } from './delivery.ts'
import { targetOf } from './lookup.ts'
import type { TelegramNetwork } from './network.ts'
import type { Opinion, Person } from './people.ts'

export function opinionHandlers(network: TelegramNetwork): Handlers {
  return {
    'messages.sendReaction': ({ peer, msgId, reaction = [] }, origin) => {
      const person = network.asker(origin)
      const place = targetOf(network, origin, peer)
      const box = isPlace(place) && place.kind === 'channel' ? place : person
      if (!box.messages.has(msgId)) throw new RpcRefusal(400, 'MESSAGE_ID_INVALID')
      const emoji = reaction.flatMap((one) => (one._ === 'reactionEmoji' ? one.emoticon : []))
      const since = person.events.length
      if (box === person) react(network, person, msgId, emoji, origin.connection)
      else reactIn(network, box as Channel, { person, id: msgId, emoji })
      const told = person.events.slice(since).map(({ update }) => update)
      return network.delivery.answer(person, told)
    },
    'messages.sendVote': ({ peer, msgId, options }, origin) => {
      const person = network.asker(origin)
      const place = targetOf(network, origin, peer)
      const box = isPlace(place) && place.kind === 'channel' ? place : person
      const message = box.messages.get(msgId)
      const media = message?._ === 'message' ? message.media : undefined
      if (media?._ !== 'messageMediaPoll') throw new RpcRefusal(400, 'MESSAGE_ID_INVALID')
      const isChosen = (answer: tl.TypePollAnswer) =>
        answer._ === 'pollAnswer' &&
        options.some((option) => Buffer.from(option).equals(answer.option))
      const option = media.poll.answers.findIndex(isChosen)
      if (option < 0 && options.length > 0) throw new RpcRefusal(400, 'OPTION_INVALID')
      vote(network, person, msgId, { option, isPlaced: true })
      return network.delivery.answer(person, [])
    },
    'messages.deleteParticipantReaction': ({ peer, msgId, participant }, origin) => {
      const place = targetOf(network, origin, peer)
      const other = targetOf(network, origin, participant)
      if (!isPlace(place) || place.kind !== 'channel') throw new RpcRefusal(400, 'PEER_ID_INVALID')
      if (isPlace(other)) throw new RpcRefusal(400, 'PARTICIPANT_ID_INVALID')
      if (!place.messages.has(msgId)) throw new RpcRefusal(400, 'MESSAGE_ID_INVALID')
      reactIn(network, place, { person: other, id: msgId, emoji: [] })
      return network.delivery.answer(network.asker(origin), [])
    },
    'messages.deleteParticipantReactions': ({ peer, participant }, origin) => {
      const place = targetOf(network, origin, peer)
      const other = targetOf(network, origin, participant)
      if (!isPlace(place) || place.kind !== 'channel') throw new RpcRefusal(400, 'PEER_ID_INVALID')
      if (isPlace(other)) throw new RpcRefusal(400, 'PARTICIPANT_ID_INVALID')
      for (const [id, opinions] of place.reactions) {
        if (opinions.has(other.id)) reactIn(network, place, { person: other, id, emoji: [] })
      }
      return true
    },
  }
}

interface Reacting {
  readonly person: Person
  readonly id: number
  readonly emoji: string[]
}

/** Somebody thinks this of a message in a supergroup; its members are told. */
export function reactIn(network: TelegramNetwork, place: Channel, { person, id, emoji }: Reacting) {
  const opinions = place.reactions.get(id) ?? new Map<number, Opinion>()
  opinions.delete(person.id)
  if (emoji.length > 0) opinions.set(person.id, { emoji, at: now() })
  place.reactions.set(id, opinions)
  for (const member of place.members) {
    const viewer = network.people.get(member)!
    network.delivery.tell(viewer, {
      _: 'updateMessageReactions',
      peer: { _: 'peerChannel', channelId: place.id },
      msgId: id,
      reactions: reactionsOf(opinions, viewer),
    })
  }
}

/**
 * Somebody thinks this of a message instead of what they thought before; everybody who has it is told as if it had been
 * edited. The network hides that where it was not.
 */
export function react(
  network: TelegramNetwork,
  person: Person,
  id: number,
  emoji: string[],
  except?: Connection,
) {
  for (const [owner, copy] of network.delivery.copiesOf(person, id)) {
    const opinions = owner.reactions.get(copy) ?? new Map<number, Opinion>()
    opinions.delete(person.id)
    if (emoji.length > 0) opinions.set(person.id, { emoji, at: now() })
    owner.reactions.set(copy, opinions)
    const message = owner.messages.get(copy)
    if (message?._ !== 'message') continue
    const { reactions: _, ...rest } = message
    const hidden = message.editDate === undefined && { editDate: now(), editHide: true }
    const reactions = opinions.size > 0 && { reactions: reactionsOf(opinions, owner) }
    const update = { _: 'updateEditMessage', pts: 0, ptsCount: 1 } as const
    const told = { ...update, message: { ...rest, ...hidden, ...reactions } }
    network.delivery.count(owner, told, except)
  }
}

function reactionsOf(
  opinions: ReadonlyMap<number, Opinion>,
  viewer: Person,
): tl.RawMessageReactions {
  const given = [...opinions].flatMap(([id, { emoji, at }]) =>
    emoji.map((one) => ({ id, at, one })),
  )
  const counted = Map.groupBy(given, ({ one }) => one)
  const recentReactions = given.map(
    ({ id, at: date, one }): tl.RawMessagePeerReaction => ({
      _: 'messagePeerReaction',
      peerId: { _: 'peerUser', userId: id },
      date,
      reaction: { _: 'reactionEmoji', emoticon: one },
      ...(id === viewer.id && { my: true }),
    }),
  )
  return {
    _: 'messageReactions',
    results: [...counted].map(([emoticon, { length: count }]) => ({
      _: 'reactionCount',
      reaction: { _: 'reactionEmoji', emoticon },
      count,
    })),
    ...(given.length > 0 && { canSeeList: true, recentReactions }),
  }
}

/** Somebody votes; everybody who has the poll is told how it stands, and not what it asks. */
export function vote(
  network: TelegramNetwork,
  person: Person,
  id: number,
  { option, isPlaced }: { readonly option: number; readonly isPlaced: boolean },
) {
  for (const [owner, copy] of network.delivery.copiesOf(person, id)) {
    const message = owner.messages.get(copy)
    if (message?._ !== 'message' || message.media?._ !== 'messageMediaPoll') continue
    const { media } = message
    const results: tl.RawPollResults = {
      _: 'pollResults',
      totalVoters: 1,
      results: media.poll.answers.flatMap((answer, place) =>
        answer._ === 'pollAnswer'
          ? {
              _: 'pollAnswerVoters' as const,
              option: answer.option,
              voters: place === option ? 1 : 0,
              recentVoters: [],
            }
          : [],
      ),
    }
    owner.messages.set(copy, { ...message, media: { ...media, results } })
    network.delivery.tell(owner, {
      _: 'updateMessagePoll',
      ...(isPlaced && { peer: message.peerId, msgId: copy }),
      pollId: media.poll.id,
      results,
    })
  }
}
