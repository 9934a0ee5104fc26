/** The harness of a network of texts that runs over `LoopbackNetwork`: only its platform and its fields are its own. */
import type { Test } from 'tap'
import type { Platform } from '../../../actors/ports/platform.ts'
import { Relay } from '../../support/relay.ts'
import type { Account, ContractHarness, Peer, Sight } from '../contract/harness.ts'
import type { Letter, LoopbackNetwork, Person } from './network.ts'

export interface LoopbackOptions {
  platform(): Platform
  readonly method: string
  /** The fields of a link; `url` leads to the network by the account's own line. */
  fields(token: string, url: string): Readonly<Record<string, string>>
  /** Abilities that this protocol does not have, each with its reason. */
  readonly absent?: ContractHarness['absent']
}

const oneStep = 'a token links in one step'
const textsOnly = 'the network carries texts in private chats only'

export function loopbackHarness(
  t: Pick<Test, 'teardown'>,
  network: LoopbackNetwork,
  options: LoopbackOptions,
): ContractHarness {
  const lines = new Map<number, Relay>()
  return {
    platform: options.platform(),
    restarted: () => options.platform(),
    unknownChat: '999999',
    absent: {
      code: oneStep,
      secondFactor: oneStep,
      expiry: oneStep,
      signOut: 'a token is not signed out',
      replace: 'a token serves any number of sessions',
      forbiddenChat: textsOnly,
      publicName: textsOnly,
      peerContent: textsOnly,
      peerOpinions: textsOnly,
      peerVotes: textsOnly,
      peerDrafts: textsOnly,
      emptyFiles: textsOnly,
      group: textsOnly,
      forum: textsOnly,
      stickerSet: textsOnly,
      ...options.absent,
    },
    async account() {
      const relay = await Relay.start(() => network.port)
      t.teardown(() => relay.stop())
      const person = network.person()
      lines.set(person.id, relay)
      return accountOf(network, person, relay, options)
    },
    peer: async ({ native }) => peerOf(network, network.person('Friend'), Number(native)),
    async restartNetwork() {
      for (const line of lines.values()) {
        line.block()
        line.cut()
      }
      await new Promise((resolve) => setTimeout(resolve, 300))
      for (const line of lines.values()) line.unblock()
    },
  }
}

function accountOf(
  network: LoopbackNetwork,
  person: Person,
  relay: Relay,
  { method, fields }: LoopbackOptions,
): Account {
  const url = `http://127.0.0.1:${relay.port}`
  return {
    native: `${person.id}`,
    method,
    fields: fields(person.token, url),
    wrongFields: fields(`${person.id}:${crypto.randomUUID()}`, url),
    async writeElsewhere({ chat }, text) {
      network.send(person, Number(chat), text)
    },
    cut: async () => relay.cut(),
    silence: async () => network.fault(person, { isSilent: true }),
    unsilence: async () => network.fault(person, { isSilent: false }),
    revoke: async () => network.fault(person, { isRevoked: true }),
    ban: async () => network.fault(person, { isBanned: true }),
    limit: async (seconds) => network.fault(person, { limitedUntil: Date.now() / 1000 + seconds }),
    repeat: async () => network.fault(person, { repeats: true }),
    loseAnswer: async () => network.fault(person, { lostAnswers: 1 }),
  }
}

function peerOf(network: LoopbackNetwork, friend: Person, account: number): Peer {
  const shown = () =>
    network.letters.filter(
      ({ from, to }) =>
        (from.id === friend.id && to.id === account) ||
        (from.id === account && to.id === friend.id),
    )
  const until = async <Found>(find: () => Found | undefined, signal: AbortSignal) => {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      signal.throwIfAborted()
      await network.change(signal)
    }
  }
  const find = (wanted: string) => shown().find(({ text }) => text === wanted)
  return {
    chat: `${friend.id}`,
    async write(text, { replyTo } = {}) {
      const answered = replyTo && { replyTo: Number(replyTo.handle) }
      return sightOf(network.send(friend, account, text, answered))
    },
    async edit({ handle }, text) {
      network.edit(Number(handle), text)
    },
    delete: async ({ handle }) => network.delete(Number(handle)),
    sees: async (text, signal) => sightOf(await until(() => find(text), signal)),
    async seesGone({ handle }, signal) {
      await until(() => (shown().some(({ id }) => `${id}` === handle) ? undefined : true), signal)
    },
    async seesTyping(signal) {
      await until(() => network.hasTyped(account, friend.id) || undefined, signal)
    },
    count: async (wanted) => shown().filter(({ text }) => text === wanted).length,
  }
}

const sightOf = ({ id, text, replyTo }: Letter): Sight => ({
  handle: `${id}`,
  text,
  ...(replyTo !== undefined && { replyTo: `${replyTo}` }),
})
