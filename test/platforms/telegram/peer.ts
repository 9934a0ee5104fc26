/** Somebody else on the test network, seen through their own box of messages. */
import { PeersIndex, type tl } from '@mtcute/core'
import { contentName } from '../../../machines/model/content.ts'
import { contentOf } from '../../../src/platforms/telegram/reading/content.ts'
import { read } from '../../support/telegram-dc/dialogs.ts'
import { follow } from '../../support/telegram-dc/invites.ts'
import { react, reactIn } from '../../support/telegram-dc/opinions.ts'
import type { Person } from '../../support/telegram-dc/people.ts'
import type { Peer, Sight } from '../contract/harness.ts'
import type { Stage } from './stage.ts'

export function peerOf(stage: Stage, person: Person, account: Person): Peer {
  const { network } = stage
  const { delivery } = network
  const view = { self: `${person.id}`, peers: new PeersIndex() }
  const sights = (): Sight[] =>
    [...person.messages.values()].flatMap((message) => {
      if (message._ !== 'message') return []
      const { replyTo, fwdFrom, groupedId } = message
      const answered = replyTo?._ === 'messageReplyHeader' ? replyTo.replyToMsgId : undefined
      return {
        handle: `${message.id}`,
        text: message.message,
        ...(answered !== undefined && { replyTo: `${answered}` }),
        ...(fwdFrom && { forwarded: true }),
        ...(message.media && { content: contentOf(message, shownIn(message), view) }),
        ...(groupedId && { album: groupedId.toString() }),
      }
    })
  const until = <Value>(find: () => Value | undefined, signal: AbortSignal) =>
    network.until(find, signal)

  return {
    chat: `${person.id}`,
    phone: `+${person.phone}`,
    publicName: { name: person.username, chat: `${person.id}` },
    async write(text, options) {
      const replyTo = options?.replyTo && {
        replyTo: {
          _: 'messageReplyHeader' as const,
          replyToMsgId: Number(options.replyTo.handle),
        },
      }
      const id = delivery.send(person, account, { message: text, ...replyTo })
      return { handle: `${id}`, text }
    },
    async send(content) {
      const { text, media } = stage.outgoing(content)
      const id = delivery.send(person, account, { message: text, media })
      return { handle: `${id}`, text }
    },
    seesKind: (kind, signal) =>
      until(() => {
        const found = sights().filter(({ content }) => content && contentName(content) === kind)
        return found.length > 0 ? found.reverse() : undefined
      }, signal),
    async look({ handle }) {
      return sights().find((sight) => sight.handle === handle)!
    },
    react: async ({ handle }, emoji) =>
      react(network, person, Number(handle), emoji ? [emoji] : []),
    async reactIn(chat, message, emoji) {
      const place = network.places.get(-1_000_000_000_000 - Number(chat))
      if (place?.kind !== 'channel') throw new Error('there is no such supergroup')
      reactIn(network, place, { person, id: Number(message), emoji: [emoji] })
    },
    seesStories: async () =>
      [...account.stories.values()].map(({ caption = '' }) => caption).reverse(),
    async seesReactions({ handle }) {
      const opinions = person.reactions.get(Number(handle))?.values() ?? []
      return [...opinions].flatMap(({ emoji }) => emoji)
    },
    follow: async (link) => follow(network, person, link),
    async edit({ handle }, text) {
      delivery.edit(person, Number(handle), { message: text })
    },
    async reads({ handle }) {
      read(network, person, account, { maxId: Number(handle) })
    },
    async delete({ handle }) {
      delivery.delete(person, [Number(handle)])
    },
    sees: (text, signal) => until(() => sights().findLast((sight) => sight.text === text), signal),
    async seesGone({ handle }, signal) {
      await until(() => (sights().some((sight) => sight.handle === handle) ? undefined : 1), signal)
    },
    async seesTyping(signal) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const notice = (event: Event) => {
        const [from, to] = (event as CustomEvent<[number, number]>).detail
        if (from === account.id && to === person.id) resolve()
      }
      network.changes.addEventListener('typing', notice)
      signal.addEventListener('abort', () => resolve(), { once: true })
      await promise.finally(() => network.changes.removeEventListener('typing', notice))
      signal.throwIfAborted()
    },
    count: async (text) => sights().filter((sight) => sight.text === text).length,
  }
}

const shownIn = ({ id }: tl.RawMessage) => ({ of: 'message', chat: '1', message: id }) as const
