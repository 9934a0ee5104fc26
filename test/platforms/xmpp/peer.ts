/** What a slixmpp client's window would show: messages as they stand after corrections and retractions. */
import { contentName } from '../../../machines/model/content.ts'
import type { Seen, SlixmppClient } from '../../support/slixmpp.ts'
import type { Peer, Sight } from '../contract/harness.ts'
import type { Files } from './files.ts'
import { contentOf, shared, wordsOf } from './sharing.ts'

export function peerOf(client: SlixmppClient, account: string, files: Files): Peer {
  const chat = client.jid.split('/')[0]!
  return {
    chat,
    publicName: { name: chat, chat },
    async write(text, options) {
      const replyTo = options?.replyTo
      const handle = replyTo
        ? client.reply(account, replyTo.handle, text)
        : client.send(account, text)
      return { handle, text }
    },
    async edit(message, text) {
      client.correct(account, message.handle, text)
    },
    async delete(message) {
      client.retract(account, message.handle)
    },
    async reads(message) {
      client.confirm(account, message.handle, 'displayed')
    },
    async react(message, emoji) {
      client.react(account, message.handle, ...(emoji === undefined ? [] : [emoji]))
    },
    async seesReactions(message) {
      // What was sent to the client before this comes before it.
      const mark = client.state(client.jid, 'active')
      await client.sees(({ id }) => id === mark)
      const told = client.seen.findLast(({ reactions }) => reactions?.to === message.handle)
      return told?.reactions?.emojis ?? []
    },
    async sees(text, signal) {
      return sightOf(await client.sees((seen) => wordsOf(seen) === text, signal))
    },
    async send(content) {
      const { body, extras } = await shared(content, files)
      return { handle: client.send(account, body, ...extras), text: body }
    },
    async seesKind(kind, signal) {
      const isKind = (seen: Seen) => contentName(contentOf(seen)) === kind
      await client.sees(isKind, signal)
      return client.seen.filter(isKind).map(sightOf).toReversed()
    },
    async seesGone(message, signal) {
      await client.sees(({ retracts }) => retracts === message.handle, signal)
    },
    async seesTyping(signal) {
      const before = client.seen.length
      const isNew = (seen: Seen) => client.seen.indexOf(seen) >= before
      await client.sees((seen) => seen.state === 'composing' && isNew(seen), signal)
    },
    async count(text) {
      return shown(client.seen).filter((sight) => sight.text === text).length
    },
  }
}

function sightOf(seen: Seen): Sight {
  const replyTo = seen.replyTo !== null && { replyTo: seen.replyTo }
  return {
    handle: seen.replaces ?? seen.id,
    text: wordsOf(seen) ?? '',
    content: contentOf(seen),
    forwarded: seen.forwarded,
    ...replyTo,
    ...(seen.album !== null && { album: seen.album }),
  }
}

function shown(all: readonly Seen[]): readonly Sight[] {
  const sights: Sight[] = []
  for (const seen of all.filter(({ body }) => body !== null)) {
    const target = seen.replaces ?? seen.retracts
    const place = sights.findIndex(({ handle }) => handle === target)
    if (place < 0) sights.push(sightOf(seen))
    else sights.splice(place, 1, ...(seen.retracts ? [] : [sightOf(seen)]))
  }
  return sights
}
