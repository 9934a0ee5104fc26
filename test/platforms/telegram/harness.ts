/** Telegram as the contract suite drives it. */

import { randomBytes } from 'node:crypto'
import { failed } from '../../../machines/model/failure.ts'
import { type Channel, nativeOfPlace } from '../../support/telegram-dc/channel.ts'
import type { Person } from '../../support/telegram-dc/people.ts'
import { replyHeader } from '../../support/telegram-dc/topics.ts'
import type { Account, ContractHarness } from '../contract/harness.ts'
import { peerOf } from './peer.ts'
import type { Stage } from './stage.ts'

/** Longer than the session tries to reconnect by itself: the contract wants a loss to be seen. */
const LONG_OUTAGE_MS = 1_800

export function telegramHarness(stage: Stage): ContractHarness {
  const { network } = stage
  const options = { resumeMilliseconds: 1_500, answerMilliseconds: 2_000 }
  return {
    platform: stage.platform(options),
    restarted: () => stage.platform(options),
    elsewhere: () => stage.platform({ ...options, application: { id: 54_321, hash: 'another' } }),
    unknownChat: '987654',
    absent: {
      replace: 'the network ends a session that is used twice: that is a sign-out',
      limit: 'the network tells of a flood wait only in answer to a request',
      peerVotes: 'people are told how a poll stands, and only bots who voted',
      emptyFiles: 'the network refuses files without content',
      stickerSet: 'a message names the set of its sticker by a number alone',
      repeat: 'events are numbered: the library drops what it has seen',
    },
    async account({ secondFactor } = {}) {
      const person = network.person({ ...secondFactor })
      return contractAccount(stage, person, network.channel(network.person(), [person]))
    },
    async peer({ native }) {
      const account = network.people.get(Number(native))!
      const friend = network.person()
      return peerOf(stage, friend, account)
    },
    file: async (kind, bytes = randomBytes(5_000)) => stage.file(kind, bytes),
    async group({ native }, { chat }) {
      const [owner, member] = [native, chat].map((id) => network.people.get(Number(id))!)
      const group = network.channel(owner!, [member!], false)
      network.delivery.send(member!, group, { message: 'hello' })
      return nativeOfPlace(group)
    },
    async forum({ native }, { chat }) {
      const [owner, member] = [native, chat].map((id) => network.people.get(Number(id))!)
      const forum = network.channel(owner!, [member!], false)
      forum.isForum = true
      network.delivery.send(member!, forum, { message: 'hello' })
      const write = async (text: string, topic: string) => {
        const replyTo = { _: 'inputReplyToMessage', replyToMsgId: Number(topic) } as const
        const place = { ...replyTo, topMsgId: Number(topic) }
        try {
          const header = replyHeader(member!, forum, place)
          network.delivery.send(member!, forum, { message: text, replyTo: header })
        } catch (cause) {
          throw failed('bad_request', (cause as Error).message)
        }
      }
      return { chat: nativeOfPlace(forum), write }
    },
    restartNetwork: () => network.restart(LONG_OUTAGE_MS),
  }
}

/** Whoever was put out of a channel may not write there. */
function contractAccount({ network }: Stage, person: Person, closed: Channel): Account {
  return {
    native: `${person.id}`,
    method: 'phone',
    fields: { phone: `+${person.phone}` },
    wrongFields: { phone: 'no number' },
    code: async () => person.code,
    async expireCode() {
      person.isCodeOld = true
    },
    async writeElsewhere(peer, text) {
      const friend = network.people.get(Number(peer.chat))!
      network.delivery.send(person, friend, { message: text })
    },
    async forbiddenChat() {
      closed.members.delete(person.id)
      return nativeOfPlace(closed)
    },
    cut: async () => network.cut(person, LONG_OUTAGE_MS),
    async silence() {
      for (const connection of network.connectionsOf(person)) connection.silent = true
    },
    async unsilence() {
      for (const connection of network.connectionsOf(person)) connection.silent = false
    },
    revoke: async () => network.revoke(person),
    async ban() {
      person.isBanned = true
      for (const connection of network.connectionsOf(person)) connection.cut()
    },
    async loseAnswer() {
      person.lostAnswers = 1
    },
  }
}
