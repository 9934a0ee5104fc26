/** Ids that servers and clients use for more than one message, on the servers themselves. */
import t from 'tap'
import type { Message } from '../../machines/model/content.ts'
import type { Seen } from '../support/slixmpp.ts'
import { xmppServers } from '../support/xmpp-servers.ts'
import type { Store } from './contract/recorder.ts'
import { Network } from './xmpp/network.ts'
import { scene } from './xmpp/scene.ts'

t.setTimeout(400_000)

const ids = ['1', '2', '3', '1', '2', '3', '1', '2', '3']

for (const { name, skip, start } of xmppServers) {
  t.test(`two people write at the same time on ${name}`, { skip, timeout: 200_000 }, async (t) => {
    const network = Network.over(t, await start({ quickArchive: true }))
    const { account, friend, store, first, open } = await scene(t, network)
    const other = await network.friend()
    const count = 500
    const missed = 45
    for (const writer of [friend, other]) writer.flood(account.jid, count)
    await store.until(() => (messagesOf(store).length > 2 * count ? true : undefined), slowly())
    const seen = messagesOf(store).map(textOf)
    t.equal(new Set(seen).size, seen.length, 'each once')
    t.equal(seen.length, 2 * count + 1)
    await first.stop()
    const reader = await network.device(account)
    for (const writer of [friend, other]) writer.flood(account.jid, missed)
    const isLast = ({ from, body }: Seen) => from === other.jid && body === `number ${missed - 1}`
    await reader.sees(isLast, slowly())
    await open()
    const all = 2 * (count + missed) + 1
    await store.until(() => (messagesOf(store).length >= all ? true : undefined), slowly())
    t.equal(messagesOf(store).length, all, 'and those that were missed')
    t.equal(new Set(messagesOf(store).map(({ native }) => native)).size, all)
  })

  for (const withoutArchive of [false, true]) {
    const kind = withoutArchive ? `${name} without an archive` : name
    t.test(`clients begin to count again on ${kind}`, { skip }, async (t) => {
      const network = Network.over(t, await start({ withoutArchive }))
      const { account, friend, chat, store } = await scene(t, network)
      const phone = await network.device(account)
      for (const [index, id] of ids.entries()) {
        friend.sendNamed(account.jid, id, 'yes')
        await store.until(() => (messagesOf(store).length >= index + 2 ? true : undefined))
      }
      for (const [index, id] of ids.entries()) {
        phone.sendNamed(chat, id, 'no')
        await store.until(() => (messagesOf(store).length >= index + 11 ? true : undefined))
      }
      const all = messagesOf(store)
      t.equal(all.length, 1 + 2 * ids.length)
      t.equal(new Set(all.map(({ native }) => native)).size, all.length, 'each has its own id')
      friend.correct(account.jid, '2', 'well, no')
      const edited = await store.message('well, no', 'edited')
      const newest = all.filter(({ content }) => 'text' in content && content.text === 'yes').at(7)
      t.match(edited, { message: { native: newest?.native } }, 'the newest of this id')
      friend.reply(account.jid, '3', 'to the third')
      const answer = await store.message('to the third')
      t.match(answer, { message: { replyTo: { native: all.at(-1)?.native } } })
    })
  }
}

const slowly = () => AbortSignal.timeout(90_000)

const messagesOf = (store: Store): Message[] =>
  store.happenings.flatMap((happening) => (happening.kind === 'message' ? happening.message : []))

const textOf = ({ from, content }: Message) => `${from?.native} ${JSON.stringify(content)}`
